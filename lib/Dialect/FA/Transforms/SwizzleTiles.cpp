//===- SwizzleTiles.cpp - tiles without bank conflicts ----------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pass of the map stage. A matrix load reads 16 bytes from each of eight
// rows at once; with rows of 128 bytes they would all meet the same four banks
// of workgroup memory. Tiles are therefore stored with the 16-byte chunks of a
// row in an order that depends on the row's number (chunk XOR row), which
// needs a number of chunks that is a power of two. Here the tiles are marked
// and their rows widened to that; the distribute stage computes addresses.
//===----------------------------------------------------------------------===//

#include "TileProgram.h"
#include "fa/Dialect/FA/Transforms/AttributeNames.h"
#include "fa/Dialect/FA/Transforms/Passes.h"
#include "fa/Target/TargetInfo.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::fa {
#define GEN_PASS_DEF_FASWIZZLETILES
#include "fa/Dialect/FA/Transforms/Passes.h.inc"
} // namespace mlir::fa

using namespace mlir;
using namespace mlir::fa;

namespace {

/// Whether a buffer is filled by copies and read by contractions.
bool isMatrixTile(memref::AllocOp alloc) {
  MemRefType type = alloc.getType();
  return isInWorkgroupMemory(type) && type.getRank() >= 2 &&
         type.getElementType().isIntOrFloat() &&
         llvm::any_of(alloc->getUsers(), llvm::IsaPred<CopyTileOp>);
}

/// Whether a product reads the tile by itself.
bool isReadByProducts(memref::AllocOp alloc) {
  return llvm::any_of(alloc->getUsers(), llvm::IsaPred<IssueProductOp>);
}

/// What lies in another order may only be touched by ops that know it.
LogicalResult verifyUsers(memref::AllocOp alloc) {
  if (!alloc.getType().getLayout().isIdentity())
    return alloc.emitOpError("is a tile of type ")
           << alloc.getType() << "; only contiguous tiles are swizzled";
  for (Operation *user : alloc->getUsers())
    if (!isa<CopyTileOp, BulkCopyOp, LoadTileOp, StoreTileOp, BulkStoreOp,
             IssueProductOp, memref::DeallocOp>(user))
      return user->emitOpError("uses a swizzled tile; only tile ops know its "
                               "order");
  return success();
}

void swizzle(memref::AllocOp alloc) {
  MemRefType type = alloc.getType();
  SmallVector<int64_t> shape(type.getShape());
  bool hasPanels = isReadByProducts(alloc);
  if (hasPanels)
    shape.back() = llvm::alignTo(
        shape.back(), kPanelBytes * 8 / type.getElementTypeBitWidth());
  else
    shape.back() = llvm::PowerOf2Ceil(shape.back());
  alloc.getResult().setType(MemRefType::get(
      shape, type.getElementType(), type.getLayout(), type.getMemorySpace()));
  alloc->setAttr(hasPanels ? kPanelsAttr : kSwizzleAttr,
                 UnitAttr::get(alloc.getContext()));
}

struct FASwizzleTiles : public fa::impl::FASwizzleTilesBase<FASwizzleTiles> {
  void runOnOperation() override {
    auto swizzleTiles = [](scf::ForallOp program,
                           const CompleteSchedule &) -> LogicalResult {
      for (auto alloc : program.getBody()->getOps<memref::AllocOp>())
        if (isMatrixTile(alloc)) {
          if (failed(verifyUsers(alloc)))
            return failure();
          swizzle(alloc);
        }
      return success();
    };
    if (failed(forEachTileProgram(getOperation(), swizzleTiles)))
      signalPassFailure();
  }
};

} // namespace
