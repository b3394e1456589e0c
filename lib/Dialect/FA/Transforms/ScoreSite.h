//===- ScoreSite.h - where a vector of scores lies --------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is said of a score is said of its row and its key. The definitions that
// do so (Scores.h, Visibility.h) are written once and asked at two kinds of
// place: for the tile of a block of rows with a block of keys, and for the
// rows with one key. A site gives the coordinates there, in vectors of its
// shape, and reads what operands hold for them.
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_DIALECT_FA_TRANSFORMS_SCORESITE_H
#define FA_LIB_DIALECT_FA_TRANSFORMS_SCORESITE_H

#include "TileBuilder.h"

namespace mlir::fa {

class ScoreSite {
public:
  /// The tile of `rows` rows from `firstRow` and `keys` keys from `firstKey`.
  /// In a full block all keys are there, and operands in neat pairs.
  static ScoreSite tile(Value firstRow, int64_t rows, Value firstKey,
                        int64_t keys, bool isFull) {
    return {firstRow, firstKey, {rows, keys}, isFull};
  }
  /// The rows with the key `key`.
  static ScoreSite oneKey(Value firstRow, int64_t rows, Value key) {
    return {firstRow, key, {rows}, /*isFull=*/false};
  }

  bool isTile() const { return shape.size() == 2; }
  int64_t numRows() const { return shape[0]; }
  VectorType getType(Type element) const {
    return VectorType::get(shape, element);
  }

  /// The row and the key of each score, as i32.
  Value emitRows(TileBuilder &b) const;
  Value emitKeys(TileBuilder &b) const;
  /// A value for each row, at each score of that row.
  Value spreadRows(TileBuilder &b, Value rows) const {
    return isTile() ? b.spreadRows(rows, shape[1]) : rows;
  }

  /// What a memref [rows, keys] holds for each score. For rows and keys that
  /// it does not have, anything: nobody stores or sees those.
  Value loadPlane(TileBuilder &b, Value plane) const;
  /// What a memref [keys] holds for the key of each score, likewise.
  Value loadKeys(TileBuilder &b, Value line) const;

  Value firstRow; ///< index
  Value firstKey; ///< index; the key itself where there is one

private:
  ScoreSite(Value firstRow, Value firstKey, ArrayRef<int64_t> shape,
            bool isFull)
      : firstRow(firstRow), firstKey(firstKey), shape(shape), isFull(isFull) {}

  SmallVector<int64_t, 2> shape;
  bool isFull;
};

/// Row (dim 0) or column (dim 1) number `position` of a plane, as rank 1.
Value emitVectorAt(TileBuilder &b, Value plane, unsigned dim, Value position);

} // namespace mlir::fa

#endif // FA_LIB_DIALECT_FA_TRANSFORMS_SCORESITE_H
