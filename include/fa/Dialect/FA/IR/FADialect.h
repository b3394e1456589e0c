//===- FADialect.h - the fa dialect, its attributes and ops -----*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One header for the dialect: enums, the mask interface, attributes, ops, and
// the plain structures by which ops tell about their operands.
//===----------------------------------------------------------------------===//

#ifndef FA_DIALECT_FA_IR_FADIALECT_H
#define FA_DIALECT_FA_IR_FADIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <optional>

namespace mlir::fa {

/// The keys [lo, hi) that a query row sees; a null bound is no bound.
struct KeyInterval {
  Value lo;
  Value hi;
};

/// Positions of the four dimensions in Q and O, or in K and V. A packed
/// operand has no batch dimension (-1). Of pages, `batch` counts the pages and
/// `seq` the keys of a page.
struct DimPositions {
  int64_t batch, heads, seq, feature;
};

/// The extents of an attention; ShapedType::kDynamic where not static. For
/// packed sequences B is their number and Sq, Sk are dynamic; Tq, Tk are the
/// lengths of the packed operands (0 when not packed).
struct AttentionDims {
  DimPositions query, keyValue;
  int64_t B, Hq, Hkv, Sq, Sk, D, Dv, Tq, Tk;
  /// Query heads that share a head of K and V; kDynamic when not known.
  int64_t group() const {
    if (ShapedType::isDynamic(Hq) || ShapedType::isDynamic(Hkv))
      return ShapedType::kDynamic;
    return Hkv == 0 ? 0 : Hq / Hkv;
  }
};

/// An operand with a shape. `dims` names each dimension in its own order by
/// B, Hq, Hkv, Sq, Sk, D, Dv, Tq, Tk, pages and, where no such extent is
/// meant, "B+1", "page_size", "table"; a dimension that is broadcast is "1".
/// `shortens` names the extent of which the elements are a beginning.
struct AttentionOperand {
  StringRef role;
  Value value;
  SmallVector<StringRef, 4> dims;
  StringRef shortens = "";
  ShapedType getType() const { return cast<ShapedType>(value.getType()); }
};

/// Whether the right operand of a product (m, k) x right -> (m, n) with these
/// indexing maps lies as (n, k), and not as (k, n). Nothing for other maps.
std::optional<bool> isRightTransposed(ArrayRef<AffineMap> maps);

} // namespace mlir::fa

#include "fa/Dialect/FA/IR/FAEnums.h.inc"

#include "fa/Dialect/FA/IR/FAInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "fa/Dialect/FA/IR/FAAttrs.h.inc"

#include "fa/Dialect/FA/IR/FADialect.h.inc"

#define GET_OP_CLASSES
#include "fa/Dialect/FA/IR/FAOps.h.inc"

#endif // FA_DIALECT_FA_IR_FADIALECT_H
