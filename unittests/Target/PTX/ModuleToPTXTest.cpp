//===- ModuleToPTXTest.cpp - modules that become PTX, and that do not -----===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything runs in one process: what LLVM would end it for must leave it
// able to compile the next module.
//
//===----------------------------------------------------------------------===//
#include "fa/Target/PTX/ModuleToPTX.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace mlir;
using testing::HasSubstr;
using testing::Not;

namespace {

constexpr const char *kGood = R"(
gpu.module @kernels {
  llvm.func @scale(%p: !llvm.ptr<1>, %c: f32) attributes {gpu.kernel, nvvm.kernel} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %at = llvm.getelementptr %p[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %x = llvm.load %at : !llvm.ptr<1> -> f32
    %e = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz"(%x) : (f32) -> f32
    %y = llvm.fmul %e, %c : f32
    llvm.store %y, %at : f32, !llvm.ptr<1>
    llvm.return
  }
})";

// LLVM knows llvm.log2, NVPTX has no instruction for it: "Cannot select".
constexpr const char *kUnselectable = R"(
gpu.module @kernels {
  llvm.func @log(%p: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} {
    %x = llvm.load %p : !llvm.ptr<1> -> f32
    %y = llvm.call_intrinsic "llvm.log2"(%x) : (f32) -> f32
    llvm.store %y, %p : f32, !llvm.ptr<1>
    llvm.return
  }
})";

class ModuleToPTX : public testing::Test {
protected:
  ModuleToPTX() {
    DialectRegistry registry;
    registry.insert<arith::ArithDialect, gpu::GPUDialect, LLVM::LLVMDialect,
                    NVVM::NVVMDialect>();
    fa::registerPTXTranslations(registry);
    context.appendDialectRegistry(registry);
    context.getDiagEngine().registerHandler([this](Diagnostic &diag) {
      llvm::raw_string_ostream os(messages);
      os << diag.getLocation() << ": " << diag << "\n";
      for (Diagnostic &note : diag.getNotes())
        os << "note: " << note << "\n";
    });
  }

  /// The PTX, or "" with the diagnostics in `messages`.
  std::string compile(const char *text, StringRef chip = "sm_80") {
    messages.clear();
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(text, &context, "kernel.mlir");
    if (!module)
      return "";
    auto kernels = *module->getOps<gpu::GPUModuleOp>().begin();
    std::string error;
    fa::PTXOptions options;
    options.guardFatalErrors = true;
    FailureOr<std::string> ptx =
        fa::moduleToPTX(kernels, *fa::lookupTarget(chip, error), options);
    return succeeded(ptx) ? *ptx : "";
  }

  MLIRContext context;
  std::string messages;
};

TEST_F(ModuleToPTX, WritesTheTargetThatWasAskedFor) {
  std::string ptx = compile(kGood);
  EXPECT_EQ(messages, "");
  EXPECT_THAT(ptx, HasSubstr(".version 8.0"));
  EXPECT_THAT(ptx, HasSubstr(".target sm_80"));
  EXPECT_THAT(ptx, HasSubstr(".entry scale("));
  EXPECT_THAT(ptx, HasSubstr("ex2.approx.ftz.f32"));
  EXPECT_THAT(ptx, Not(HasSubstr("kernel.mlir")));
  std::string blackwell = compile(kGood, "sm_120");
  EXPECT_THAT(blackwell, HasSubstr(".version 8.7"));
  EXPECT_THAT(blackwell, HasSubstr(".target sm_120"));
}

TEST_F(ModuleToPTX, SameModuleSameBytes) {
  std::string first = compile(kGood);
  EXPECT_NE(first, "");
  EXPECT_EQ(first, compile(kGood));
}

TEST_F(ModuleToPTX, CannotSelectIsAnErrorAndTheProcessGoesOn) {
  std::string before = compile(kGood);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(compile(kUnselectable), "");
    EXPECT_THAT(messages, HasSubstr("LLVM cannot write PTX for sm_80: Cannot "
                                    "select"));
    EXPECT_THAT(messages, HasSubstr("kernel.mlir\":2:1"));
  }
  EXPECT_EQ(compile(kGood), before);
}

TEST_F(ModuleToPTX, InlineAssemblyThatLLVMRefusesIsAnError) {
  EXPECT_EQ(compile(R"(
gpu.module @kernels {
  llvm.func @k(%p: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} {
    %x = llvm.inline_asm has_side_effects "mov.b32 $0, 0;", "=Q" : () -> i32
    llvm.store %x, %p : i32, !llvm.ptr<1>
    llvm.return
  }
})"),
            "");
  EXPECT_THAT(messages, HasSubstr("constraint 'Q'"));
}

TEST_F(ModuleToPTX, CallOfALibraryIsRefusedWhereItStands) {
  EXPECT_EQ(compile(R"(
gpu.module @kernels {
  llvm.func @__nv_fmaxf(f32, f32) -> f32
  llvm.func @k(%x: f32) attributes {gpu.kernel, nvvm.kernel} {
    %y = llvm.call @__nv_fmaxf(%x, %x) : (f32, f32) -> f32
    llvm.return
  }
})"),
            "");
  EXPECT_THAT(messages,
              HasSubstr("kernel.mlir\":5:10): call of '__nv_fmaxf', which the "
                        "kernel's module does not define"));
  EXPECT_THAT(messages, HasSubstr("fa-lower-math"));
}

TEST_F(ModuleToPTX, LeftoverOpIsRefusedWhereItStands) {
  EXPECT_EQ(compile(R"(
gpu.module @kernels {
  llvm.func @k(%x: i32) attributes {gpu.kernel, nvvm.kernel} {
    %y = arith.addi %x, %x : i32
    llvm.return
  }
})"),
            "");
  EXPECT_THAT(messages, HasSubstr("kernel.mlir\":4:10): 'arith.addi' is left "
                                  "in the kernel"));
}

TEST_F(ModuleToPTX, OpThatTheChipLacksIsRefused) {
  const char *text = R"(
gpu.module @kernels {
  llvm.func @k() attributes {gpu.kernel, nvvm.kernel} {
    nvvm.wgmma.fence.aligned
    llvm.return
  }
})";
  EXPECT_EQ(compile(text), "");
  EXPECT_NE(messages, "");
}

} // namespace
