//===- SelectSchedule.cpp - a complete schedule that fits -------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The choice is a table of preferred tiles by head dimension, from which the
// first one that fits the target is taken, smaller tiles coming later. The
// resource model below is the same for a choice and for a user's schedule.
//
// Shared memory: rows of a 16-bit tile have a pitch of the next power of two,
// so that they can be swizzled. Registers: u and the scores of a block are
// spread over the lanes of a warp; what else a loop needs (addresses, fragments
// of K and V, bounds) is taken as a constant. The model refuses what cannot
// fit; it does not promise that an assembler never spills. Of the tiles that
// fit the choice takes the first that leaves room for what the clauses of the
// op need beside; a schedule that is given is not refused for them.
//
// Exponentials by polynomial are chosen where fa/Target/LoopModel.h shows a
// gain, which is nowhere on the targets served (docs/Rationale.md).
//
//===----------------------------------------------------------------------===//

#include "AttentionFacts.h"
#include "ClauseRegisters.h"
#include "WorkgroupArena.h"
#include "fa/Dialect/FA/IR/AttentionSupport.h"
#include "fa/Dialect/FA/IR/FADialect.h"
#include "fa/Dialect/FA/Transforms/AttributeNames.h"
#include "fa/Dialect/FA/Transforms/Passes.h"
#include "fa/Dialect/FA/Transforms/Transforms.h"
#include "fa/Support/Manifest.h"
#include "fa/Support/TensorMap.h"
#include "fa/Target/LoopModel.h"
#include "fa/Target/TargetInfo.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::fa {
#define GEN_PASS_DEF_FASELECTSCHEDULE
#include "fa/Dialect/FA/Transforms/Passes.h.inc"
} // namespace mlir::fa

using namespace mlir;
using namespace mlir::fa;

/// Registers of a thread beside u, scores, rows and Q: addresses, bounds,
/// fragments of K and V in flight.
static constexpr int64_t kOtherRegisters = 24;

namespace {

/// A complete schedule as numbers.
struct Plan {
  int64_t tileQ, tileKV, warps, stages, splits;
  StateKind state;
  QueryKind query;
  int64_t producers; ///< 0, or a warpgroup beside those of `warps`
  bool pingpong, persistent;
  int64_t cluster; ///< blocks of threads that share K and V
};

/// The head dimensions as tensor-core products see them.
struct HeadDims {
  int64_t d, dv, bytesPerElement;
};

struct Resources {
  int64_t sharedBytes, registersPerThread;
};

} // namespace

//===----------------------------------------------------------------------===//
// The resource model
//===----------------------------------------------------------------------===//

/// Rows of a power of two, or whole panels.
static int64_t getPitchBytes(const Plan &plan, int64_t columns,
                             int64_t bytesPerElement) {
  if (plan.producers != 0)
    return llvm::alignTo(columns * bytesPerElement, kPanelBytes);
  return static_cast<int64_t>(llvm::PowerOf2Ceil(columns)) * bytesPerElement;
}

/// The bytes of a barrier.
static constexpr int64_t kBarrierBytes = 8;

/// The buffers in the order in which the passes before MapToGPU allocate them:
/// m, l and u, then Q, K and V. Each ring of warpgroups has an array of
/// barriers for full and one for empty stages, and in a cluster both again for
/// blocks that one of its blocks of threads does alone; Q is emptied only where
/// another tile follows.
static int64_t getSharedBytes(const Plan &plan, const HeadDims &dims) {
  WorkgroupArena arena;
  // Sizes of keys are bounded: all can be counted.
  auto add = [&](int64_t bytes, int64_t alignment = kBufferAlignment) {
    (void)arena.add(bytes, alignment);
  };
  bool hasRings = plan.producers != 0;
  int64_t tileAlignment = hasRings ? kPanelAlignment : kBufferAlignment;
  int64_t keyPitch = getPitchBytes(plan, dims.d, dims.bytesPerElement);
  int64_t valuePitch = getPitchBytes(plan, dims.dv, dims.bytesPerElement);
  if (plan.state == StateKind::Shared)
    for (int64_t columns : {int64_t(1), kLanesPerRow, dims.dv})
      add(plan.tileQ * columns * 4);
  for (int n = 0; hasRings && n < (plan.persistent ? 2 : 1); ++n)
    add(kBarrierBytes);
  add(plan.tileQ * keyPitch, tileAlignment);
  for (int64_t pitch : {keyPitch, valuePitch}) {
    add(plan.stages * plan.tileKV * pitch, tileAlignment);
    for (int n = 0; hasRings && n < (plan.cluster > 1 ? 4 : 2); ++n)
      add(plan.stages * kBarrierBytes);
  }
  return arena.getBytes();
}

