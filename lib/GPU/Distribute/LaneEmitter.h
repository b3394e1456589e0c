//===- LaneEmitter.h - a warp's values to a lane's share --------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The engine of fa-distribute. It walks a kernel once, in order. Each value of
// vector type becomes the list of values that one lane holds of it (LaneShare,
// MMALayout.h); the type alone decides the layout, so block arguments need no
// annotation. Ops without vectors stay where they are. Each family of ops has
// a file of its own: Elementwise, Exponentials, Reduction, Contraction,
// FmaContraction, GlobalTile, WorkgroupTile, CopyTile, WarpRoles,
// WarpgroupProduct; LateTiles has what is emitted element by element.
//===----------------------------------------------------------------------===//

#ifndef FA_LIB_GPU_DISTRIBUTE_LANEEMITTER_H
#define FA_LIB_GPU_DISTRIBUTE_LANEEMITTER_H

#include "fa/Dialect/FA/IR/FADialect.h"
#include "fa/GPU/MMA/MMALayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::fa {

/// A memref as addresses: element (i0, i1, ...) is at
/// base + (i0 * strides[0] + i1 * strides[1] + ...) elements.
struct TileAddress {
  Value base;                 ///< !llvm.ptr<1> or !llvm.ptr<3>
  SmallVector<Value> sizes;   ///< i64
  SmallVector<Value> strides; ///< i64
  MemRefType type;            ///< for the static extents
  bool swizzled = false;      ///< chunks placed by ChunkSwizzle
  bool inPanels = false;      ///< columns in panels, each swizzled
};

/// Whether all users of a workgroup tile are contractions beside the load, so
/// that they read it by ldmatrix themselves.
bool isReadByContraction(LoadTileOp load);

/// Whether a load names a vector that ldmatrix can give: rank 2, rows and
/// columns multiples of 16. An error when not.
LogicalResult verifyMatrixTile(LoadTileOp load);

/// Gives each contraction its own load. Where K and V are one tensor, one load
/// may stand for both; what is emitted for the first contraction would part it
/// from the second.
void loadTilesAtContractions(gpu::GPUFuncOp kernel);

class LaneEmitter {
public:
  /// `target` may be null: then no instruction is asked for.
  LaneEmitter(gpu::GPUFuncOp func, const TargetInfo *target);

  /// Rewrites the whole kernel; diagnostics name the op that has no rule.
  LogicalResult run();

private:
  using Values = SmallVector<Value>;
  /// Numbers of this thread, i64.
  struct ThreadNumbers {
    Value thread, lane, quad, quadLane; ///< tid, tid % 32, lane / 4, lane % 4
  };

  // Structure (LaneEmitter.cpp).
  LogicalResult verifyBlockSize();
  LogicalResult emitBlock(Block &block);
  LogicalResult verifyOp(Operation *op);
  LogicalResult emitOp(Operation *op);
  LogicalResult emitOther(Operation *op);
  LogicalResult emitFor(scf::ForOp op);
  LogicalResult emitIf(scf::IfOp op);
  LogicalResult emitYield(scf::YieldOp op);
  /// The lane's values of `value`: itself when it is no vector.
  Values shareOf(Value value);
  FailureOr<LaneShare> layoutOf(Operation *op, Value value);
  void expandTypes(TypeRange types, SmallVectorImpl<Type> &expanded);
  void expandValues(ValueRange values, SmallVectorImpl<Value> &expanded);
  /// Takes the lane's values of `originals` from the front of `expanded`.
  void collectValues(ValueRange originals, ValueRange expanded);
  void replaceWithShare(Operation *op, Values share);

  // Elementwise.cpp
  LogicalResult emitConstant(arith::ConstantOp op);
  LogicalResult emitElementwise(Operation *op);
  LogicalResult emitColumnCompare(arith::CmpIOp op);
  LogicalResult emitPositionDifference(arith::SubFOp op);
  LogicalResult emitBroadcast(vector::BroadcastOp op);
  LogicalResult emitShapeCast(vector::ShapeCastOp op);
  LogicalResult emitTileIndex(TileIndexOp op);
  Values repack(const LaneShare &from, const LaneShare &to, Values values);

