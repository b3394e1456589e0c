//===- Dialect.h - the fa dialect for users of MLIR's C API -------*- C -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For programs that have an MLIR of their own and speak to it by mlir-c. They
// link FACAPIDialect and their MLIR; libFA-C (fa-c/FA.h) is for everyone else.
//
//===----------------------------------------------------------------------===//
#ifndef FA_C_DIALECT_H
#define FA_C_DIALECT_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

// mlirGetDialectHandle__fa__(): the dialect alone.
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(FA, fa);

// The dialects that a program may hold before, between and after the stages,
// with the interfaces that our passes and the translation to PTX ask of them.
MLIR_CAPI_EXPORTED void mlirFARegisterAllDialects(MlirDialectRegistry registry);

#ifdef __cplusplus
}
#endif

#endif // FA_C_DIALECT_H
