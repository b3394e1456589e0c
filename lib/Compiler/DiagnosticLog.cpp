//===- DiagnosticLog.cpp - MLIR's diagnostics as values -------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "DiagnosticLog.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

namespace mlir::fa {

namespace {

/// The first place in a file that `loc` holds; an op made from several, or by
/// inlining, has more than one.
farun::Location placeOf(Location loc) {
  auto file = loc->findInstanceOf<FileLineColLoc>();
  if (!file)
    return {};
  return {file.getFilename().str(), static_cast<int>(file.getLine()),
          static_cast<int>(file.getColumn())};
}

StringRef kindOf(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Note:
    return "note";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Error:
    return "error";
  case DiagnosticSeverity::Remark:
    return "remark";
  }
  llvm_unreachable("all severities are named");
}

/// "file:line:column: kind: message".
std::string lineOf(Diagnostic &diagnostic) {
  std::string where = placeOf(diagnostic.getLocation()).str();
  return (where.empty() ? "" : where + ": ") +
         kindOf(diagnostic.getSeverity()).str() + ": " + diagnostic.str();
}

} // namespace

DiagnosticLog::DiagnosticLog(MLIRContext *context)
    : handler(context, [this](Diagnostic &diagnostic) {
        take(diagnostic);
        return success();
      }) {}

void DiagnosticLog::take(Diagnostic &diagnostic) {
  std::vector<std::string> lines;
  if (diagnostic.getSeverity() != DiagnosticSeverity::Error) {
    lines.push_back(lineOf(diagnostic));
  } else if (!first) {
    first =
        farun::inputError(diagnostic.str(), placeOf(diagnostic.getLocation()));
  } else {
    first->message += "\n" + lineOf(diagnostic);
  }
  for (Diagnostic &note : diagnostic.getNotes())
    lines.push_back(lineOf(note));

  bool isError = diagnostic.getSeverity() == DiagnosticSeverity::Error;
  for (std::string &line : lines) {
    if (isError)
      first->message += "\n" + line;
    else
      warnings.push_back(std::move(line));
  }
}

farun::Error DiagnosticLog::takeError(StringRef fallback) {
  if (!first)
    return farun::inputError(fallback.str());
  farun::Error error = std::move(*first);
  first.reset();
  return error;
}

} // namespace mlir::fa
