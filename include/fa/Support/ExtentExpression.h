//===- ExtentExpression.h - sizes as text over the extents ------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The manifest states grids and byte counts as numbers or as text over the
// extents B, Hq, Hkv, Sq, Sk, D, Dv, Tq, Tk and pages, so that one kernel
// serves every length, and over SMs, the multiprocessors of the device:
//   sum     := product (('+' | '-') product)*
//   product := primary (('*' | '/' | '%') primary)*
//   primary := NUMBER | NAME | '-' primary | '(' sum ')'
//            | ('ceildiv' | 'min' | 'max') '(' sum ',' sum ')'
// '/' and '%' round towards zero as in C; arithmetic is 64-bit and checked.
//
//===----------------------------------------------------------------------===//
#ifndef FA_SUPPORT_EXTENTEXPRESSION_H
#define FA_SUPPORT_EXTENTEXPRESSION_H

#include "fa/Support/Expected.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace farun {

/// The values of the extents by name.
using Extents = std::map<std::string, int64_t, std::less<>>;

using ExtentNames = std::set<std::string, std::less<>>;

/// Is this the name of an operand's extent?
bool isExtentName(std::string_view name);

/// The device's multiprocessors: for grids, beside the extents.
inline constexpr const char *kMultiprocessorsName = "SMs";

/// The value of `text`; every problem (syntax with its column, an unknown or
/// open extent, overflow, division by zero) is an Error.
Expected<int64_t> evaluateExtent(std::string_view text, const Extents &extents);

/// Is the text well formed, over known names, and only over `names` if given?
Status checkExtentSyntax(std::string_view text,
                         const ExtentNames *names = nullptr);

} // namespace farun

#endif // FA_SUPPORT_EXTENTEXPRESSION_H
