//===- Nesting.cpp - text that is nested too deep -------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Nesting.h"

using namespace llvm;

/// Behind the string that begins at `begin`.
static size_t skipString(StringRef text, size_t begin) {
  size_t at = begin + 1;
  while (at < text.size() && text[at] != '"' && text[at] != '\n')
    at += text[at] == '\\' ? 2 : 1;
  return at + 1;
}

std::optional<size_t> mlir::fa::findDeepNesting(StringRef text) {
  size_t depth = 0;
  for (size_t at = 0; at < text.size();) {
    StringRef rest = text.substr(at);
    if (rest.starts_with("\"")) {
      at = skipString(text, at);
      continue;
    }
    if (rest.starts_with("//")) {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    // Arrows and comparisons open and close nothing.
    if (rest.starts_with("->") || rest.starts_with("<=") ||
        rest.starts_with(">=")) {
      at += 2;
      continue;
    }
    if (StringRef("([{<").contains(text[at]) && ++depth > kMaxNesting)
      return at;
    if (StringRef(")]}>").contains(text[at]) && depth > 0)
      --depth;
    ++at;
  }
  return std::nullopt;
}