/// What a plan needs on this target.
static Resources estimateResources(const Plan &plan, const HeadDims &dims) {
  Resources need;
  need.sharedBytes = getSharedBytes(plan, dims);

  int64_t rows = plan.tileQ / plan.warps;
  int64_t acc = rows * dims.dv / kWarpSize;
  int64_t scores = rows * plan.tileKV / kWarpSize;
  // m, l and the two factors of each of a lane's rows.
  int64_t perRow = 4 * rows * kLanesPerRow / kWarpSize;
  // With the state in shared memory u is fetched when the scores have become
  // weights of the size of the operands.
  int64_t weights = scores * dims.bytesPerElement / 4;
  int64_t peak = plan.state == StateKind::Shared
                     ? std::max(scores, weights + acc)
                     : scores + acc;
  // The weights of the block before are multiplied meanwhile.
  if (plan.producers != 0 && plan.state == StateKind::Registers)
    peak += weights;
  int64_t query = plan.query == QueryKind::Registers
                      ? rows * dims.d * dims.bytesPerElement / 4 / kWarpSize
                      : 0;
  need.registersPerThread = peak + perRow + query + kOtherRegisters;
  return need;
}

/// Registers that each thread of a block of so many warps may have.
static int64_t getAvailableRegisters(const Plan &plan,
                                     const TargetInfo &target) {
  int64_t warps = plan.warps;
  if (plan.producers != 0)
    return getRegisterShares(warps / kWarpsPerWarpgroup).consumer;
  return std::min(getLaunchRegisters(warps * kWarpSize),
                  target.maxRegistersPerThread);
}

/// Registers that one product of a warpgroup needs beside its accumulators.
static constexpr int64_t kProductRegisters = 26;

/// What of a plan warpgroups cannot take, each as a sentence's end. There are
/// one to three of 64 rows each, and tiles are what boxes and products take. A
/// single product must do with the registers that the block is launched with,
/// before roles have shares of their own.
static SmallVector<std::string> whyNotByWarpgroups(const Plan &plan) {
  SmallVector<std::string> reasons;
  auto refuse = [&](const Twine &reason) { reasons.push_back(reason.str()); };
  int64_t threads = (plan.warps + plan.producers) * kWarpSize;
  int64_t launched =
      getRegisterShares(plan.warps / kWarpsPerWarpgroup).launched;
  int64_t product = plan.tileKV / 2 + kProductRegisters;
  bool areWarpgroups = plan.warps % kWarpsPerWarpgroup == 0 &&
                       plan.warps <= 3 * kWarpsPerWarpgroup;
  if (!areWarpgroups || plan.tileQ != kProductRows * plan.warps)
    refuse("with producers one, two or three warpgroups have " +
           Twine(kWarpgroupRows) + " rows each, found " + Twine(plan.tileQ) +
           " rows of " + Twine(plan.warps) +
           (plan.warps == 1 ? " warp" : " warps"));
  if (plan.query != QueryKind::Shared)
    refuse("with producers Q stays in shared memory, found query = " +
           stringifyQueryKind(plan.query));
  if (plan.tileKV > farun::kMaxTensorBox)
    refuse("a box has at most " + Twine(farun::kMaxTensorBox) +
           " keys, found " + Twine(plan.tileKV));
  // No other number of threads is launched.
  if (areWarpgroups && product > launched)
    refuse("a product of " + Twine(plan.tileKV) + " keys needs " +
           Twine(product) + " registers a thread, " + Twine(threads) +
           " threads are launched with " + Twine(launched));
  if (plan.pingpong && plan.warps == kWarpsPerWarpgroup)
    refuse("pingpong needs two or three warpgroups, found one");
  if (plan.pingpong && plan.state != StateKind::Registers)
    refuse("pingpong needs state = registers, found " +
           stringifyStateKind(plan.state));
  if (plan.cluster > 1 && plan.persistent)
    refuse("cluster = " + Twine(plan.cluster) +
           " needs persistent = false, found true: a persistent block goes "
           "from tile to tile by itself");
  return reasons;
}

