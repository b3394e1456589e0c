//===- RegionProgram.h - a region of the op as plain data -------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a `score` or `visible` region computes, for those who have no MLIR: a
// list of values, each made from values before it. The arguments of the region
// come first and are not listed: (s, b, h, i, j) or (b, h, i, j). Integers are
// of 64 bits or, as i32 and i1, wrap around at theirs.
//
//===----------------------------------------------------------------------===//
#ifndef FA_SUPPORT_REGIONPROGRAM_H
#define FA_SUPPORT_REGIONPROGRAM_H

#include "fa/Support/Array.h"

#include <string_view>
#include <vector>

namespace farun {

/// What makes a value, with the name of the MLIR op where it is one.
#define FA_REGION_OPS(X)                                                       \
  X(Constant, "constant", 0)                                                   \
  X(Operand, "operand", 0)                                                     \
  X(Load, "load", -1)                                                          \
  X(AddI, "arith.addi", 2)                                                     \
  X(SubI, "arith.subi", 2)                                                     \
  X(MulI, "arith.muli", 2)                                                     \
  X(DivSI, "arith.divsi", 2)                                                   \
  X(RemSI, "arith.remsi", 2)                                                   \
  X(DivUI, "arith.divui", 2)                                                   \
  X(RemUI, "arith.remui", 2)                                                   \
  X(FloorDivSI, "arith.floordivsi", 2)                                         \
  X(CeilDivSI, "arith.ceildivsi", 2)                                           \
  X(MaxSI, "arith.maxsi", 2)                                                   \
  X(MinSI, "arith.minsi", 2)                                                   \
  X(AndI, "arith.andi", 2)                                                     \
  X(OrI, "arith.ori", 2)                                                       \
  X(XOrI, "arith.xori", 2)                                                     \
  X(CmpEq, "arith.cmpi eq", 2)                                                 \
  X(CmpNe, "arith.cmpi ne", 2)                                                 \
  X(CmpSlt, "arith.cmpi slt", 2)                                               \
  X(CmpSle, "arith.cmpi sle", 2)                                               \
  X(CmpSgt, "arith.cmpi sgt", 2)                                               \
  X(CmpSge, "arith.cmpi sge", 2)                                               \
  X(CmpUlt, "arith.cmpi ult", 2)                                               \
  X(CmpUle, "arith.cmpi ule", 2)                                               \
  X(CmpUgt, "arith.cmpi ugt", 2)                                               \
  X(CmpUge, "arith.cmpi uge", 2)                                               \
  X(Select, "arith.select", 3)                                                 \
  X(IndexCast, "arith.index_cast", 1)                                          \
  X(ExtSI, "arith.extsi", 1)                                                   \
  X(ExtUI, "arith.extui", 1)                                                   \
  X(TruncI, "arith.trunci", 1)                                                 \
  X(SIToFP, "arith.sitofp", 1)                                                 \
  X(UIToFP, "arith.uitofp", 1)                                                 \
  X(AddF, "arith.addf", 2)                                                     \
  X(SubF, "arith.subf", 2)                                                     \
  X(MulF, "arith.mulf", 2)                                                     \
  X(DivF, "arith.divf", 2)                                                     \
  X(NegF, "arith.negf", 1)                                                     \
  X(MaximumF, "arith.maximumf", 2)                                             \
  X(MinimumF, "arith.minimumf", 2)                                             \
  X(MaxNumF, "arith.maxnumf", 2)                                               \
  X(MinNumF, "arith.minnumf", 2)                                               \
  X(CmpOeq, "arith.cmpf oeq", 2)                                               \
  X(CmpOlt, "arith.cmpf olt", 2)                                               \
  X(CmpOle, "arith.cmpf ole", 2)                                               \
  X(CmpOgt, "arith.cmpf ogt", 2)                                               \
  X(CmpOge, "arith.cmpf oge", 2)                                               \
  X(CmpUne, "arith.cmpf une", 2)                                               \
  X(ExtF, "arith.extf", 1)                                                     \
  X(TruncF, "arith.truncf", 1)                                                 \
  X(Exp, "math.exp", 1)                                                        \
  X(Exp2, "math.exp2", 1)                                                      \
  X(Log, "math.log", 1)                                                        \
  X(Log2, "math.log2", 1)                                                      \
  X(Sqrt, "math.sqrt", 1)                                                      \
  X(Rsqrt, "math.rsqrt", 1)                                                    \
  X(Tanh, "math.tanh", 1)                                                      \
  X(AbsF, "math.absf", 1)                                                      \
  X(Floor, "math.floor", 1)                                                    \
  X(Ceil, "math.ceil", 1)                                                      \
  X(Fma, "math.fma", 3)

enum class RegionOp {
#define FA_REGION_ENUMERATOR(value, name, arity) value,
  FA_REGION_OPS(FA_REGION_ENUMERATOR)
#undef FA_REGION_ENUMERATOR
};

struct RegionOpFacts {
  RegionOp op;
  std::string_view name;
  int arity; ///< -1: as many as the operand has dimensions
};

inline constexpr RegionOpFacts kRegionOps[] = {
#define FA_REGION_ROW(value, name, arity) {RegionOp::value, name, arity},
    FA_REGION_OPS(FA_REGION_ROW)
#undef FA_REGION_ROW
};

/// The row of that name; null when there is none.
constexpr const RegionOpFacts *findRegionOp(std::string_view name) {
  for (const RegionOpFacts &facts : kRegionOps)
    if (facts.name == name)
      return &facts;
  return nullptr;
}

/// One value.
struct RegionValue {
  RegionOp op = RegionOp::Constant;
  /// I1, I32, I64 (index too), F32, F16, BF16.
  ElementType type = ElementType::F32;
  std::vector<int> arguments; ///< numbers of values before it
  double number = 0.0;        ///< Constant, of a float
  int64_t integer = 0;        ///< Constant, of an integer
  int operand = -1; ///< Operand, Load: index into the entry's operands
};

struct RegionProgram {
  std::vector<RegionValue> values;
  int result = 0; ///< the number of the value that is yielded

  /// Values before the first of the list: the arguments of the region.
  static constexpr int kScoreArguments = 5, kVisibleArguments = 4;
};

} // namespace farun

#endif // FA_SUPPORT_REGIONPROGRAM_H
