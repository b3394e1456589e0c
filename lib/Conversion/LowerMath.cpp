//===- LowerMath.cpp - math becomes PTX's own instructions ----------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// First pass of the lower stage. Intrinsics are called by name: LLVM's own
// math ops (llvm.intr.fabs, llvm.intr.exp2) are illegal to the conversion to
// NVVM, which would rather call the device library, and nvvm.inline_ptx has
// side effects that keep equal exponentials apart and dead ones alive.
//
//===----------------------------------------------------------------------===//
#include "fa/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

#include <cmath>
#include <numbers>

namespace mlir::fa {

#define GEN_PASS_DEF_FALOWERMATH
#include "fa/Conversion/Passes.h.inc"

namespace {

/// Builds one element of the result from one element of each operand.
using ScalarBuilder =
    function_ref<Value(OpBuilder &, Location, ValueRange operands)>;

Value callIntrinsic(OpBuilder &b, Location loc, StringRef name,
                    ValueRange operands) {
  return LLVM::CallIntrinsicOp::create(b, loc, operands[0].getType(),
                                       b.getStringAttr(name), operands)
      .getResult(0);
}

Value scaleBy(OpBuilder &b, Location loc, double factor, Value x) {
  auto type = cast<FloatType>(x.getType());
  Value c = arith::ConstantOp::create(b, loc, b.getFloatAttr(type, factor));
  return arith::MulFOp::create(b, loc, c, x);
}

/// The elements of `type`, each as a position.
SmallVector<SmallVector<int64_t>> positionsOf(VectorType type) {
  SmallVector<SmallVector<int64_t>> positions;
  SmallVector<int64_t> strides = computeStrides(type.getShape());
  for (int64_t i = 0, e = type.getNumElements(); i < e; ++i)
    positions.push_back(delinearize(i, strides));
  return positions;
}

/// Rewrites `op` element by element; a scalar is its only element.
Value elementwise(OpBuilder &b, Operation *op, ScalarBuilder scalar) {
  Location loc = op->getLoc();
  auto type = dyn_cast<VectorType>(op->getResult(0).getType());
  if (!type)
    return scalar(b, loc, op->getOperands());
  // Into a constant of zeros, since vector.from_elements lowers in one
  // dimension only; LLVM sees through the chain.
  Value result = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  for (ArrayRef<int64_t> position : positionsOf(type)) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(vector::ExtractOp::create(b, loc, operand, position));
    result = vector::InsertOp::create(b, loc, scalar(b, loc, operands), result,
                                      position);
  }
  return result;
}

/// `Op` is one intrinsic of LLVM or NVVM on each element.
template <typename Op> struct ToIntrinsic final : OpRewritePattern<Op> {
  ToIntrinsic(MLIRContext *context, StringRef name, bool isF32Only)
      : OpRewritePattern<Op>(context), name(name), isF32Only(isF32Only) {}

  LogicalResult matchAndRewrite(Op op, PatternRewriter &b) const override {
    if (isF32Only && !getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    b.replaceOp(
        op, elementwise(b, op,
                        [&](OpBuilder &b, Location loc, ValueRange operands) {
                          return callIntrinsic(b, loc, name, operands);
                        }));
    return success();
  }

  StringRef name;
  bool isF32Only;
};

/// `Op` is `LLVMOp`, which also takes one-dimensional vectors.
template <typename Op, typename LLVMOp>
struct ToLLVM final : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &b) const override {
    auto build = [&](OpBuilder &b, Location loc, ValueRange operands) -> Value {
      return LLVMOp::create(b, loc, operands[0].getType(), operands);
    };
    auto type = dyn_cast<VectorType>(op.getType());
    if (type && type.getRank() == 1)
      b.replaceOp(op, build(b, op.getLoc(), op->getOperands()));
    else
      b.replaceOp(op, elementwise(b, op, build));
    return success();
  }
};

/// exp x = 2^(x log2 e).
Value emitExp(OpBuilder &b, Location loc, Value x) {
  return callIntrinsic(b, loc, "llvm.nvvm.ex2.approx.ftz",
                       scaleBy(b, loc, std::numbers::log2e, x));
}

/// A quotient that may be approximate (afn): by the reciprocal.
struct ApproximateQuotient final : OpRewritePattern<arith::DivFOp> {
  using OpRewritePattern<arith::DivFOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::DivFOp op,
                                PatternRewriter &b) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32() ||
        !arith::bitEnumContainsAny(op.getFastmath(), arith::FastMathFlags::afn))
      return failure();
    auto divide = [](OpBuilder &b, Location loc, ValueRange operands) -> Value {
      Value inverse =
          callIntrinsic(b, loc, "llvm.nvvm.rcp.approx.ftz.f", operands[1]);
      if (matchPattern(operands[0], m_OneFloat()))
        return inverse;
      return arith::MulFOp::create(b, loc, operands[0], inverse);
    };
    b.replaceOp(op, elementwise(b, op, divide));
    return success();
  }
};