/// The same for cp.async: each thread copies 16 bytes, and those of a block
/// whole rows together. Rows are powers of two, so the longest one decides.
static SmallVector<std::string> whyNotByLanes(const Plan &plan,
                                              const HeadDims &dims) {
  int64_t bytes =
      getPitchBytes(plan, std::max(dims.d, dims.dv), dims.bytesPerElement);
  int64_t threads = plan.warps * kWarpSize, needed = bytes / kChunkBytes;
  if (threads % needed == 0)
    return {};
  return {("a row of " + Twine(bytes) + " bytes is copied by " + Twine(needed) +
           " threads, " + Twine(kChunkBytes) + " bytes each, found " +
           Twine(threads) + " threads")
              .str()};
}

/// What of a plan the stages behind cannot take, whatever there is of memory
/// and registers.
static SmallVector<std::string> whyNot(const Plan &plan, const HeadDims &dims) {
  return plan.producers != 0 ? whyNotByWarpgroups(plan)
                             : whyNotByLanes(plan, dims);
}

/// Registers of a thread that a plan leaves; fewer than 0 where it lacks some.
static int64_t getFreeRegisters(const Plan &plan, const HeadDims &dims,
                                const TargetInfo &target) {
  return getAvailableRegisters(plan, target) -
         estimateResources(plan, dims).registersPerThread;
}

