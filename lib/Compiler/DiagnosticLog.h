//===- DiagnosticLog.h - MLIR's diagnostics as values -----------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_COMPILER_DIAGNOSTICLOG_H
#define FA_LIB_COMPILER_DIAGNOSTICLOG_H

#include "fa/Support/Expected.h"
#include "mlir/IR/Diagnostics.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir::fa {

/// Takes every diagnostic of a context as long as it lives; nothing is printed.
class DiagnosticLog {
public:
  explicit DiagnosticLog(MLIRContext *context);

  /// What was collected as one error: the first error's message and place,
  /// then a line for each further one and each note. `fallback` is the message
  /// when a failure said nothing.
  farun::Error takeError(StringRef fallback);

  /// Warnings and remarks, "file:line:column: kind: message".
  std::vector<std::string> takeWarnings() { return std::move(warnings); }

private:
  void take(Diagnostic &diagnostic);

  std::optional<farun::Error> first;
  std::vector<std::string> warnings;
  ScopedDiagnosticHandler handler;
};

} // namespace mlir::fa

#endif // FA_LIB_COMPILER_DIAGNOSTICLOG_H
