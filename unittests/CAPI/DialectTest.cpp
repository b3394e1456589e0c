//===- DialectTest.cpp - dialect, passes and PTX by MLIR's C API ----------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "fa-c/Dialect.h"
#include "fa-c/FA.h"
#include "fa-c/Passes.h"

#include "mlir-c/Diagnostics.h"
#include <gtest/gtest.h>
#include <string>

namespace {

MlirStringRef ref(const char *text) {
  return mlirStringRefCreateFromCString(text);
}

void append(MlirStringRef text, void *to) {
  static_cast<std::string *>(to)->append(text.data, text.length);
}

MlirLogicalResult keep(MlirDiagnostic diagnostic, void *to) {
  mlirDiagnosticPrint(diagnostic, append, to);
  return mlirLogicalResultSuccess();
}

constexpr const char *kAttention = R"(
func.func @attention(%q: tensor<1x2x?x32xf16>, %k: tensor<1x1x?x32xf16>)
    -> tensor<1x2x?x32xf16> {
  %o = fa.attention %q, %k, %k : tensor<1x2x?x32xf16>, tensor<1x1x?x32xf16>,
       tensor<1x1x?x32xf16> -> tensor<1x2x?x32xf16>
  return %o : tensor<1x2x?x32xf16>
})";

class CAPIDialect : public testing::Test {
protected:
  void SetUp() override {
    MlirDialectRegistry registry = mlirDialectRegistryCreate();
    mlirFARegisterAllDialects(registry);
    context = mlirContextCreateWithRegistry(registry, /*threading=*/false);
    mlirDialectRegistryDestroy(registry);
    mlirContextAttachDiagnosticHandler(context, keep, &diagnostics, nullptr);
    module = mlirModuleCreateParse(context, ref(kAttention));
    ASSERT_FALSE(mlirModuleIsNull(module)) << diagnostics;
  }
  void TearDown() override {
    mlirModuleDestroy(module);
    mlirContextDestroy(context);
  }

  /// The gpu.module among the ops of the module; null without one.
  MlirOperation findKernels() {
    MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
    while (!mlirOperationIsNull(op)) {
      MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
      if (std::string(name.data, name.length) == "gpu.module")
        break;
      op = mlirOperationGetNextInBlock(op);
    }
    return op;
  }

  MlirContext context = {};
  MlirModule module = {};
  std::string diagnostics;
};

TEST_F(CAPIDialect, TheHandleLoadsIt) {
  MlirDialectHandle handle = mlirGetDialectHandle__fa__();
  MlirStringRef name = mlirDialectHandleGetNamespace(handle);
  EXPECT_EQ(std::string(name.data, name.length), "fa");
  MlirContext own = mlirContextCreate();
  EXPECT_FALSE(mlirDialectIsNull(mlirDialectHandleLoadDialect(handle, own)));
  mlirContextDestroy(own);
}

TEST_F(CAPIDialect, PipelinesLowerToPTX) {
  mlirFARegisterAllPasses();
  mlirFARegisterAllPasses();
  MlirPassManager manager = mlirPassManagerCreate(context);
  std::string error;
  ASSERT_TRUE(mlirLogicalResultIsSuccess(mlirParsePassPipeline(
      mlirPassManagerGetAsOpPassManager(manager),
      ref("builtin.module(fa-stage-tile{target=sm_80})"), append, &error)))
      << error;
  mlirPassManagerDestroy(manager);

  manager = mlirPassManagerCreate(context);
  mlirFAAddPipeline(mlirPassManagerGetAsOpPassManager(manager), ref("sm_80"),
                    ref("tile_q=64"));
  ASSERT_TRUE(mlirLogicalResultIsSuccess(
      mlirPassManagerRunOnOp(manager, mlirModuleGetOperation(module))))
      << diagnostics;
  mlirPassManagerDestroy(manager);

  MlirOperation kernels = findKernels();
  ASSERT_FALSE(mlirOperationIsNull(kernels));
  std::string ptx;
  ASSERT_TRUE(mlirLogicalResultIsSuccess(
      mlirFATranslateToPTX(kernels, ref("sm_80"), append, &ptx)))
      << diagnostics;
  EXPECT_NE(ptx.find(".target sm_80"), std::string::npos);
  EXPECT_NE(ptx.find("mma.sync"), std::string::npos);

  ptx.clear();
  EXPECT_TRUE(mlirLogicalResultIsFailure(
      mlirFATranslateToPTX(kernels, ref("sm_1"), append, &ptx)));
  EXPECT_NE(diagnostics.find("sm_1"), std::string::npos) << diagnostics;
  EXPECT_TRUE(ptx.empty());
}

TEST_F(CAPIDialect, OnlyAGPUModuleIsTranslated) {
  std::string ptx;
  EXPECT_TRUE(mlirLogicalResultIsFailure(mlirFATranslateToPTX(
      mlirModuleGetOperation(module), ref("sm_80"), append, &ptx)));
  EXPECT_NE(diagnostics.find("is not a gpu.module"), std::string::npos);
}

/// LLVM knows llvm.log2, NVPTX has no instruction for it: "Cannot select",
/// which would end the process.
TEST_F(CAPIDialect, WhatLLVMCannotSelectIsADiagnostic) {
  MlirModule log = mlirModuleCreateParse(context, ref(R"(
gpu.module @kernels {
  llvm.func @log(%p: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} {
    %x = llvm.load %p : !llvm.ptr<1> -> f32
    %y = llvm.call_intrinsic "llvm.log2"(%x) : (f32) -> f32
    llvm.store %y, %p : f32, !llvm.ptr<1>
    llvm.return
  }
})"));
  ASSERT_FALSE(mlirModuleIsNull(log)) << diagnostics;
  MlirOperation kernels = mlirBlockGetFirstOperation(mlirModuleGetBody(log));
  std::string ptx;
  for (int n = 0; n < 3; ++n) {
    diagnostics.clear();
    EXPECT_TRUE(mlirLogicalResultIsFailure(
        mlirFATranslateToPTX(kernels, ref("sm_80"), append, &ptx)));
    EXPECT_NE(
        diagnostics.find("LLVM cannot write PTX for sm_80: Cannot select"),
        std::string::npos)
        << diagnostics;
    EXPECT_TRUE(ptx.empty());
  }
  mlirModuleDestroy(log);
}

/// libFA-C has an MLIR of its own: neither sees the other's names.
TEST_F(CAPIDialect, LivesBesideLibFAC) {
  mlirFARegisterAllPasses();
  fa_kernel *kernel = nullptr;
  fa_error *error = nullptr;
  ASSERT_EQ(fa_compile_text(kAttention, nullptr, &kernel, &error), FA_OK)
      << fa_error_message(error);
  const char *ptx = nullptr;
  ASSERT_EQ(fa_kernel_ptx(kernel, &ptx, nullptr), FA_OK);
  EXPECT_NE(std::string(ptx).find("mma.sync"), std::string::npos);
  EXPECT_EQ(fa_kernel_free(kernel), FA_OK);

  MlirPassManager manager = mlirPassManagerCreate(context);
  mlirFAAddPipeline(mlirPassManagerGetAsOpPassManager(manager), ref("sm_80"),
                    ref(""));
  EXPECT_TRUE(mlirLogicalResultIsSuccess(
      mlirPassManagerRunOnOp(manager, mlirModuleGetOperation(module))));
  mlirPassManagerDestroy(manager);
}

} // namespace
