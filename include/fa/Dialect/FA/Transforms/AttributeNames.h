//===- AttributeNames.h - what the stages leave on the IR -------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The discardable attributes by which one stage speaks to a later one. They
// carry facts that no type or op can: nothing is recomputed from them.
//===----------------------------------------------------------------------===//

#ifndef FA_DIALECT_FA_TRANSFORMS_ATTRIBUTENAMES_H
#define FA_DIALECT_FA_TRANSFORMS_ATTRIBUTENAMES_H

#include "llvm/ADT/StringRef.h"

namespace mlir::fa {

/// Module: the name of the target, "sm_80". Set by the tile stage.
inline constexpr llvm::StringLiteral kTargetAttr = "fa.target";

/// Function: an array of dictionaries {role, kind, type, dims}, one for each
/// argument, inputs first, then the results; `also` lists {role, dims} of its
/// further roles, `broadcasts` marks a bias or mask, `shortens` names the
/// extent of which lengths are a beginning. Set by the tile stage.
inline constexpr llvm::StringLiteral kOperandsAttr = "fa.operands";

/// Function: a dictionary {scale, softcap, score, masks, visible, dropout,
/// layout, empty_row, schedule}: what its op meant. Set by the tile stage.
inline constexpr llvm::StringLiteral kAttentionAttr = "fa.attention";

/// Function: the text of the op that it held. Set by the tile stage.
inline constexpr llvm::StringLiteral kSourceAttr = "fa.source";

/// Function: why its attention cannot be launched from outside with the
/// function's arguments, in words. Set by the tile stage.
inline constexpr llvm::StringLiteral kNoEntryAttr = "fa.no_entry";

/// Argument of a function: the buffer, or the row, of the state trace.
inline constexpr llvm::StringLiteral kTraceAttr = "fa.trace";

/// Argument of a function: the extents that its type stated before those of 0
/// were opened. Set by the tile stage.
inline constexpr llvm::StringLiteral kShapeAttr = "fa.shape";

/// Argument of a function: a region reads it and makes nothing of it. Set by
/// the tile stage, which erases what is read in vain.
inline constexpr llvm::StringLiteral kReadInVainAttr = "fa.read_in_vain";

/// scf.forall of a tile program: its complete #fa.schedule.
inline constexpr llvm::StringLiteral kScheduleAttr = "fa.schedule";

/// In a tile program whose iterations have one number: the values that say
/// which batch (0), head (1) and block of rows (2) it is. Set by the tile
/// stage.
inline constexpr llvm::StringLiteral kPlaceAttr = "fa.place";

/// scf.for over K/V blocks: "full" (no mask code), "partial", or "exact"
/// (masks, and scores of any size).
inline constexpr llvm::StringLiteral kBlocksAttr = "fa.blocks";
inline constexpr llvm::StringLiteral kFullBlocks = "full";
inline constexpr llvm::StringLiteral kPartialBlocks = "partial";
inline constexpr llvm::StringLiteral kExactBlocks = "exact";

/// scf.for over full blocks: single keys of them may be hidden nevertheless, by
/// what is not asked block by block.
inline constexpr llvm::StringLiteral kHidingAttr = "fa.hiding";

/// scf.for in a role of a persistent program: over the tiles of the output that
/// a block of threads does. Set by fa-specialize-warps.
inline constexpr llvm::StringLiteral kTilesAttr = "fa.tiles";

/// memref.alloc, later memref.view: rows of a power of two, their 16-byte
/// chunks stored in an order that depends on the row. Set by fa-swizzle-tiles.
inline constexpr llvm::StringLiteral kSwizzleAttr = "fa.swizzle";

/// The same: columns cut into panels of 128 bytes, one behind the other, each
/// with its rows swizzled as wgmma and tensor maps do. Set by fa-swizzle-tiles.
inline constexpr llvm::StringLiteral kPanelsAttr = "fa.panels";

/// gpu.func: the manifest's parameters, grid and shared bytes, and the cluster
/// where there is one; the block is `known_block_size`. Set by the map stage.
inline constexpr llvm::StringLiteral kParametersAttr = "fa.parameters";
inline constexpr llvm::StringLiteral kGridAttr = "fa.grid";
inline constexpr llvm::StringLiteral kClusterAttr = "fa.cluster";
inline constexpr llvm::StringLiteral kSharedBytesAttr = "fa.shared_bytes";

} // namespace mlir::fa

#endif // FA_DIALECT_FA_TRANSFORMS_ATTRIBUTENAMES_H