/// ln x = ln 2 log2 x.
Value emitLog(OpBuilder &b, Location loc, Value x) {
  return scaleBy(b, loc, std::numbers::ln2,
                 callIntrinsic(b, loc, "llvm.nvvm.lg2.approx.f", x));
}

/// tanh x = 1 - 2 / (e^2x + 1), which loses all digits near 0; there x plus an
/// odd polynomial, fitted below |x| = 0.6 to two units in the last place.
Value emitTanh(OpBuilder &b, Location loc, Value x) {
  Type f32 = b.getF32Type();
  auto constant = [&](float value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
  };
  auto fma = [&](Value p, Value q, Value r) -> Value {
    return LLVM::FMAOp::create(b, loc, f32, ValueRange{p, q, r});
  };
  auto call = [&](StringRef name, ValueRange operands) {
    return callIntrinsic(b, loc, name, operands);
  };
  Value size = call("llvm.fabs", x), one = constant(1.0f);
  Value exponent = scaleBy(b, loc, 2 * std::numbers::log2e, size);
  Value power = call("llvm.nvvm.ex2.approx.ftz", exponent);
  Value inverse = call("llvm.nvvm.rcp.approx.ftz.f",
                       Value(arith::AddFOp::create(b, loc, power, one)));
  Value far = fma(inverse, constant(-2.0f), one);

  Value square = arith::MulFOp::create(b, loc, size, size);
  Value sum = constant(0.0155806672f);
  for (float c : {-0.05218881f, 0.13312608f, -0.333325654f})
    sum = fma(sum, square, constant(c));
  Value product = arith::MulFOp::create(b, loc, square, sum);
  Value near = fma(product, size, size);

  Value isNear = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, size,
                                       constant(0.6f));
  Value result = arith::SelectOp::create(b, loc, isNear, near, far);
  return call("llvm.copysign", {result, x});
}

/// `Op` of one f32 is what `emit` makes of it.
template <typename Op, Value (*emit)(OpBuilder &, Location, Value)>
struct ToFormula final : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &b) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    b.replaceOp(
        op,
        elementwise(b, op, [](OpBuilder &b, Location loc, ValueRange operands) {
          return emit(b, loc, operands[0]);
        }));
    return success();
  }
};

struct LowerMath final : impl::FALowerMathBase<LowerMath> {
  void runOnOperation() override {
    if (failed(computeInF32()))
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    populateLowerMathPatterns(patterns);
    walkAndApplyPatterns(getOperation(), std::move(patterns));

    getOperation().walk([&](Operation *op) {
      if (!isa<math::MathDialect>(op->getDialect()))
        return;
      op->emitError() << "'" << op->getName() << "' on "
                      << op->getResult(0).getType()
                      << " has no lowering to PTX instructions";
      signalPassFailure();
    });
  }

  /// Functions of 16-bit numbers, which PTX has for f32 alone.
  LogicalResult computeInF32() {
    Type f32 = Float32Type::get(&getContext());
    TypeConverter converter;
    // What stays as it is beside f32; the converter refers to it.
    SetVector<Type> others;
    others.insert(Float64Type::get(&getContext()));
    math::populateExtendToSupportedTypesTypeConverter(converter, others, f32);
    ConversionTarget target(getContext());
    math::populateExtendToSupportedTypesConversionTarget(target, converter);
    RewritePatternSet patterns(&getContext());
    math::populateExtendToSupportedTypesPatterns(patterns, converter);
    return applyPartialConversion(getOperation(), target, std::move(patterns));
  }
};

} // namespace

void populateLowerMathPatterns(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  auto add = [&]<typename Op>(StringRef intrinsic, bool isF32Only) {
    patterns.add<ToIntrinsic<Op>>(context, intrinsic, isF32Only);
  };
  add.operator()<math::Exp2Op>("llvm.nvvm.ex2.approx.ftz", true);
  add.operator()<math::Log2Op>("llvm.nvvm.lg2.approx.f", true);
  add.operator()<math::RsqrtOp>("llvm.nvvm.rsqrt.approx.f", true);
  add.operator()<math::SqrtOp>("llvm.sqrt", true);
  add.operator()<math::AbsFOp>("llvm.fabs", false);
  add.operator()<math::FloorOp>("llvm.floor", false);
  add.operator()<math::CeilOp>("llvm.ceil", false);
  add.operator()<math::TruncOp>("llvm.trunc", false);
  add.operator()<math::RoundEvenOp>("llvm.roundeven", false);
  add.operator()<math::CopySignOp>("llvm.copysign", false);
  patterns.add<ToLLVM<math::FmaOp, LLVM::FMAOp>,
               ToLLVM<arith::MaxNumFOp, LLVM::MaxNumOp>,
               ToLLVM<arith::MinNumFOp, LLVM::MinNumOp>, ApproximateQuotient,
               ToFormula<math::ExpOp, emitExp>, ToFormula<math::LogOp, emitLog>,
               ToFormula<math::TanhOp, emitTanh>>(context);
  // A chunk mask divides positions, which may be negative.
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
}

} // namespace mlir::fa
