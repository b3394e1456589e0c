//===- MMALayout.h - which lane holds which element -------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one place that knows how a tensor core spreads a tile over the 32 lanes
// of a warp, and how a tile of 16-bit elements lies in workgroup memory so that
// it can be read without bank conflicts. Everything else asks here.
//
// 1. The accumulator (PTX ISA, mma.m16n8k16; the same for wgmma's m64nNk16,
//    where warp w of the warpgroup holds rows 16w .. 16w+15)
//
//    A tile of 16 rows and 8 columns is one register quadruple of a warp. With
//    g = lane / 4 and t = lane % 4, a lane holds two neighbouring columns of
//    row g and the same two of row g + 8:
//
//              col   0    1    2    3    4    5    6    7
//            row 0  [lane 0 ] [lane 1 ] [lane 2 ] [lane 3 ]
//            row 1  [lane 4 ] [lane 5 ] [lane 6 ] [lane 7 ]
//              ...
//            row 7  [lane 28] [lane 29] [lane 30] [lane 31]
//            row 8  [lane 0 ] [lane 1 ] [lane 2 ] [lane 3 ]     (half = 1)
//              ...
//
//    So the four lanes 4g .. 4g+3 (a *quad*) share a row: a sum or a maximum
//    over a row is a sum in the lane and two shuffles (XOR 1, XOR 2).
//
//    A larger tile is cut into 16x8 pieces. The lane's share of a tile of
//    M x N elements is ordered by
//
//        [row piece m = 0 .. M/16) [column piece n = 0 .. N/8) [half] [e]
//
//    and element (half, e) of piece (m, n) is
//
//        row = 16 m + 8 half + g        column = 8 n + 2 t + e
//
//    Worked example, 16 x 16 tile, lane 6 (g = 1, t = 2): (1,4) (1,5) (9,4)
//    (9,5) of the first piece, then (1,12) (1,13) (9,12) (9,13).
//
// 2. The left operand (A of m16n8k16) needs for lane (g, t), in four registers
//    of two 16-bit elements each:
//
//        register 0: (g, 2t..)   1: (g + 8, 2t..)   2: (g, 8 + 2t..)   3: (g +
//        8, 8 + 2t..)
//
//    These are exactly the elements that the lane holds of two neighbouring
//    accumulator pieces (columns 0-7 and 8-15). Hence P = exp(S) enters P.V
//    from the registers in which S was computed: two halves are packed into
//    one register, no lane gives anything to another.
//
// 3. The right operand (B) needs (k, n) = (2t.., g) and (8 + 2t.., g). It is
//    read from workgroup memory by ldmatrix: K, whose rows are n, as it lies;
//    V, whose rows are k, transposed (.trans).
//
// 4. The swizzle. ldmatrix reads eight rows of 16 bytes at a time. Workgroup
//    memory has 32 banks of 4 bytes, so 16-byte chunks whose addresses agree
//    modulo 128 bytes collide, and in a row-major tile of 128-byte rows all
//    eight do. Chunk c of row r is therefore stored at chunk c XOR f(r):
//
//        row 0   0 1 2 3 4 5 6 7          f(r) = r mod 8 when a row has 8 or
//        row 1   1 0 3 2 5 4 7 6          more chunks; with fewer chunks a
//        row 2   2 3 0 1 6 7 4 5          128-byte line holds several rows and
//          ...                            f counts lines instead of rows.
//
//    The same XOR serves writers (cp.async, one 16-byte chunk a thread) and
//    readers. The pitch of a row is a power of two of chunks.
//
// 5. Panels. Tensor maps (TMA) and wgmma know rows of 128 bytes alone. A tile
//    for them is cut into panels of 64 columns of 16 bits, one behind the
//    other, and each panel is swizzled as above with 8 chunks a row:
//
//        panel 0: columns 0..63         panel 1: columns 64..127
//        row 0    0 1 2 3 4 5 6 7       row 0    0 1 2 3 4 5 6 7
//        row 1    1 0 3 2 5 4 7 6       row 1    1 0 3 2 5 4 7 6
//          ...    8 rows: 1024 bytes,     ...
//                 the pattern
//
//    A panel of 176 rows takes 22528 bytes, and element (row 9, column 70),
//    whose chunk in panel 1 is 0, lies at 22528 + 9 * 128 + (0 XOR 1) * 16 + 12
//    bytes.
//
// 6. Descriptors. wgmma reads an operand in workgroup memory by itself, 16 of k
//    at a time, and is told by 64 bits where it lies (PTX ISA, "Matrix
//    Descriptor Format" of wgmma); addresses and distances are in 16 bytes:
//
//        bit  0..13   address of the operand's first element
//        bit 16..29   from one panel to the next, where these follow n
//        bit 32..45   from one pattern of eight rows to the next: 1024 bytes
//        bit 62..63   1: rows of 128 bytes, swizzled
//
//    What is contiguous in a row is k for Q, and for K in Q.K ("K-major"), and
//    n for V in P.V. So 16 further in k are 32 bytes in a row, four times, and
//    then the next panel; or 16 rows:
//
//        step of k      0    1    2    3    4           5
//        K-major        0   32   64   96   one panel   one panel + 32   bytes
//        V              0  2048 4096 6144  8192        10240            bytes
//
//    Bits 0..13 of the next step are those bytes / 16 more; they never carry.
//===----------------------------------------------------------------------===//

