//===- Wgmma.cpp - instructions of the wgmma and TMA families ---*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Wgmma.h"
#include "fa/GPU/MMA/MMALayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fa;

/// Inline PTX with side effects; its results are the members of a struct, or
/// one value, or nothing.
static LLVM::InlineAsmOp createAsm(OpBuilder &b, Location loc, Type result,
                                   ValueRange operands, const Twine &text,
                                   const Twine &constraints) {
  auto dialect =
      LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT);
  return LLVM::InlineAsmOp::create(
      b, loc, result ? TypeRange{result} : TypeRange(), operands, text.str(),
      constraints.str(), /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::TailCallKind::None, dialect, ArrayAttr());
}

static SmallVector<Value> unpack(OpBuilder &b, Location loc, Value value,
                                 size_t number) {
  SmallVector<Value> members;
  for (size_t i = 0; i < number; ++i)
    members.push_back(LLVM::ExtractValueOp::create(b, loc, value, i));
  return members;
}

static Type structOf(OpBuilder &b, size_t number, Type type) {
  return LLVM::LLVMStructType::getLiteral(b.getContext(),
                                          SmallVector<Type>(number, type));
}

/// "$first, $first+1, ..."
static std::string placeholders(size_t first, size_t number) {
  return llvm::join(
      llvm::map_range(llvm::seq(first, first + number),
                      [](size_t i) { return "$" + std::to_string(i); }),
      ", ");
}

/// Constraints of registers by their letters: they come out and, with `goIn`,
/// went in as the same ones.
static std::string tie(StringRef letters, bool goIn) {
  std::string outputs, inputs;
  for (auto [i, letter] : llvm::enumerate(letters)) {
    outputs += i ? ",=" : "=";
    outputs += letter;
    inputs += "," + std::to_string(i);
  }
  return goIn ? outputs + inputs : outputs;
}

/// An instruction that takes no registers, with f32 and i32 led through it.
static SmallVector<Value> leadThrough(OpBuilder &b, Location loc,
                                      const Twine &text, ValueRange values) {
  if (values.empty()) {
    createAsm(b, loc, Type(), {}, text, "");
    return {};
  }
  std::string letters;
  for (Type type : values.getTypes())
    letters += type.isF32() ? 'f' : 'r';
  Type result = values.size() == 1
                    ? values.front().getType()
                    : LLVM::LLVMStructType::getLiteral(
                          b.getContext(), llvm::to_vector(values.getTypes()));
  Value led =
      createAsm(b, loc, result, values, text, tie(letters, /*goIn=*/true))
          .getRes();
  if (values.size() == 1)
    return {led};
  return unpack(b, loc, led, values.size());
}

SmallVector<Value> fa::createWgmma(OpBuilder &b, Location loc,
                                   const WgmmaStep &step) {
  size_t number = step.n / 2;
  bool isFirst = step.acc.empty();
  size_t next = isFirst ? number : 2 * number;
  SmallVector<Value> operands(step.acc);
  std::string type = step.element.isBF16() ? "bf16" : "f16";
  std::string text = "wgmma.mma_async.sync.aligned.m64n" +
                     std::to_string(step.n) + "k16.f32." + type + "." + type +
                     " {" + placeholders(0, number) + "}, ";
  std::string constraints = tie(std::string(number, 'f'), !isFirst);
  bool inRegisters = step.a.size() > 1;
  if (inRegisters)
    text += "{" + placeholders(next, step.a.size()) + "}";
  else
    text += placeholders(next, 1);
  for (Value value : step.a) {
    operands.push_back(value);
    constraints += inRegisters ? ",r" : ",l";
  }
  next += step.a.size();
  operands.push_back(step.rhs);
  constraints += ",l";
  // Whether the accumulators count is a predicate; then the signs, and which
  // operands in memory are not K-major.
  text += ", $" + std::to_string(next) + (isFirst ? ", 0" : ", 1") + ", 1, 1" +
          (inRegisters ? "" : ", 0") + (step.isRhsKMajor ? ", 0;" : ", 1;");
  Value result = createAsm(b, loc, structOf(b, number, b.getF32Type()),
                           operands, text, constraints)
                     .getRes();
  return unpack(b, loc, result, number);
}

Value fa::createDescriptorAnew(OpBuilder &b, Location loc, Value descriptor,
                               int64_t bytes) {
  // The start is in the low word and never carries.
  return createAsm(b, loc, b.getI64Type(), descriptor,
                   "{ .reg .b32 low, high; mov.b64 {low, high}, $1; "
                   "add.s32 low, low, " +
                       Twine(bytes / kDescriptorUnit) +
                       "; mov.b64 $0, {low, high}; }",
                   "=l,l")
      .getRes();
}

SmallVector<Value> fa::createWgmmaFence(OpBuilder &b, Location loc,
                                        ValueRange registers) {
  return leadThrough(b, loc, "wgmma.fence.sync.aligned;", registers);
}

void fa::createWgmmaCommit(OpBuilder &b, Location loc) {
  createAsm(b, loc, Type(), {}, "wgmma.commit_group.sync.aligned;", "");
}

SmallVector<Value> fa::createWgmmaWait(OpBuilder &b, Location loc,
                                       int64_t pending, ValueRange values) {
  return leadThrough(
      b, loc, "wgmma.wait_group.sync.aligned " + Twine(pending) + ";", values);
}

void fa::createFenceAsync(OpBuilder &b, Location loc) {
  createAsm(b, loc, Type(), {}, "fence.proxy.async.shared::cta;", "");
}

void fa::createSetMaxRegisters(OpBuilder &b, Location loc, int64_t number,
                               bool isMore) {
  createAsm(b, loc, Type(), {},
            Twine("setmaxnreg.") + (isMore ? "inc" : "dec") +
                ".sync.aligned.u32 " + Twine(number) + ";",
            "");
}