static bool fits(const Plan &plan, const HeadDims &dims,
                 const TargetInfo &target) {
  return whyNot(plan, dims).empty() &&
         plan.tileQ % (kProductRows * plan.warps) == 0 &&
         estimateResources(plan, dims).sharedBytes <=
             target.maxDynamicSharedBytes &&
         getFreeRegisters(plan, dims, target) >= 0;
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

namespace {
struct TileChoice {
  int64_t tileQ, tileKV, warps;
};
} // namespace

/// Preferred tiles, best first. This is the one place to tune. At head dims up
/// to 64 a tile of 96 keys was the largest tried that ptxas kept in registers,
/// at 128 one of 32; a Q wider than V leaves room for 64 rows, and clauses for
/// fewer keys. docs/Benchmarks.md has the figures of what is picked.
static SmallVector<TileChoice> getPreferredTiles(const HeadDims &dims) {
  SmallVector<TileChoice> tiles;
  int64_t widest = std::max(dims.d, dims.dv);
  if (widest > 128)
    tiles.append({{64, 64, 4}, {64, 32, 4}, {64, 16, 4}});
  if (widest <= 64)
    tiles.append({{128, 96, 4}, {128, 64, 4}, {128, 48, 4}, {64, 96, 4}});
  else if (dims.d > 64 && dims.dv <= 64)
    tiles.push_back({64, 64, 4});
  tiles.append({{128, 32, 4},
                {64, 64, 4},
                {64, 32, 4},
                {64, 16, 4},
                {32, 32, 2},
                {32, 16, 2},
                {16, 16, 1}});
  return tiles;
}

/// The same for warpgroups with producers beside them: as many keys as scores,
/// weights and u leave registers for, and two stages shared memory.
static SmallVector<TileChoice>
getPreferredWarpgroupTiles(const HeadDims &dims) {
  int64_t widest = std::max(dims.d, dims.dv), most = 128;
  if (widest <= 64)
    most = 224;
  else if (widest <= 96)
    most = 192;
  else if (widest <= 128)
    most = 176;
  SmallVector<TileChoice> tiles;
  for (int64_t tileKV = most; tileKV >= 32; tileKV -= 16)
    tiles.push_back({128, tileKV, 8});
  tiles.append({{64, 64, 4}, {64, 32, 4}, {64, 16, 4}});
  return tiles;
}

/// The plans that keep the keys of `given` and the place of the state, best
/// first.
static void appendPlans(ScheduleAttr given, StateKind state,
                        const HeadDims &dims, SmallVectorImpl<Plan> &plans) {
  for (const TileChoice &tile : getPreferredTiles(dims)) {
    Plan plan;
    // Whole products for each warp, when the user says how many there are.
    int64_t unit = kProductRows * given.getWarps().value_or(1);
    int64_t rows = std::max(tile.tileQ / unit, int64_t(1)) * unit;
    plan.tileQ = given.getTileQ().value_or(rows);
    plan.tileKV = given.getTileKv().value_or(tile.tileKV);
    // So many warps that each has whole products, unless the user says.
    int64_t warps = std::min(tile.warps, plan.tileQ / kProductRows);
    while (warps > 1 && plan.tileQ % (kProductRows * warps) != 0)
      --warps;
    plan.warps = given.getWarps().value_or(std::max<int64_t>(warps, 1));
    plan.stages = given.getStages().value_or(2);
    plan.splits = given.getSplits().value_or(1);
    plan.state = state;
    plan.query = given.getQuery().value_or(QueryKind::Shared);
    plan.producers = 0;
    plan.pingpong = plan.persistent = false;
    plan.cluster = 1;
    plans.push_back(plan);
  }
}

/// The same with a warpgroup of producers: each consumer warp has 16 rows.
static void appendWarpgroupPlans(ScheduleAttr given, StateKind state,
                                 const HeadDims &dims,
                                 SmallVectorImpl<Plan> &plans) {
  for (const TileChoice &tile : getPreferredWarpgroupTiles(dims)) {
    Plan plan;
    plan.warps = given.getWarps().value_or(
        given.getTileQ() ? *given.getTileQ() / kProductRows : tile.warps);
    plan.tileQ = given.getTileQ().value_or(plan.warps * kProductRows);
    plan.tileKV = given.getTileKv().value_or(tile.tileKV);
    plan.stages = given.getStages().value_or(2);
    plan.splits = given.getSplits().value_or(1);
    plan.state = state;
    plan.query = given.getQuery().value_or(QueryKind::Shared);
    plan.producers = kWarpsPerWarpgroup;
    // Where a softmax is about as long as the products beside it.
    bool paysOff = plan.warps > kWarpsPerWarpgroup &&
                   state == StateKind::Registers &&
                   std::max(dims.d, dims.dv) <= 128;
    plan.pingpong = given.getPingpong().value_or(paysOff);
    plan.persistent = given.getPersistent().value_or(false);
    plan.cluster = given.getCluster().value_or(1);
    plans.push_back(plan);
  }
}

/// Whether a key asks for what only programs with producers have.
static bool needsProducers(ScheduleAttr given) {
  return given.getPingpong().value_or(false) ||
         given.getPersistent().value_or(false) ||
         given.getCluster().value_or(1) != 1;
}

/// The plans that keep the keys of `given`, best first: where the state fits
/// into registers in none, those that leave it in shared memory.
static SmallVector<Plan> enumeratePlans(ScheduleAttr given,
                                        const HeadDims &dims,
                                        const TargetInfo &target) {
  SmallVector<Plan> plans;
  bool mayProduce = target.hasWarpgroupProducts && dims.bytesPerElement == 2;
  for (int64_t producers : {kWarpsPerWarpgroup, int64_t(0)})
    for (StateKind state : {StateKind::Registers, StateKind::Shared}) {
      if (given.getState().value_or(state) != state ||
          given.getProducers().value_or(producers) != producers ||
          (needsProducers(given) && producers == 0))
        continue;
      if (producers == 0)
        appendPlans(given, state, dims, plans);
      else if (mayProduce)
        appendWarpgroupPlans(given, state, dims, plans);
    }
  return plans;
}

/// Columns of a product of a warpgroup above which it is wide.
static constexpr int64_t kWideColumns = 128;

static LaneShare getLaneShare(const Plan &plan, const HeadDims &dims) {
  ProductKind kind = plan.producers == 0      ? ProductKind::Warp
                     : dims.dv > kWideColumns ? ProductKind::WideWarpgroup
                                              : ProductKind::Warpgroup;
  int64_t rows = plan.tileQ / plan.warps;
  return {kind, rows * kLanesPerRow / kWarpSize, rows * plan.tileKV / kWarpSize,
          rows * dims.dv / kWarpSize, plan.cluster > 1};
}

/// The first plan that fits; of those that are like it but for the tile, the
/// first with room for the clauses of `op`, or else the one with most.
static std::optional<Plan> findPlan(AttentionOp op, ScheduleAttr given,
                                    const HeadDims &dims,
                                    const TargetInfo &target) {
  SmallVector<Plan> plans = enumeratePlans(given, dims, target);
  llvm::erase_if(plans,
                 [&](const Plan &plan) { return !fits(plan, dims, target); });
  if (plans.empty())
    return std::nullopt;
  const Plan *first = plans.begin(), *roomiest = nullptr;
  int64_t most = 0;
  for (const Plan &plan : plans) {
    if (plan.producers != first->producers || plan.state != first->state)
      continue;
    int64_t room = getFreeRegisters(plan, dims, target) -
                   getClauseRegisters(op, getLaneShare(plan, dims));
    if (room >= 0)
      return plan;
    if (!roomiest || room > most) {
      roomiest = &plan;
      most = room;
    }
  }
  return *roomiest;
}

//===----------------------------------------------------------------------===//
// Refusals
//===----------------------------------------------------------------------===//

/// Kernels read and write global memory.
static LogicalResult checkMemorySpaces(AttentionOp op) {
  if (!op.isMemRefForm())
    return success();
  SmallVector<AttentionOperand> operands = op.getShapedOperands();
  for (Region &region : op->getRegions()) {
    if (region.empty())
      continue;
    for (Operation *inner : getNeededOps(region))
      for (Value table : inner->getOperands())
        if (isa<MemRefType>(table.getType()))
          operands.push_back({"table of a region", table, {}});
  }
  for (const AttentionOperand &operand : operands) {
    Attribute space =
        cast<MemRefType>(operand.value.getType()).getMemorySpace();
    auto gpuSpace = dyn_cast_or_null<gpu::AddressSpaceAttr>(space);
    auto number = dyn_cast_or_null<IntegerAttr>(space);
    bool isGlobal =
        !space ||
        (gpuSpace && gpuSpace.getValue() == gpu::AddressSpace::Global) ||
        (number && number.getInt() <= 1);
    if (!isGlobal)
      return op.emitOpError("the ")
             << operand.role << " is in memory space " << space
             << ", accepted are the default one, 1 and "
                "#gpu.address_space<global>";
  }
  return success();
}

/// Keys of programs with producers, of which there is one: what they need.
static LogicalResult checkProducerKeys(AttentionOp op, ScheduleAttr given,
                                       const TargetInfo &target) {
  bool isCluster = given.getCluster().value_or(1) != 1;
  if (isCluster && !target.hasClusters)
    return op.emitOpError("schedule key cluster = ")
           << *given.getCluster() << " needs clusters of blocks of threads, "
           << "which are not on " << target.name;
  StringRef key = given.getPersistent().value_or(false) ? "persistent = true"
                  : given.getPingpong().value_or(false) ? "pingpong = true"
                  : isCluster                           ? "cluster = 2"
                                                        : "producers = 4";
  if (!target.hasWarpgroupProducts ||
      getElementTypeOrSelf(op.getQuery()).isF32())
    return op.emitOpError("schedule key ")
           << key << " needs wgmma of f16 or bf16, "
           << (target.hasWarpgroupProducts ? "found operands of f32 on "
                                           : "which is not on ")
           << target.name;
  if (needsProducers(given) && given.getProducers() == 0)
    return op.emitOpError("schedule key ")
           << key << " needs producers = 4, found 0";
  return success();
}

/// Keys that are wrong by themselves, whatever the target has.
static LogicalResult checkKeys(AttentionOp op, ScheduleAttr given,
                               const TargetInfo &target) {
  auto require = [&](std::optional<int64_t> value, StringRef key,
                     int64_t divisor, int64_t least) -> LogicalResult {
    if (!value || (*value >= least && *value % divisor == 0))
      return success();
    InFlightDiagnostic error = op.emitOpError("schedule key ")
                               << key << " = " << *value << " must be ";
    if (divisor > 1)
      error << "a multiple of " << divisor << " and ";
    return error << "at least " << least;
  };
  if (failed(require(given.getTileQ(), "tile_q", kProductRows, kProductRows)) ||
      failed(require(given.getTileKv(), "tile_kv", 16, 16)) ||
      failed(require(given.getStages(), "stages", 1, 2)))
    return failure();
  if ((given.getProducers().value_or(0) != 0 || needsProducers(given)) &&
      failed(checkProducerKeys(op, given, target)))
    return failure();
  int64_t maxWarps = target.maxThreadsPerBlock / kWarpSize;
  if (given.getWarps().value_or(1) > maxWarps)
    return op.emitOpError("schedule key warps = ")
           << *given.getWarps() << " exceeds the " << maxWarps
           << " warps of a block on " << target.name;
  Type element = getElementTypeOrSelf(op.getQuery());
  if (given.getQuery() == QueryKind::Registers && element.isF32())
    return op.emitOpError("schedule key query = registers needs operands of "
                          "16 bits, found ")
           << element << "; query = shared is compiled";
  if (given.getPolynomial().value_or(0) != 0 && element.isF32())
    return op.emitOpError("schedule key polynomial = ")
           << *given.getPolynomial()
           << " needs operands of 16 bits, found f32; polynomial = 0 is "
              "compiled";
  if (given.getTileQ() && given.getWarps() &&
      *given.getTileQ() % (kProductRows * *given.getWarps()) != 0)
    return op.emitOpError("schedule key tile_q = ")
           << *given.getTileQ() << " must be a multiple of "
           << kProductRows * *given.getWarps() << ", " << kProductRows
           << " rows for each of " << *given.getWarps() << " warps";
  return success();
}

/// The instructions that the stages behind make of an op, by the target's
/// table.
static LogicalResult checkInstructions(AttentionOp op,
                                       const TargetInfo &target) {
  Type element = getElementTypeOrSelf(op.getQuery());
  auto refuse = [&](const Twine &instruction) {
    return op.emitOpError("needs ")
           << instruction << ", which " << target.name << " does not have";
  };
  if (!target.hasAsyncCopy)
    return refuse("cp.async");
  if (element.isF32())
    return success();
  if (!target.hasMatrixLoad)
    return refuse("ldmatrix");
  if (!target.hasMma(element.isF16() ? MmaElement::F16 : MmaElement::BF16,
                     kProductRows, kProductColumns, kProductDepth))
    return refuse(element.isF16() ? "mma.sync.m16n8k16 of f16"
                                  : "mma.sync.m16n8k16 of bf16");
  return success();
}

static void appendPlan(InFlightDiagnostic &error, const Plan &plan) {
  error << "tile_q = " << plan.tileQ << ", tile_kv = " << plan.tileKV
        << ", warps = " << plan.warps << ", stages = " << plan.stages
        << ", state = " << stringifyStateKind(plan.state)
        << ", query = " << stringifyQueryKind(plan.query);
  if (plan.producers != 0)
    error << ", producers = " << plan.producers
          << ", pingpong = " << (plan.pingpong ? "true" : "false");
  if (plan.persistent)
    error << ", persistent = true";
  if (plan.cluster != 1)
    error << ", cluster = " << plan.cluster;
}

/// How far a plan is beyond the target: the larger of the two ratios.
static double getExcess(const Plan &plan, const HeadDims &dims,
                        const TargetInfo &target) {
  Resources need = estimateResources(plan, dims);
  double shared = static_cast<double>(need.sharedBytes) /
                  static_cast<double>(target.maxDynamicSharedBytes);
  double registers = static_cast<double>(need.registersPerThread) /
                     static_cast<double>(getAvailableRegisters(plan, target));
  return std::max(shared, registers);
}

/// The schedule that leaves everything to the choice.
static ScheduleAttr getOpenSchedule(MLIRContext *context) {
  return ScheduleAttr::get(context, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
                           {});
}

/// Says what the schedule needs, what there is and what would fit.
static LogicalResult reportMisfit(AttentionOp op, ScheduleAttr given,
                                  const HeadDims &dims,
                                  const TargetInfo &target) {
  // Of the plans that keep the given keys, the one that comes nearest: with the
  // fewest faults, since those that all plans have are the keys' own.
  SmallVector<Plan> plans = enumeratePlans(given, dims, target);
  auto getDistance = [&](const Plan &plan) {
    return std::pair(whyNot(plan, dims).size(), getExcess(plan, dims, target));
  };
  Plan plan = *llvm::min_element(plans, [&](const Plan &a, const Plan &b) {
    return getDistance(a) < getDistance(b);
  });
  Resources need = estimateResources(plan, dims);
  InFlightDiagnostic error = op.emitOpError("schedule does not fit ");
  error << target.name << ": ";
  appendPlan(error, plan);
  error << " at head dims " << dims.d << " and " << dims.dv;
  // Sizes that there are would be taken for the reason.
  SmallVector<std::string> reasons = whyNot(plan, dims);
  if (reasons.empty() || getExcess(plan, dims, target) > 1)
    error << " needs " << need.sharedBytes << " bytes of shared memory and "
          << need.registersPerThread << " registers a thread, there are "
          << target.maxDynamicSharedBytes << " and "
          << getAvailableRegisters(plan, target);
  for (const std::string &reason : reasons)
    error << "; " << reason;
  // Free the sizes first, then everything.
  MLIRContext *context = op.getContext();
  ScheduleAttr placements = ScheduleAttr::get(
      context, {}, {}, {}, {}, given.getState(), {}, given.getQuery(),
      given.getPingpong(), given.getProducers(), given.getPersistent(),
      given.getCluster(), {});
  ScheduleAttr nothing = getOpenSchedule(context);
  for (ScheduleAttr keys : {placements, nothing}) {
    if (std::optional<Plan> other = findPlan(op, keys, dims, target)) {
      error << "; ";
      appendPlan(error, *other);
      return error << " would fit";
    }
  }
  return error << "; no schedule fits";
}

/// Of how many exponentials one is a polynomial; 0: of none.
static FailureOr<int64_t> selectPolynomial(AttentionOp op, ScheduleAttr given,
                                           const Plan &plan,
                                           const HeadDims &dims,
                                           const TargetInfo &target) {
  int64_t columns = plan.tileKV / kLanesPerRow;
  if (!given.getPolynomial())
    return dims.bytesPerElement != 2
               ? 0
               : std::min(columns, choosePolynomial(estimateLoopCosts(
                                       target, dims.d, dims.dv)));
  if (*given.getPolynomial() > columns)
    return op.emitOpError("schedule key polynomial = ")
           << *given.getPolynomial() << " exceeds the " << columns
           << " exponentials that a lane has of a row of tile_kv = "
           << plan.tileKV;
  return *given.getPolynomial();
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

FailureOr<ScheduleAttr> mlir::fa::selectSchedule(AttentionOp op,
                                                 const TargetInfo &target) {
  // What is not compiled is said here, before anything is changed.
  if (failed(checkSupported(op)) || failed(checkMemorySpaces(op)))
    return failure();
  MLIRContext *context = op.getContext();
  AttentionDims extents = op.getDims();
  Type element = getElementTypeOrSelf(op.getQuery());
  HeadDims dims{static_cast<int64_t>(llvm::alignTo(extents.D, kProductRows)),
                static_cast<int64_t>(llvm::alignTo(extents.Dv, kProductRows)),
                llvm::divideCeil(element.getIntOrFloatBitWidth(), 8)};
  ScheduleAttr given = op.getScheduleAttr();
  if (!given)
    given = getOpenSchedule(context);
  if (failed(checkInstructions(op, target)) ||
      failed(checkKeys(op, given, target)))
    return failure();
  std::optional<Plan> plan = findPlan(op, given, dims, target);
  if (!plan)
    return reportMisfit(op, given, dims, target);
  FailureOr<int64_t> share = selectPolynomial(op, given, *plan, dims, target);
  if (failed(share))
    return failure();
  std::optional<int64_t> producers, cluster, polynomial;
  std::optional<bool> pingpong, persistent;
  // What is given stays, also where it is what a plan without it has: whoever
  // selects once more must find the same.
  if (plan->producers != 0 || given.getProducers())
    producers = plan->producers;
  if (plan->producers != 0 || given.getPingpong())
    pingpong = plan->pingpong;
  if (plan->persistent || given.getPersistent())
    persistent = plan->persistent;
  if (plan->cluster != 1 || given.getCluster())
    cluster = plan->cluster;
  if (*share != 0)
    polynomial = *share;
  return ScheduleAttr::get(context, plan->tileQ, plan->tileKV, plan->warps,
                           plan->stages, plan->state, plan->splits, plan->query,
                           pingpong, producers, persistent, cluster,
                           polynomial);
}

namespace {
struct SelectSchedulePass
    : public fa::impl::FASelectScheduleBase<SelectSchedulePass> {
  using FASelectScheduleBase::FASelectScheduleBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    const TargetInfo *info = findTarget(module);
    if (!info)
      return signalPassFailure();
    module->setAttr(kTargetAttr, StringAttr::get(&getContext(), info->name));
    WalkResult result = module.walk([&](AttentionOp op) {
      FailureOr<ScheduleAttr> complete = selectSchedule(op, *info);
      if (failed(complete))
        return WalkResult::interrupt();
      op.setScheduleAttr(*complete);
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  /// The target of the option, else of the module, else the first one served.
  const TargetInfo *findTarget(ModuleOp module) {
    std::string name = target;
    if (name.empty()) {
      auto named = module->getAttrOfType<StringAttr>(kTargetAttr);
      name = named ? named.getValue().str() : farun::kDefaultTarget;
    }
    std::string error;
    const TargetInfo *info = lookupTarget(name, error);
    if (!info)
      module.emitError(error);
    return info;
  }
};
} // namespace
