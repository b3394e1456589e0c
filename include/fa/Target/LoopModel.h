//===- LoopModel.h - what a loop over keys takes at least -------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which of the pipes of a multiprocessor a mask-free loop of attention keeps
// busy longest, and whether it pays to compute some of the exponentials by a
// polynomial: the unit of special functions then has less to do, and the issue
// of instructions more. The model is that of utils/sass-loop.py, with the
// counts of the kernels of docs/Benchmarks.md in the place of machine code.
//
//===----------------------------------------------------------------------===//
#ifndef FA_TARGET_LOOPMODEL_H
#define FA_TARGET_LOOPMODEL_H

#include "fa/Target/TargetInfo.h"

namespace mlir::fa {

/// Clock cycles of a quarter of a multiprocessor for one score of each lane of
/// a warp.
struct LoopCosts {
  double tensor;  ///< of the tensor core
  double special; ///< of the special functions, if each exponential is one
  double issue;   ///< instructions; these exponentials are one each
  /// Instructions of an exponential by polynomial.
  double polynomial;
};

/// The costs where Q and K have `headDim` and V `valueDim` elements a row.
LoopCosts estimateLoopCosts(const TargetInfo &target, int64_t headDim,
                            int64_t valueDim);

/// The cycles of the pipe that is busy longest when one of `polynomial`
/// exponentials is a polynomial; 0: none is.
double getLongestPipe(const LoopCosts &costs, int64_t polynomial);

/// The `polynomial` at which that is least, if it is a gain; else 0.
int64_t choosePolynomial(const LoopCosts &costs);

} // namespace mlir::fa

#endif // FA_TARGET_LOOPMODEL_H
