//===- Passes.h - the passes of the lower stage -----------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FA_CONVERSION_PASSES_H
#define FA_CONVERSION_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::fa {

/// The patterns of fa-lower-math, for a lowering of one's own.
void populateLowerMathPatterns(RewritePatternSet &patterns);

#define GEN_PASS_DECL
#include "fa/Conversion/Passes.h.inc"

/// registerFAConversionPasses().
#define GEN_PASS_REGISTRATION
#include "fa/Conversion/Passes.h.inc"

} // namespace mlir::fa

#endif // FA_CONVERSION_PASSES_H
