//===- Dialect.cpp - the dialect for users of MLIR's C API ----------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "fa-c/Dialect.h"

#include "fa/Dialect/FA/IR/FADialect.h"
#include "fa/Pipelines/Pipelines.h"
#include "fa/Target/PTX/ModuleToPTX.h"
#include "mlir/CAPI/Registration.h"

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(FA, fa, mlir::fa::FADialect)

void mlirFARegisterAllDialects(MlirDialectRegistry registry) {
  mlir::fa::registerAllDialects(*unwrap(registry));
  mlir::fa::registerPTXTranslations(*unwrap(registry));
}
