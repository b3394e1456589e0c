//===- AttentionTest.cpp - what fa.attention tells of itself --------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fa/Dialect/FA/IR/AttentionSupport.h"
#include "fa/Dialect/FA/IR/FADialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fa;

namespace {
class AttentionTest : public testing::Test {
protected:
  AttentionTest() {
    context.loadDialect<FADialect, func::FuncDialect, memref::MemRefDialect>();
  }

  /// The attention of a function with these arguments and this text.
  AttentionOp parse(const std::string &arguments, const std::string &text) {
    module = parseSourceString<ModuleOp>(
        "func.func @f(" + arguments + ") { " + text + " return }", &context);
    AttentionOp op;
    if (module)
      module->walk([&](AttentionOp found) { op = found; });
    return op;
  }

  /// The message of checkSupported; empty when the op is supported.
  std::string unsupported(const std::string &clauses,
                          const std::string &element = "f16",
                          const std::string &headDim = "64") {
    std::string type = "tensor<1x2x8x" + headDim + "x" + element + ">";
    AttentionOp op = parse(
        "%q: " + type +
            ", %m: tensor<8x8xi1>, %b: tensor<8x8xf32>, %h: tensor<2xf32>, "
            "%n: tensor<1xi32>, %s: tensor<1x8xi32>, %seed: i64, %f: f32",
        "%o = fa.attention %q, %q, %q " + clauses + " : " + type + ", " + type +
            ", " + type + " -> " + type);
    if (!op)
      return "does not parse";
    std::string message;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      message = diagnostic.str();
      return success();
    });
    bool isSupported = succeeded(checkSupported(op));
    EXPECT_EQ(isSupported, message.empty());
    return message;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(AttentionTest, DimsOfBothLayouts) {
  AttentionOp op =
      parse("%q: tensor<2x8x5x64xf16>, %k: tensor<2x4x?x64xf16>, %v: "
            "tensor<2x4x?x32xf16>",
            "%o = fa.attention %q, %k, %v : tensor<2x8x5x64xf16>, "
            "tensor<2x4x?x64xf16>, tensor<2x4x?x32xf16> -> "
            "tensor<2x8x5x32xf16>");
  AttentionDims dims = op.getDims();
  EXPECT_EQ(dims.B, 2);
  EXPECT_EQ(dims.Hq, 8);
  EXPECT_EQ(dims.Hkv, 4);
  EXPECT_EQ(dims.group(), 2);
  EXPECT_EQ(dims.Sq, 5);
  EXPECT_EQ(dims.Sk, ShapedType::kDynamic);
  EXPECT_EQ(dims.D, 64);
  EXPECT_EQ(dims.Dv, 32);
  EXPECT_EQ(dims.query.heads, 1);
  EXPECT_EQ(dims.query.seq, 2);

  op = parse("%q: tensor<2x5x8x64xf16>, %k: tensor<2x7x4x64xf16>",
             "%o = fa.attention %q, %k, %k {layout = \"bshd\"} : "
             "tensor<2x5x8x64xf16>, tensor<2x7x4x64xf16>, "
             "tensor<2x7x4x64xf16> -> tensor<2x5x8x64xf16>");
  dims = op.getDims();
  EXPECT_EQ(dims.Hq, 8);
  EXPECT_EQ(dims.Sq, 5);
  EXPECT_EQ(dims.Sk, 7);
  EXPECT_EQ(dims.keyValue.heads, 2);
}

TEST_F(AttentionTest, DimsOfPackedSequences) {
  AttentionOp op =
      parse("%q: tensor<100x8x64xf16>, %k: tensor<120x2x64xf16>, %c: "
            "tensor<5xi32>",
            "%o = fa.attention %q, %k, %k q_offsets(%c : tensor<5xi32>) "
            "kv_offsets(%c : tensor<5xi32>) : tensor<100x8x64xf16>, "
            "tensor<120x2x64xf16>, tensor<120x2x64xf16> -> "
            "tensor<100x8x64xf16>");
  AttentionDims dims = op.getDims();
  EXPECT_EQ(dims.B, 4);
  EXPECT_EQ(dims.Tq, 100);
  EXPECT_EQ(dims.Tk, 120);
  EXPECT_EQ(dims.Sq, ShapedType::kDynamic);
  EXPECT_EQ(dims.Hkv, 2);
  EXPECT_EQ(dims.query.batch, -1);
}

TEST_F(AttentionTest, DefaultScaleIsRoundedToFloat) {
  AttentionOp op = parse("%q: memref<1x1x8x24xf16>",
                         "fa.attention %q, %q, %q outs(%q : "
                         "memref<1x1x8x24xf16>) : memref<1x1x8x24xf16>, "
                         "memref<1x1x8x24xf16>, memref<1x1x8x24xf16>");
  EXPECT_EQ(op.getStaticScale(), static_cast<float>(1 / std::sqrt(24.0)));
  EXPECT_TRUE(op.isMemRefForm());
  EXPECT_FALSE(op.getLse());
}

TEST_F(AttentionTest, NamesOfDimensions) {
  AttentionOp op = parse(
      "%q: tensor<3x2x8x16xf16>, %m: tensor<2x1x?xi1>",
      "%o = fa.attention %q, %q, %q mask(%m : tensor<2x1x?xi1>) : "
      "tensor<3x2x8x16xf16>, tensor<3x2x8x16xf16>, tensor<3x2x8x16xf16> -> "
      "tensor<3x2x8x16xf16>");
  SmallVector<AttentionOperand> operands = op.getShapedOperands();
  ASSERT_EQ(operands.size(), 5u);
  EXPECT_EQ(operands[3].role, "mask");
  EXPECT_EQ(operands[3].dims, (SmallVector<StringRef, 4>{"Hq", "1", "Sk"}));
  EXPECT_EQ(operands[4].role, "out");
}

TEST_F(AttentionTest, Supported) {
  EXPECT_EQ(unsupported(""), "");
  EXPECT_EQ(unsupported("scale(%f : f32) masks [#fa.causal<bottom_right>] "
                        "mask(%m : tensor<8x8xi1>) "
                        "kv_lengths(%n : tensor<1xi32>)"),
            "");
  EXPECT_EQ(unsupported("masks [#fa.window<top_left, left = 3, right = 0>, "
                        "#fa.chunk<bottom_right, size = 3>] "
                        "{empty_row = \"nan\"}"),
            "");
  EXPECT_EQ(unsupported("{empty_row = \"uniform\"}"), "");
  EXPECT_EQ(unsupported("segments(%s, %s : tensor<1x8xi32>, tensor<1x8xi32>)"),
            "");
  EXPECT_EQ(unsupported("dropout(0.5, seed = %seed : i64)"), "");
  EXPECT_EQ(unsupported("", "bf16", "16"), "");
  EXPECT_EQ(unsupported("", "f16", "128"), "");
}

TEST_F(AttentionTest, UnsupportedIsNamed) {
  auto message = [](const std::string &what) {
    return "'fa.attention' op " + what + " is not supported yet";
  };
  EXPECT_EQ(unsupported("{schedule = #fa.schedule<splits = 2>}"),
            message("'schedule with splits above 1'"));
  for (std::string word : {"tf32", "tf32x3"})
    EXPECT_EQ(unsupported("{precision = \"" + word + "\"}", "f32"),
              message("'precision = " + word + "'"));
}

TEST_F(AttentionTest, UnsupportedNumbersComeWithTheRange) {
  EXPECT_EQ(unsupported("", "f16", "257"),
            "'fa.attention' op head dim D = 257 is not supported yet, "
            "supported are those from 1 to 256");
  EXPECT_EQ(unsupported("", "f16", "?"),
            "'fa.attention' op head dim D that is not static is not supported "
            "yet");
}
} // namespace
