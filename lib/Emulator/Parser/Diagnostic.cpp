//===- Diagnostic.cpp - messages as text ----------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one-line form of locations and diagnostics.
//
//===----------------------------------------------------------------------===//
#include "fa/Emulator/Diagnostic.h"

using namespace ptxvm;

std::string SourceLocation::str() const {
  std::string text = file;
  if (line)
    text += ":" + std::to_string(line);
  if (line && column)
    text += ":" + std::to_string(column);
  return text;
}

std::string Diagnostic::str() const {
  std::string text = location.str();
  if (!text.empty())
    text += ": ";
  text += severity == Severity::Error ? "error: " : "warning: ";
  text += message + " [" + origin;
  for (const ExecutionPoint &p : points) {
    text += "; kernel " + p.kernel + ", CTA (" + std::to_string(p.cta.x) + "," +
            std::to_string(p.cta.y) + "," + std::to_string(p.cta.z) + ")";
    if (p.warp >= 0)
      text += ", warp " + std::to_string(p.warp);
    if (p.lane >= 0)
      text += ", lane " + std::to_string(p.lane);
  }
  if (source.line)
    text += "; source " + source.str();
  if (source.line && inlinedAt.line)
    text += ", inlined at " + inlinedAt.str();
  return text + "]";
}
