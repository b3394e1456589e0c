//===- TileOrder.cpp - which block of rows is begun when --------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers are below 2^31, as many blocks as a grid may have: i32 throughout.
//===----------------------------------------------------------------------===//

#include "TileOrder.h"
#include "fa/Dialect/FA/Transforms/AttributeNames.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::fa;

namespace {

/// Folds as it goes: extents are often constants.
struct Numbers {
  TileBuilder &b;

  Value add(Value x, Value y) { return b.createOrFold<arith::AddIOp>(x, y); }
  Value sub(Value x, Value y) { return b.createOrFold<arith::SubIOp>(x, y); }
  Value mul(Value x, Value y) { return b.createOrFold<arith::MulIOp>(x, y); }
  Value div(Value x, Value y) { return b.createOrFold<arith::DivUIOp>(x, y); }
  /// Of x that is not 0.
  Value ceilDiv(Value x, Value y) {
    return add(div(sub(x, b.i32(1)), y), b.i32(1));
  }
  Value rem(Value x, Value y) { return b.createOrFold<arith::RemUIOp>(x, y); }
  Value min(Value x, Value y) { return b.createOrFold<arith::MinUIOp>(x, y); }
  Value max(Value x, Value y) { return b.createOrFold<arith::MaxUIOp>(x, y); }
};

} // namespace

/// (batch, head, block of rows) of iteration `number`.
static SmallVector<Value> emitPlace(TileBuilder &b, Value number,
                                    ArrayRef<Value> bounds,
                                    const HeadSection &section) {
  Numbers n{b};
  SmallVector<Value> sizes =
      llvm::map_to_vector(bounds, [&](Value bound) { return b.toI32(bound); });
  Value heads = n.mul(sizes[0], sizes[1]), blocks = sizes[2];
  // A head without keys has room in any section.
  Value fitting =
      n.max(n.div(b.i32(section.keysInCache), n.max(section.keys, b.i32(1))),
            b.i32(1));
  // The fewest sections, all about equally large: in a small last one, few
  // heads are left to fill gaps with.
  Value kvHeads = n.div(heads, section.group);
  Value sections = n.ceilDiv(kvHeads, fitting);
  Value inSection = n.mul(n.ceilDiv(kvHeads, sections), section.group);
  Value perSection = n.mul(inSection, blocks);
  Value first = n.mul(n.div(number, perSection), inSection);
  Value rest = n.rem(number, perSection);
  // The last section may have fewer heads.
  Value here = n.min(inSection, n.sub(heads, first));
  Value head = n.add(first, n.rem(rest, here));
  Value block = n.sub(n.sub(blocks, b.i32(1)), n.div(rest, here));
  SmallVector<Value> place;
  for (auto [dim, value] : llvm::enumerate(SmallVector<Value>{
           n.div(head, sizes[1]), n.rem(head, sizes[1]), block})) {
    place.push_back(b.create<arith::IndexCastOp>(b.getIndexType(), value));
    place.back().getDefiningOp()->setAttr(kPlaceAttr, b.getI64IntegerAttr(dim));
  }
  return place;
}

scf::ForallOp
mlir::fa::orderLongestFirst(TileBuilder &b, scf::ForallOp program,
                            function_ref<HeadSection()> emitSection) {
  b.setInsertionPoint(program);
  SmallVector<Value> bounds = program.getUpperBound(b);
  Value count = bounds.front();
  for (Value bound : ArrayRef<Value>(bounds).drop_front())
    count = b.createOrFold<arith::MulIOp>(count, bound);
  auto ordered = b.create<scf::ForallOp>(
      ArrayRef<OpFoldResult>{getAsOpFoldResult(count)},
      /*outputs=*/ValueRange(), /*mapping=*/std::nullopt);
  ordered->setDiscardableAttrs(program->getDiscardableAttrDictionary());
  b.setInsertionPointToStart(ordered.getBody());
  HeadSection section = emitSection();
  SmallVector<Value> place =
      emitPlace(b, b.toI32(ordered.getInductionVar(0)), bounds, section);
  Block *from = program.getBody(), *to = ordered.getBody();
  to->getOperations().splice(std::prev(to->end()), from->getOperations(),
                             from->begin(), std::prev(from->end()));
  for (auto [old, value] : llvm::zip_equal(program.getInductionVars(), place))
    old.replaceAllUsesWith(value);
  program.erase();
  b.setInsertionPointAfter(ordered);
  return ordered;
}