#ifndef FA_GPU_MMA_MMALAYOUT_H
#define FA_GPU_MMA_MMALAYOUT_H

#include "fa/Target/TargetInfo.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Support/LLVM.h"

namespace mlir::fa {

/// Rows and columns of one accumulator piece, and k of one instruction.
inline constexpr int64_t kPieceRows = kProductRows;
inline constexpr int64_t kPieceCols = kProductColumns;
inline constexpr int64_t kPieceK = kProductDepth;

/// How a lane holds a vector of the warp.
///
/// 32-bit elements, 1-bit elements and everything of one dimension are held as
/// scalars; 16-bit elements of a tile as vector<2xT>, the register that a
/// tensor core takes.
struct LaneShare {
  /// Elements of the warp's vector: a whole tile, one value a row, or one
  /// value a row and lane of its quad (the partial sums of fa.row_sum).
  enum class Kind { Tile, Row, Partial };

  Kind kind;
  int64_t rowPieces; ///< M / 16
  int64_t colPieces; ///< N / 8 of a tile, else 1
  Type type;         ///< of each value that the lane holds
  bool packed;       ///< whether a value is the pair (e = 0, e = 1)

  /// The share of `type`; failure when no layout covers it.
  static FailureOr<LaneShare> get(VectorType type);

  int64_t valuesPerPiece() const {
    return kind != Kind::Tile ? 2 : packed ? 2 : 4;
  }
  int64_t size() const { return rowPieces * colPieces * valuesPerPiece(); }

  /// Position in the share of (row piece, column piece, half, e).
  int64_t at(int64_t m, int64_t n, int64_t half, int64_t e = 0) const {
    int64_t piece = m * colPieces + n;
    if (kind == Kind::Tile && !packed)
      return piece * 4 + half * 2 + e;
    return piece * 2 + half;
  }
  /// Position of the row (row piece, half) in a Row or Partial share.
  static int64_t row(int64_t m, int64_t half) { return m * 2 + half; }
};

/// Placement of 16-byte chunks in a 16-bit tile in workgroup memory: what is
/// XORed to the chunk of row r is f(r) = (r / rowsPerLine) mod span, which
/// LaneEmitter::flipOf computes.
struct ChunkSwizzle {
  int64_t chunksPerRow; ///< a power of two

  /// The number of chunks that differ under the XOR.
  int64_t span() const { return std::min<int64_t>(chunksPerRow, 8); }
  /// Rows in a 128-byte line.
  int64_t rowsPerLine() const { return std::max<int64_t>(1, 8 / chunksPerRow); }
};

/// Descriptors have addresses and distances in so many bytes.
inline constexpr int64_t kDescriptorUnit = 16;

/// An operand of wgmma, a tile in panels of 16-bit elements.
struct PanelOperand {
  int64_t panelBytes; ///< from one panel to the next
  bool isKMajor;      ///< whether its rows are contiguous in k

  /// Its descriptor without the address.
  int64_t getDescriptorBits() const;
  /// Bytes from its start to its step number `step` of 16 of k.
  int64_t getStepBytes(int64_t step) const;
};

} // namespace mlir::fa

#endif // FA_GPU_MMA_MMALAYOUT_H
