//===- InstructionsTest.cpp - stages ask the table of chips ---------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every chip that is served has what the stages emit. So each instruction is
// taken from one by hand here, and must be missed by name: when the schedule is
// chosen, and again when the instruction would be emitted.
//===----------------------------------------------------------------------===//

#include "fa/Dialect/FA/IR/FADialect.h"
#include "fa/Dialect/FA/Transforms/Transforms.h"
#include "fa/GPU/Passes.h"
#include "fa/Pipelines/Pipelines.h"
#include "fa/Target/TargetInfo.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::fa;
using testing::HasSubstr;

namespace {

constexpr const char *kAttention = R"(
func.func @attention(%q: tensor<1x2x?x64xbf16>) -> tensor<1x2x?x64xbf16> {
  %o = fa.attention %q, %q, %q : tensor<1x2x?x64xbf16>, tensor<1x2x?x64xbf16>,
       tensor<1x2x?x64xbf16> -> tensor<1x2x?x64xbf16>
  return %o : tensor<1x2x?x64xbf16>
}
)";

constexpr const char *kKernel = R"(
#wg = #gpu.address_space<workgroup>
#gl = #gpu.address_space<global>
gpu.module @m {
  memref.global @smem : memref<0xi8, #wg> {alignment = 128}
  gpu.func @copies(%p: !llvm.ptr<1>, %n: index) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %K = fa.view %p sizes [%n] strides [%n, %n] : !llvm.ptr<1> to memref<?x16xf16, #gl>
    %smem = memref.get_global @smem : memref<0xi8, #wg>
    %sK = memref.view %smem[%c0][] {fa.swizzle} : memref<0xi8, #wg> to memref<16x16xf16, #wg>
    fa.copy_tile %K[%c0, %c0] to %sK[%c0, %c0] : memref<?x16xf16, #gl> to memref<16x16xf16, #wg>
    gpu.return
  }
  gpu.func @products() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %smem = memref.get_global @smem : memref<0xi8, #wg>
    %sK = memref.view %smem[%c0][] {fa.swizzle} : memref<0xi8, #wg> to memref<16x16xf16, #wg>
    %q = arith.constant dense<1.0> : vector<16x16xf16>
    %z = arith.constant dense<0.0> : vector<16x16xf32>
    %k = fa.load_tile %sK[%c0, %c0] : memref<16x16xf16, #wg> -> vector<16x16xf16>
    %s = vector.contract {
        indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                         affine_map<(m, n, k) -> (m, n)>],
        iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
      %q, %k, %z : vector<16x16xf16>, vector<16x16xf16> into vector<16x16xf32>
    gpu.return
  }
}
)";

class Instructions : public testing::Test {
protected:
  Instructions()
      : handler(&context, [this](Diagnostic &diagnostic) {
          messages += diagnostic.str() + "\n";
          return success();
        }) {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    std::string error;
    target = *lookupTarget("sm_80", error);
    target.name = "sm_lacking";
  }

  /// What choosing a schedule says; empty when it is content.
  std::string select() {
    messages.clear();
    auto module = parseSourceString<ModuleOp>(kAttention, &context);
    module->walk([&](AttentionOp op) { (void)selectSchedule(op, target); });
    return messages;
  }

  /// What distributing a kernel says.
  std::string distribute(StringRef name) {
    messages.clear();
    auto module = parseSourceString<ModuleOp>(kKernel, &context);
    module->walk([&](gpu::GPUFuncOp kernel) {
      if (kernel.getName() == name)
        (void)distributeToLanes(kernel, &target);
    });
    return messages;
  }

  MLIRContext context;
  std::string messages;
  ScopedDiagnosticHandler handler;
  TargetInfo target;
};

TEST_F(Instructions, AllAreThere) {
  EXPECT_EQ(select(), "");
  EXPECT_EQ(distribute("copies"), "");
  EXPECT_EQ(distribute("products"), "");
}

TEST_F(Instructions, AsyncCopyIsAskedFor) {
  target.hasAsyncCopy = false;
  const char *message = "needs cp.async, which sm_lacking does not have";
  EXPECT_THAT(select(), HasSubstr(message));
  EXPECT_THAT(distribute("copies"), HasSubstr(message));
  EXPECT_EQ(distribute("products"), "");
}

TEST_F(Instructions, MatrixLoadIsAskedFor) {
  target.hasMatrixLoad = false;
  const char *message = "needs ldmatrix, which sm_lacking does not have";
  EXPECT_THAT(select(), HasSubstr(message));
  EXPECT_THAT(distribute("products"), HasSubstr(message));
  EXPECT_EQ(distribute("copies"), "");
}

TEST_F(Instructions, ProductsAreAskedForByShapeAndElement) {
  MmaShape shapes[] = {{16, 8, 8, MmaElement::F16},
                       {16, 8, 16, MmaElement::F8}};
  target.mmaShapes = shapes;
  EXPECT_THAT(select(), HasSubstr("needs mma.sync.m16n8k16 of bf16, which "
                                  "sm_lacking does not have"));
  EXPECT_THAT(distribute("products"),
              HasSubstr("needs mma.sync.m16n8k16 of 'f16', which sm_lacking "
                        "does not have"));
}

} // namespace
