//===- Module.h - a PTX file, parsed ----------------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Module is one PTX file. Parsing checks the shape of the whole file and
// keeps the text of every function; the body of an entry is parsed and decoded
// when it is first launched, so that a file of many megabytes costs only the
// entries that run.
//
//===----------------------------------------------------------------------===//
#ifndef FA_EMULATOR_MODULE_H
#define FA_EMULATOR_MODULE_H

#include "fa/Emulator/Diagnostic.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ptxvm {

/// One `.param` of an entry.
struct KernelParameter {
  std::string name;
  /// The PTX type without the dot, "u64", "b8", ...
  std::string type;
  /// Bytes; an array parameter (a struct passed by value) counts whole.
  uint32_t size = 0;
  uint32_t alignment = 0;
  /// Offset in the parameter space, by the natural alignment of each.
  uint32_t offset = 0;
  bool isArray = false;
  /// Marked `.ptr`.
  bool isPointer = false;
};

/// What a launch has to know of an entry, from its signature alone.
struct KernelSignature {
  std::string name;
  SourceLocation location;
  std::vector<KernelParameter> parameters;
  /// Bytes of the whole parameter space.
  uint32_t parameterBytes = 0;
  std::optional<Dim3> requiredThreads; ///< `.reqntid`
  std::optional<Dim3> maximumThreads;  ///< `.maxntid`
  std::optional<Dim3> requiredCluster; ///< `.reqnctapercluster`
  bool isExplicitCluster = false;      ///< `.explicitcluster`
  uint32_t maximumRegisters = 0;       ///< `.maxnreg`; 0 = not given
};

class ModuleImpl;

/// A parsed PTX file; a cheap handle, copies share the program.
class Module {
public:
  /// Parses `text`. `filename` is only used in messages.
  static Expected<Module> parse(std::string text, std::string filename);
  /// Reads a file and parses it.
  static Expected<Module> parseFile(const std::string &path);

  const std::string &filename() const;
  /// The word after `.target`, as "sm_80" or "sm_90a".
  const std::string &target() const;
  /// The names of the entries, in the order of the file.
  std::vector<std::string> kernels() const;
  /// The signature of an entry, or null when there is no such entry.
  const KernelSignature *findKernel(const std::string &name) const;
  /// Parses and decodes an entry now instead of at its first launch; so that
  /// an opcode that is not supported is known before anything runs.
  std::optional<Diagnostic> prepare(const std::string &kernel) const;

  ModuleImpl &impl() const { return *implementation; }

private:
  explicit Module(std::shared_ptr<ModuleImpl> impl)
      : implementation(std::move(impl)) {}
  std::shared_ptr<ModuleImpl> implementation;
};

} // namespace ptxvm

#endif // FA_EMULATOR_MODULE_H