  /// Whether an op on the columns of a tile is written with constants for them.
  static bool comparesColumns(Operation *op);

  // Exponentials.cpp
  LogicalResult emitExp2(Exp2Op op);

  // LateTiles.cpp
  /// A tile whose elements are emitted one by one, where they are used.
  struct LateTile {
    Operation *op;
    LaneShare scalars;  ///< its share, not packed
    TileAddress source; ///< of a load
    Values rows;        ///< of a load of a tile: an address for each row
    Values elements;    ///< null as long as nobody asked
    ThreadNumbers me;   ///< as they were where a load of a tile stands
  };
  bool mayBeLate(Operation *op) const;
  void postpone(Operation *op, LateTile tile);
  LogicalResult postpone(Operation *op);
  /// Element i of the share, as a scalar; `value` itself when it is no vector.
  Value elementOf(Value value, int64_t i);
  Value emitElement(Operation *op, Type type, int64_t i);
  /// Emits what is not there yet of a late tile.
  void settle(Value value);
  void settleBefore(Operation *op);
  void readBehind(ArrayRef<Value> results);

  // Reduction.cpp
  LogicalResult emitReduction(vector::MultiDimReductionOp op);
  LogicalResult emitRowSum(RowSumOp op);
  LogicalResult emitNoteRows(NoteRowsOp op);
  LogicalResult emitRowReduction(vector::MultiDimReductionOp op);
  /// Combines `value` over the four lanes of a quad.
  Value reduceQuad(vector::CombiningKind kind, Value value);

  /// Refuses an instruction that the target has not, by its name.
  LogicalResult require(bool TargetInfo::*promise, Operation *user,
                        StringRef instruction);

  // Contraction.cpp
  LogicalResult emitContraction(vector::ContractionOp op);
  /// A tile in workgroup memory that products read, a chunk at a time.
  struct MatrixSource {
    Value origin; ///< address of row 0, chunk 0 of the tile
    int64_t pitchBytes;
    ChunkSwizzle swizzle;
    Type element;
  };
  LogicalResult verifyContraction(vector::ContractionOp op);
  /// The load behind an operand that the contraction reads itself.
  LoadTileOp fusedLoad(Value operand);
  FailureOr<MatrixSource> matrixSource(LoadTileOp load);
  /// Four registers: the 16x16 block at (row, chunk). `rowsAreColumns` pairs
  /// the 8x8 matrices as B of an operand whose rows are n needs them.
  Values loadMatrix(const MatrixSource &source, int64_t row, int64_t chunk,
                    bool rowsAreColumns, bool transpose);
  SmallVector<Values> leftRegisters(const LaneShare &lhs, const Values &share,
                                    const MatrixSource *tile, int64_t k);
  Values emitMmaProducts(const LaneShare &lhs, const LaneShare &acc,
                         const Values &share, const MatrixSource *left,
                         const MatrixSource &right, bool isTransposed,
                         Values d);

  // WarpRoles.cpp
  LogicalResult emitWarpRoles(WarpRolesOp op);
  LogicalResult emitRolesTogether(WarpRolesOp op, unsigned begin, unsigned end);
  LogicalResult emitRole(WarpRolesOp op, unsigned role, Block &body);
  Block *branchForWarps(Value number, int64_t unit, int64_t first, int64_t end);
  LogicalResult emitAnyNoted(AnyNotedOp op);
  LogicalResult emitInitBarriers(InitBarriersOp op);
  LogicalResult emitArrive(ArriveOp op);
  LogicalResult emitWaitBarrier(WaitBarrierOp op);
  LogicalResult emitHasTensorMap(HasTensorMapOp op);
  LogicalResult emitBulkCopy(BulkCopyOp op);
  LogicalResult emitClusterBarrier(ClusterBarrierOp op);
  LogicalResult emitBulkStore(BulkStoreOp op);
  void forEachPanel(MemRefType type, int64_t panels, Value address,
                    MutableArrayRef<Value> coordinates,
                    function_ref<void(Value)> emit);
  LogicalResult emitTurn(TurnOp op);
  LogicalResult emitWarpgroupBarrier(WarpgroupBarrierOp op);
  /// The warpgroup's number, i32.
  Value warpgroup();
  /// Address of one of an array of barriers, an i32.
  FailureOr<Value> barrierAt(Operation *user, Value barriers, Value index);
  Value isFirstLane();
  /// The address (i32) of an element of workgroup memory by its leading
  /// indices. In 32 bits throughout: half the instructions.
  Value sharedAddress(const TileAddress &address, ValueRange leading);
  Value toI32(Value index);

