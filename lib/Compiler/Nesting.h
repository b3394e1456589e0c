//===- Nesting.h - text that is nested too deep -----------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's parser calls itself for what stands in brackets, so text that opens
// enough of them ends the process. Nobody writes such text, but a compiler
// inside an interpreter has to say so and go on.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_COMPILER_NESTING_H
#define FA_LIB_COMPILER_NESTING_H

#include "llvm/ADT/StringRef.h"

#include <cstddef>
#include <optional>

namespace mlir::fa {

/// Brackets within brackets that are read.
inline constexpr size_t kMaxNesting = 1000;

/// Where the text first opens more brackets within each other than that; of
/// (, [, { and <, outside of strings and comments.
std::optional<size_t> findDeepNesting(llvm::StringRef text);

} // namespace mlir::fa

#endif // FA_LIB_COMPILER_NESTING_H
