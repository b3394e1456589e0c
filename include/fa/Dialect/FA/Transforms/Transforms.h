//===- Transforms.h - the passes as functions -------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pass is a thin shell over one of these, so that another compiler can call
// them from a pipeline of its own.
//===----------------------------------------------------------------------===//

#ifndef FA_DIALECT_FA_TRANSFORMS_TRANSFORMS_H
#define FA_DIALECT_FA_TRANSFORMS_TRANSFORMS_H

namespace mlir::fa {} // namespace mlir::fa

#endif // FA_DIALECT_FA_TRANSFORMS_TRANSFORMS_H
