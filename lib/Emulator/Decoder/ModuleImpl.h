//===- ModuleImpl.h - a module behind its handle ----------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The text, its syntax and the entries decoded so far.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_DECODER_MODULEIMPL_H
#define FA_LIB_EMULATOR_DECODER_MODULEIMPL_H

#include "../Memory/GlobalMemory.h"
#include "../Parser/AST.h"
#include "Code.h"

#include <map>
#include <mutex>
#include <unordered_map>

namespace ptxvm {

class ModuleImpl {
public:
  std::string text, filename, target;
  ast::File file;
  std::vector<KernelSignature> signatures;
  /// Those by name; a file may have very many.
  std::unordered_map<std::string_view, const KernelSignature *> signatureOf;

  /// Decodes an entry, or returns what was decoded before.
  Expected<std::shared_ptr<const Kernel>> decode(const std::string &kernel);
  /// Fills the tables of names; the first name that is defined twice is the
  /// error.
  std::optional<Diagnostic> index();
  /// The function of a name or an alias, with its body if it has one; or null.
  const ast::Function *findFunction(std::string_view name) const;
  const ast::Variable *findVariable(std::string_view name) const;
  /// What a function's name means as a value.
  uint64_t addressOf(const ast::Function &f) const {
    return kCodeWindow + uint64_t(&f - file.functions.data() + 1) * 16;
  }

private:
  std::unordered_map<std::string_view, const ast::Function *> functions;
  std::unordered_map<std::string_view, const ast::Variable *> variables;
  std::mutex lock;
  std::map<std::string, std::shared_ptr<const Kernel>> kernels;
};

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_DECODER_MODULEIMPL_H