  // WarpgroupProduct.cpp
  LogicalResult emitIssueProduct(IssueProductOp op);
  Values accumulatorsOf(IssueProductOp op);
  void fenceRegisters(Location loc, Values &acc, Values &weights);
  LogicalResult emitWaitProducts(WaitProductsOp op);
  LogicalResult emitPanelStore(StoreTileOp op);
  /// A tile in panels, as a matrix descriptor takes it.
  struct PanelTile {
    Value address;      ///< of the tile's first element, i32
    int64_t panelBytes; ///< from one panel to the next
    Type element;
  };
  FailureOr<PanelTile> panelTile(Operation *user, Value memref,
                                 ValueRange indices);

  // FmaContraction.cpp
  Values emitRowProducts(const LaneShare &lhs, const LaneShare &acc,
                         const MatrixSource &left, const MatrixSource &right,
                         Values d);
  Values emitWeightedRows(const LaneShare &lhs, const LaneShare &acc,
                          const Values &weights, const MatrixSource &right,
                          Values d);
  Value chunkAt(Value base, Value chunk, Value flip);

  // GlobalTile.cpp
  LogicalResult emitLoadTile(LoadTileOp op);
  Values loadShare(const TileAddress &source, const LaneShare &scalars,
                   ValueRange first);
  LogicalResult emitEachRow(LoadTileOp op, const TileAddress &source,
                            const LaneShare &scalars,
                            SmallVector<Value> indices);
  LogicalResult emitMatrixLoad(LoadTileOp op);
  LogicalResult emitStoreTile(StoreTileOp op);
  Value isPlaneInside(const TileAddress &dest, ValueRange indices);
  LogicalResult emitGather(GatherOp op);
  LogicalResult emitMinMax(MinMaxOp op);
  LogicalResult emitScalarLoad(memref::LoadOp op);
  LogicalResult emitTraceState(TraceStateOp op);
  /// An i1 takes a byte.
  Value loadElement(Type type, Value address);
  Value loadClamped(const TileAddress &source, ValueRange indices);
  Values nearestRows(LoadTileOp op, const TileAddress &source,
                     const LaneShare &scalars, ValueRange first);
  void emitLateElement(LoadTileOp op, LateTile &tile, int64_t i);
  Value emitGathered(GatherOp op, const TileAddress &source, int64_t i);
  LogicalResult emitPairsAligned(PairsAlignedOp op);
  /// Two neighbours at once.
  std::pair<Value, Value> loadPair(Type type, Value address);
  LogicalResult storeRows(StoreTileOp op, const TileAddress &dest,
                          ValueRange firstIndices);
  void storeTileRow(const TileAddress &dest, Value rowBase, Value firstCol,
                    ValueRange pieces, bool paired);
  /// Whether two neighbouring columns may be stored at once.
  Value pairAligned(const TileAddress &address);

  // WorkgroupTile.cpp
  FailureOr<TileAddress> resolve(Operation *user, Value memref);
  /// The same for an op that knows nothing of the swizzle.
  FailureOr<TileAddress> resolvePlain(Operation *user, Value memref);
  /// Refuses a place that is not known to lie inside a workgroup tile, `tile`
  /// long in its last dimensions.
  LogicalResult verifyInside(Operation *user, MemRefType memref,
                             ValueRange indices, ArrayRef<int64_t> tile);
  /// The same, computed at the place of `user`: an address that is seldom
  /// needed is not kept in registers during a loop.
  FailureOr<TileAddress> resolveAt(Operation *user, Value memref,
                                   IRMapping &mapping);
  LogicalResult resolveView(ViewOp op, TileAddress &address);
  LogicalResult resolveSubView(memref::SubViewOp op, const TileAddress &source,
                               TileAddress &address,
                               function_ref<Value(Value)> compute);
  LogicalResult resolveWorkgroup(memref::ViewOp op, TileAddress &address);
  LogicalResult emitTransferRead(vector::TransferReadOp op);
  LogicalResult emitTransferWrite(vector::TransferWriteOp op);
  LogicalResult verifyTransfer(VectorTransferOpInterface op);