Value fa::createBarrierAnyOf(OpBuilder &b, Location loc, Value pred,
                             int64_t threads) {
  Value word = arith::ExtUIOp::create(b, loc, b.getI32Type(), pred);
  Value any =
      createAsm(b, loc, b.getI32Type(), word,
                "{ .reg .pred mine, any; setp.ne.b32 mine, $1, 0; "
                "bar.red.or.pred any, 0, " +
                    Twine(threads) + ", mine; selp.b32 $0, 1, 0, any; }",
                "=r,r")
          .getRes();
  Value zero = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(0));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, any, zero);
}

void fa::createBarrierInit(OpBuilder &b, Location loc, Value barrier,
                           int64_t count) {
  createAsm(b, loc, Type(), barrier,
            "mbarrier.init.shared::cta.b64 [$0], " + Twine(count) + ";", "r");
}

void fa::createBarrierInitFence(OpBuilder &b, Location loc) {
  createAsm(b, loc, Type(), {}, "fence.mbarrier_init.release.cluster;", "");
}

void fa::createBarrierArrive(OpBuilder &b, Location loc, Value barrier) {
  createAsm(b, loc, Type(), barrier, "mbarrier.arrive.shared::cta.b64 _, [$0];",
            "r");
}

void fa::createBarrierArriveAt(OpBuilder &b, Location loc, Value barrier,
                               Value rank) {
  createAsm(b, loc, Type(), {barrier, rank},
            "{ .reg .b32 there; mapa.shared::cluster.u32 there, $0, $1; "
            "mbarrier.arrive.shared::cluster.b64 _, [there]; }",
            "r,r");
}

void fa::createBarrierExpect(OpBuilder &b, Location loc, Value barrier,
                             int64_t bytes) {
  createAsm(b, loc, Type(), barrier,
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], " +
                Twine(bytes) + ";",
            "r");
}

void fa::createBarrierWait(OpBuilder &b, Location loc, Value barrier,
                           Value parity) {
  createAsm(b, loc, Type(), {barrier, parity},
            "{ .reg .pred done; wait_${:uid}: "
            "mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1; "
            "@!done bra.uni wait_${:uid}; }",
            "r,r");
}

void fa::createTensorCopy(OpBuilder &b, Location loc, Value dest, Value map,
                          ValueRange coordinates, Value barrier,
                          int64_t blocks) {
  size_t rank = coordinates.size();
  SmallVector<Value> operands{dest, map};
  llvm::append_range(operands, coordinates);
  operands.push_back(barrier);
  std::string constraints = "r,l";
  for (size_t i = 0; i <= rank; ++i)
    constraints += ",r";
  std::string kind, mask;
  if (blocks != 1) {
    // A bit for each block.
    operands.push_back(arith::ConstantOp::create(
        b, loc, b.getI16IntegerAttr(llvm::maskTrailingOnes<uint16_t>(blocks))));
    constraints += ",h";
    kind = ".multicast::cluster";
    mask = ", $" + std::to_string(rank + 3);
  }
  createAsm(b, loc, Type(), operands,
            "cp.async.bulk.tensor." + Twine(rank) +
                "d.shared::cluster.global.mbarrier::complete_tx::bytes" + kind +
                " [$0], [$1, {" + placeholders(2, rank) + "}], [$" +
                Twine(rank + 2) + "]" + mask + ";",
            constraints);
}

void fa::createClusterBarrier(OpBuilder &b, Location loc) {
  NVVM::ClusterArriveOp::create(b, loc, /*aligned=*/UnitAttr());
  NVVM::ClusterWaitOp::create(b, loc, /*aligned=*/UnitAttr());
}

void fa::createTensorStore(OpBuilder &b, Location loc, Value source, Value map,
                           ValueRange coordinates) {
  size_t rank = coordinates.size();
  SmallVector<Value> operands{map, source};
  llvm::append_range(operands, coordinates);
  std::string constraints = "l,r";
  for (size_t i = 0; i < rank; ++i)
    constraints += ",r";
  createAsm(b, loc, Type(), operands,
            "cp.async.bulk.tensor." + Twine(rank) +
                "d.global.shared::cta.bulk_group [$0, {" +
                placeholders(2, rank) + "}], [$1];",
            constraints);
}

void fa::createTensorStoreWait(OpBuilder &b, Location loc) {
  createAsm(b, loc, Type(), {},
            "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;", "");
}

void fa::createStmatrix(OpBuilder &b, Location loc, Value address,
                        ValueRange registers) {
  SmallVector<Value> operands{address};
  for (Value value : registers)
    operands.push_back(LLVM::BitcastOp::create(b, loc, b.getI32Type(), value));
  createAsm(b, loc, Type(), operands,
            "stmatrix.sync.aligned.m8n8.x4.shared.b16 [$0], {" +
                placeholders(1, 4) + "};",
            "r,r,r,r,r");
}

void fa::createNamedBarrier(OpBuilder &b, Location loc, Value id,
                            int64_t threads, bool waits) {
  createAsm(b, loc, Type(), id,
            Twine(waits ? "bar.sync $0, " : "bar.arrive $0, ") +
                Twine(threads) + ";",
            "r");
}

Value fa::createAddressAfter(OpBuilder &b, Location loc, Value address,
                             Value after) {
  // The sign of a number that is not negative, which no compiler knows to be 0;
  // max drops a NaN's.
  return createAsm(b, loc, b.getI32Type(), {address, after},
                   "{ .reg .f32 x; .reg .b32 y; max.f32 x, $2, 0f00000000; "
                   "mov.b32 y, x; shr.u32 y, y, 31; add.u32 $0, $1, y; }",
                   "=r,r,f")
      .getRes();
}
