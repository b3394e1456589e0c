//===- Kernel.h - the objects behind fa_kernel and fa_run -------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_CAPI_KERNEL_H
#define FA_LIB_CAPI_KERNEL_H

#include "Failure.h"

#include "fa/Runner/Program.h"
#include "fa/Runner/Runner.h"
#include "fa/Runtime/Device.h"

#include <map>
#include <mutex>

namespace facapi {

/// An entry in the forms that C reads, pointers into the program.
struct EntryView {
  explicit EntryView(const farun::Entry &entry);

  const farun::Entry *entry;
  /// By operand: the roles as text, the dimensions' names.
  std::vector<std::string> roles;
  std::vector<std::vector<const char *>> dims;
  /// The names of inputs and of results, in the order of a launch.
  std::vector<std::string> inputNames, resultNames;
};

/// A program that does not change any more, and the devices that have run it:
/// a device that keeps its decoded PTX is taken again.
class KernelObject : public Object {
public:
  KernelObject(farun::Program program, std::vector<std::string> warnings);

  const farun::Program program;
  const std::vector<std::string> warnings;
  const std::string manifestJson;
  std::vector<EntryView> entries;

  /// The entry of a launch; by name, or the only one.
  Outcome findEntry(const char *name, const EntryView *&view) const;

  /// A device that has run the program, or null. `optionText` is what was asked
  /// for, so that like finds like.
  std::unique_ptr<farun::Device>
  takeDevice(const std::string &name, const std::string &optionText) const;
  void giveDevice(const std::string &name, const std::string &optionText,
                  std::unique_ptr<farun::Device> device) const;

private:
  mutable std::mutex lock; ///< of the idle devices
  mutable std::multimap<std::string, std::unique_ptr<farun::Device>> idle;
};

/// What a launch came to; text is made of it when it is asked for.
class RunObject : public Object {
public:
  explicit RunObject(farun::RunResult result) : result(std::move(result)) {}

  const farun::RunResult result;

  const std::string &report() const;
  const std::string &counters() const;

private:
  mutable std::once_flag reportOnce, countersOnce;
  mutable std::string reportText, countersText;
};

void toComparison(const farun::Comparison &from, fa_comparison &to);

} // namespace facapi

#endif // FA_LIB_CAPI_KERNEL_H
