//===- WithCompiler.cpp - the compiler behind the C API -------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Compile.h"

#include "fa/Compiler/Compiler.h"

#include <algorithm>

namespace facapi {

/// What a refusal of the compiler is about: the clause, the operand or the
/// option.
static std::string findSubject(const std::string &message) {
  constexpr std::string_view kOp = "'fa.attention' op ";
  for (const char *region : {"score", "visible"})
    if (message.find(" " + std::string(region) + " region") !=
        std::string::npos)
      return region;
  std::string_view sentence = message;
  size_t begin = message.find(kOp);
  if (begin != std::string::npos)
    sentence.remove_prefix(begin + kOp.size());
  if (sentence.starts_with("schedule"))
    return "schedule";
  if (begin == std::string::npos ||
      message.find("is not supported yet") == std::string::npos)
    return "";
  if (sentence.starts_with("head dim Dv"))
    return "value";
  for (const char *ofAll : {"head dim", "element type", "extent"})
    if (sentence.starts_with(ofAll))
      return "query";
  if (sentence.starts_with("'"))
    sentence.remove_prefix(1);
  constexpr const char *kLetters = "abcdefghijklmnopqrstuvwxyz_";
  return std::string(sentence.substr(0, sentence.find_first_not_of(kLetters)));
}

Outcome compileText(const CompileRequest &request, CompileResult &result) {
  mlir::fa::CompileOptions options;
  options.path = request.name;
  options.text = request.text;
  options.target = request.target;
  options.schedule = request.schedule;
  options.entry = request.entry;
  options.keepStages = request.keepStages;
  options.traceState = request.traceState;
  farun::Expected<mlir::fa::CompiledKernel> kernel = mlir::fa::compile(options);
  if (!kernel) {
    std::vector<std::string> targets = targetNames();
    if (std::find(targets.begin(), targets.end(), request.target) ==
        targets.end())
      return toFailure(kernel.error(), "target");
    Failure failure = toFailure(kernel.error());
    failure.code = FA_ERROR_COMPILE;
    failure.argument = findSubject(failure.message);
    if (failure.diagnostics.empty())
      failure.diagnostics.push_back(kernel.error().str());
    return failure;
  }
  result.program.manifest = std::move(kernel->manifest);
  result.program.ptx = std::move(kernel->ptx);
  result.program.ptxName = "kernel.ptx";
  for (mlir::fa::StageText &stage : kernel->stages)
    result.program.stages.push_back(
        {std::move(stage.name), std::move(stage.text)});
  result.warnings = std::move(kernel->diagnostics);
  return std::nullopt;
}

std::string llvmVersion() { return mlir::fa::llvmVersion(); }

std::vector<std::string> targetNames() { return mlir::fa::targetNames(); }

} // namespace facapi