  // CopyTile.cpp
  LogicalResult emitCopyTile(CopyTileOp op);
  LogicalResult emitCopyAligned(CopyAlignedOp op);
  LogicalResult verifyCopy(CopyTileOp op, const TileAddress &source,
                           const TileAddress &dest);
  struct CopyPlan;
  void placeThread(CopyPlan &plan, Value thread);
  void emitInBoundsCopy(CopyPlan plan);
  void emitBoundedCopy(CopyPlan plan);
  void emitPanelCopy(CopyPlan plan, int64_t panels);
  Value columnOf(const CopyPlan &plan, Value i);
  void emitElementCopy(const CopyPlan &plan, Value row, Value inside,
                       Value dest);
  void emitRow(const CopyPlan &plan, Value row);
  Value copyAligned(Value memref, const TileAddress &address);

  // Small arithmetic, i64 unless said otherwise.
  Value constant(int64_t value);
  Value constantI32(int64_t value);
  Value zero(Type type);
  Value add(Value a, Value c);
  Value mul(Value a, Value c);
  Value less(Value a, Value c); ///< signed
  Value toI64(Value index);
  /// base + bytes.
  Value offset(Value base, Value bytes);
  Value offset(Value base, int64_t bytes);
  /// base + index * stride elements.
  Value element(const TileAddress &address, ValueRange indices);
  /// Row within the warp's tile: 16 m + 8 half + g.
  Value rowOf(int64_t m, int64_t half);
  /// Column within the tile: 8 n + 2 t + e.
  Value columnOf(int64_t n, int64_t e);

  /// f(row) of the swizzle. Eight rows further it is the same.
  Value flipOf(const ChunkSwizzle &swizzle, Value row);
  /// Where a chunk lies in its row, in bytes: chunk XOR f(row).
  Value placeOf(Value chunk, Value flip);

  gpu::GPUFuncOp func;
  const TargetInfo *target;
  ImplicitLocOpBuilder b;
  /// Threads that run what is being emitted, the block's or those of a role,
  /// and the number of the first of them.
  int64_t numThreads = 0, firstThread = 0;
  /// Warps that meet at a barrier of the block.
  int64_t meetingWarps = 0;
  ThreadNumbers numbersOf(Value thread);
  /// This thread's number, read anew (createOpaqueRead).
  Value readThread();
  /// Scalar arithmetic on the numbers of block and thread, but for divisions,
  /// repeated here from numbers that are read anew.
  Value computeAnew(Value value, IRMapping &mapping);
  /// The numbers that are in use where code is emitted: those read at the top
  /// of the kernel, or anew (createOpaqueRead).
  ThreadNumbers me, atTop;
  DenseMap<Value, Values> shares;
  llvm::MapVector<Value, LateTile> late;
  DenseMap<Value, TileAddress> addresses;
  DenseMap<Value, Value> alignedFlags;
  DenseMap<Value, Value>
      arenas; ///< pointer of each arena, by memref.get_global
  /// Offsets that depend on the lane only, by (rowsAreColumns, pitch, chunk).
  DenseMap<std::tuple<int64_t, int64_t, int64_t>, Value> laneOffsets;
  /// Loads that a contraction reads itself.
  SmallPtrSet<Operation *, 8> fusedLoads;
  /// What is erased at the end, users before what they use.
  SmallVector<Operation *> dead;
  SmallVector<std::pair<Block *, unsigned>> staleArguments;
};

} // namespace mlir::fa

#endif // FA_LIB_GPU_DISTRIBUTE_LANEEMITTER_H
