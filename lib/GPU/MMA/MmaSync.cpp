//===- MmaSync.cpp - warp instructions of the mma.sync family ---*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MmaSync.h"
#include "fa/GPU/MMA/MMALayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::fa;

static Value constantI32(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
}

/// The members of an LLVM struct.
static SmallVector<Value> unpack(OpBuilder &b, Location loc, Value value) {
  SmallVector<Value> members;
  auto type = cast<LLVM::LLVMStructType>(value.getType());
  for (int64_t i = 0, e = type.getBody().size(); i < e; ++i)
    members.push_back(LLVM::ExtractValueOp::create(b, loc, value, i));
  return members;
}

SmallVector<Value> fa::createMmaSync(OpBuilder &b, Location loc, ValueRange a,
                                     ValueRange rhs, ValueRange c) {
  Type element = cast<VectorType>(a[0].getType()).getElementType();
  // The bf16 instruction takes its operands as 32-bit integers.
  auto registers = [&](ValueRange values) {
    SmallVector<Value> result(values);
    if (element.isBF16())
      for (Value &v : result)
        v = LLVM::BitcastOp::create(b, loc, b.getI32Type(), v);
    return result;
  };
  auto type = element.isBF16() ? NVVM::MMATypes::bf16 : NVVM::MMATypes::f16;
  auto struct4 = LLVM::LLVMStructType::getLiteral(
      b.getContext(), SmallVector<Type>(4, b.getF32Type()));
  Value result = NVVM::MmaOp::create(
      b, loc, struct4, registers(a), registers(rhs), c,
      ArrayRef<int64_t>{kPieceRows, kPieceCols, kPieceK}, std::nullopt,
      std::nullopt, std::array<NVVM::MMATypes, 2>{type, type},
      std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                     NVVM::MMALayout::col});
  return unpack(b, loc, result);
}

SmallVector<Value> fa::createLdmatrix(OpBuilder &b, Location loc, Value address,
                                      Type element, bool transpose) {
  auto struct4 = LLVM::LLVMStructType::getLiteral(
      b.getContext(), SmallVector<Type>(4, b.getI32Type()));
  auto shape = NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8);
  Value result = NVVM::LdMatrixOp::create(b, loc, struct4, address, 4,
                                          transpose ? NVVM::MMALayout::col
                                                    : NVVM::MMALayout::row,
                                          shape, NVVM::LdStMatrixEltType::B16);
  SmallVector<Value> registers = unpack(b, loc, result);
  for (Value &v : registers)
    v = LLVM::BitcastOp::create(b, loc, VectorType::get({2}, element), v);
  return registers;
}

void fa::createCopyAsync(OpBuilder &b, Location loc, Value dest, Value source,
                         Value sourceBytes) {
  NVVM::CpAsyncOp::create(b, loc, dest, source, kChunkBytes,
                          NVVM::LoadCacheModifierKind::CG, sourceBytes);
}

void fa::createCommitGroup(OpBuilder &b, Location loc) {
  NVVM::CpAsyncCommitGroupOp::create(b, loc);
}

void fa::createWaitGroup(OpBuilder &b, Location loc, int64_t pending) {
  NVVM::CpAsyncWaitGroupOp::create(b, loc, pending);
}

Value fa::createVoteAny(OpBuilder &b, Location loc, Value pred) {
  return NVVM::VoteSyncOp::create(b, loc, b.getI1Type(),
                                  constantI32(b, loc, -1), pred,
                                  NVVM::VoteSyncKind::any);
}

Value fa::createOpaqueRead(OpBuilder &b, Location loc,
                           StringRef specialRegister) {
  auto dialect =
      LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT);
  return LLVM::InlineAsmOp::create(
             b, loc, TypeRange{b.getI32Type()}, ValueRange(),
             ("mov.u32 $0, " + specialRegister + ";").str(), "=r",
             /*has_side_effects=*/true,
             /*is_align_stack=*/false, LLVM::TailCallKind::None, dialect,
             ArrayAttr())
      .getRes();
}

void fa::createWarpBarrier(OpBuilder &b, Location loc) {
  NVVM::SyncWarpOp::create(b, loc, constantI32(b, loc, -1));
}

Value fa::createBarrierAny(OpBuilder &b, Location loc, Value pred) {
  Value word = arith::ExtUIOp::create(b, loc, b.getI32Type(), pred);
  auto reduction = NVVM::BarrierReductionAttr::get(b.getContext(),
                                                   NVVM::BarrierReduction::OR);
  auto barrier = NVVM::BarrierOp::create(b, loc, TypeRange{b.getI32Type()},
                                         Value(), Value(), reduction, word);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne,
                               barrier.getRes(), constantI32(b, loc, 0));
}

Value fa::createShuffleIndex(OpBuilder &b, Location loc, Value value,
                             Value lane) {
  return gpu::ShuffleOp::create(b, loc, value, lane,
                                constantI32(b, loc, kWarpSize),
                                gpu::ShuffleMode::IDX)
      .getShuffleResult();
}

Value fa::createShuffleXor(OpBuilder &b, Location loc, Value value,
                           int64_t mask) {
  return gpu::ShuffleOp::create(b, loc, value, constantI32(b, loc, mask),
                                constantI32(b, loc, kWarpSize),
                                gpu::ShuffleMode::XOR)
      .getShuffleResult();
}
