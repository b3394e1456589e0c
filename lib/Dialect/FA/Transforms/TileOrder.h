//===- TileOrder.h - which block of rows is begun when ----------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The iterations of a tile program may run in any order. A chip begins them by
// number, a few hundred at a time, and two things depend on what the numbers
// mean:
//
// - At the end multiprocessors are idle until the last one is done. Where later
//   rows see more keys (a mask bounds the keys of a row from above, no matter
//   which mask), the long blocks of rows come first and the short ones fill the
//   gaps.
// - Blocks of rows that run at the same time should read the same K and V, or
//   those of so few heads that the L2 cache holds them. Heads of a group follow
//   each other, and longest first goes through a section of heads whose K and V
//   the cache holds beside others, then through the next section. Sections are
//   as few and as equal as may be:
//
//      section 0: heads 0..3        section 1: heads 4..7
//      head   0  1  2  3            4  5  6  7
//      last   0  1  2  3           16 17 18 19     block of rows, number
//       ...   4  5  6  7           20 21 22 23
//       ...   8  9 10 11           24 25 26 27
//      first 12 13 14 15           28 29 30 31
//
// Where all blocks of rows are equally long, those of a head follow each other,
// and the heads: (b, h, ib) with the last one fastest, which fa-map-to-gpu
// makes of any scf.forall.
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_DIALECT_FA_TRANSFORMS_TILEORDER_H
#define FA_LIB_DIALECT_FA_TRANSFORMS_TILEORDER_H

#include "TileBuilder.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::fa {

/// Of the L2 cache K and V of a section fill one part in so many. Less than
/// there is costs a few idle multiprocessors, more than there is reads of
/// memory; nothing depends on it but time.
inline constexpr int64_t kCacheShare = 2;

/// What decides about sections, as i32 in the program.
struct HeadSection {
  Value keys;          ///< of a head
  Value group;         ///< heads that share K and V
  int64_t keysInCache; ///< how many keys, with their values, may lie there
};

/// Numbers the iterations of a program over (batch, head, block of rows),
/// longest first: the result is over one number. `emitSection` is called inside
/// of it, where `b` then stands.
scf::ForallOp orderLongestFirst(TileBuilder &b, scf::ForallOp program,
                                function_ref<HeadSection()> emitSection);

} // namespace mlir::fa

#endif // FA_LIB_DIALECT_FA_TRANSFORMS_TILEORDER_H
