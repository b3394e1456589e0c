//===- Decoder.cpp - syntax to code ---------------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The three steps, and the one place where their errors become a Diagnostic.
//
//===----------------------------------------------------------------------===//
#include "Decoder.h"
#include "../Parser/Parser.h"
#include "FunctionDecoder.h"

using namespace ptxvm;

Expected<std::shared_ptr<const Kernel>>
ptxvm::decodeKernel(ModuleImpl &module, const KernelSignature &signature) {
  auto kernel = std::make_shared<Kernel>();
  kernel->signature = signature;
  kernel->info.kernel = signature.name;
  kernel->info.file = module.filename;
  for (const auto &[number, name] : module.file.sources) {
    if (number >= 4096)
      continue;
    if (kernel->info.sourceFiles.size() <= number)
      kernel->info.sourceFiles.resize(number + 1);
    kernel->info.sourceFiles[number] = name;
  }
  try {
    FunctionDecoder decoder(module, *kernel);
    DraftKernel draft = decoder.run(*module.findFunction(signature.name));
    std::vector<Draft> ordered = orderBlocks(draft, kernel->functions);
    allocateRegisters(draft, ordered, *kernel);
  } catch (const SyntaxError &error) {
    Diagnostic d;
    d.origin = "decoder";
    d.message = readable(error.message);
    d.location = {module.filename, error.at.line, error.at.column};
    return d;
  }
  return std::shared_ptr<const Kernel>(std::move(kernel));
}
