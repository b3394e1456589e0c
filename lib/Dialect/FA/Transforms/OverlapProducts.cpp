//===- OverlapProducts.cpp - softmax while a product runs -------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pass of the map stage, after fa-issue-products. In one iteration of a loop
// over K/V blocks everything depends on what stands before it: scores, softmax,
// weights, weighted values. So the loops are turned: an iteration takes block n
// up to its weights, and block n - 1 from its weights on.
//
//      before                         after
//
//      S = Q.K[n]                     S = Q.K[n]            issued
//      P = softmax(S)                 U = U + P.V[n-1]      issued
//      U = U + P.V[n]                 P' = softmax(S)       while U runs
//                                     U, then U * a and P   when U is there
//
// The loops in a row become one chain: in front of it the first block up to its
// weights, behind it the last one from its weights on. What a chain has not
// begun, no block at all, it leaves alone.
//
// Two things hold the overlap against the compilers below (docs/Hopper.md):
// the weights are rounded behind the wait, since the product in flight reads
// registers of the same place; and the producer is told that K's tile is free
// only behind the row sums, without which nothing keeps the wait for U behind
// the exponentials.
//===----------------------------------------------------------------------===//

#include "BlockCopies.h"
#include "TileProgram.h"
#include "fa/Dialect/FA/Transforms/AttributeNames.h"
#include "fa/Dialect/FA/Transforms/Passes.h"
#include "fa/Target/TargetInfo.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::fa {
#define GEN_PASS_DEF_FAOVERLAPPRODUCTS
#include "fa/Dialect/FA/Transforms/Passes.h.inc"
} // namespace mlir::fa

using namespace mlir;
using namespace mlir::fa;

namespace {

/// The body of a loop, taken apart.
struct Step {
  scf::ForOp loop;
  IssueProductOp scores, values; ///< Q.K and P.V
  WaitProductsOp scoresWait, valuesWait;
  Operation *round; ///< makes P of the weights
  RowSumOp sum;
  unsigned accumulator;                 ///< which value carries U
  llvm::SetVector<Operation *> rescale; ///< U * a, in front of P.V
  llvm::SetVector<Operation *> late;    ///< P.V and all that goes with it
};

/// Whether `op` needs `value`, by operands inside its block.
bool dependsOn(Operation *op, Value value, DenseMap<Operation *, bool> &known) {
  if (auto it = known.find(op); it != known.end())
    return it->second;
  known[op] = false;
  bool depends = llvm::any_of(op->getOperands(), [&](Value operand) {
    if (operand == value)
      return true;
    Operation *def = operand.getDefiningOp();
    return def && def->getBlock() == op->getBlock() &&
           dependsOn(def, value, known);
  });
  return known[op] = depends;
}

/// Finds the parts of a loop's body; an error says what is not as expected.
class StepMatcher {
public:
  explicit StepMatcher(scf::ForOp loop) { step.loop = loop; }
  FailureOr<Step> run();

private:
  LogicalResult findProducts();
  LogicalResult findAccumulator();
  void findLate();
  LogicalResult fail(const Twine &why) {
    return step.loop.emitOpError("cannot be turned: ") << why;
  }
  Step step;
};

LogicalResult StepMatcher::findProducts() {
  SmallVector<IssueProductOp> products(
      step.loop.getBody()->getOps<IssueProductOp>());
  if (products.size() != 2)
    return fail("expected two products, found " + Twine(products.size()));
  step.scores = products[0];
  step.values = products[1];
  auto waitOf = [](IssueProductOp product) {
    return product.getResult().hasOneUse()
               ? dyn_cast<WaitProductsOp>(*product->getUsers().begin())
               : WaitProductsOp();
  };
  step.scoresWait = waitOf(step.scores);
  step.valuesWait = waitOf(step.values);
  if (!step.scoresWait || !step.valuesWait ||
      step.scoresWait.getValues().size() != 1 ||
      step.valuesWait.getValues().size() != 1)
    return fail("each product must be waited for by itself");
  step.round = step.values.getLhs().getDefiningOp();
  if (!step.round || step.round->getNumOperands() != 1 ||
      step.round->getBlock() != step.loop.getBody() || !isPure(step.round) ||
      !step.round->hasOneUse())
    return fail("the left operand of the second product must be made from one "
                "vector of weights");
  for (auto sum : step.loop.getBody()->getOps<RowSumOp>())
    step.sum = sum;
  if (!step.sum)
    return fail("expected a sum of the weights");
  return success();
}

/// U: what the second product gives, carried to the next iteration.
LogicalResult StepMatcher::findAccumulator() {
  auto yield = cast<scf::YieldOp>(step.loop.getBody()->getTerminator());
  Value result = step.valuesWait->getResult(0);
  auto carried = llvm::find(yield.getOperands(), result);
  if (carried == yield.getOperands().end())
    return fail("the result of the second product must be carried");
  step.accumulator = carried - yield.getOperands().begin();
  Value old = step.loop.getRegionIterArg(step.accumulator);
  DenseMap<Operation *, bool> known;
  for (Operation &op : step.loop.getBody()->without_terminator()) {
    if (&op == step.values)
      break;
    if (!dependsOn(&op, old, known))
      continue;
    if (!isPure(&op))
      return fail("what it carries is needed before the second product");
    step.rescale.insert(&op);
  }
  Operation *acc = step.values.getAcc().getDefiningOp();
  if (!acc || !step.rescale.contains(acc))
    return fail("the second product must add to what is carried");
  return success();
}

void StepMatcher::findLate() {
  DenseMap<Operation *, bool> known;
  bool isBehindScores = false, isBehindValues = false;
  for (Operation &op : step.loop.getBody()->without_terminator()) {
    isBehindScores |= &op == step.scoresWait;
    isBehindValues |= &op == step.valuesWait;
    bool isLate = &op == step.values || &op == step.valuesWait ||
                  (isBehindScores && isa<WaitBarrierOp>(op)) ||
                  (isBehindValues && isa<ArriveOp>(op)) ||
                  dependsOn(&op, step.values.getResult(), known);
    if (isLate)
      step.late.insert(&op);
  }
}

FailureOr<Step> StepMatcher::run() {
  if (failed(findProducts()) || failed(findAccumulator()))
    return failure();
  findLate();
  return std::move(step);
}

class ChainTurner {
public:
  /// `groups` warpgroups issue their products in turn; 0: as they come.
  ChainTurner(MutableArrayRef<Step> steps, int64_t groups)
      : steps(steps), groups(groups), builder(steps.front().loop),
        loc(steps.front().loop.getLoc()) {}

  LogicalResult run();

private:
  LogicalResult verifyChain();
  LogicalResult verifyLate(Step &step);
  /// What the next iteration needs: the carried values, U scaled but without
  /// the block, and P.
  SmallVector<Value> emitFirst(Step &step, Value block);
  SmallVector<Value> emitTurned(Step &step, ValueRange carried, Value first);
  SmallVector<Value> emitTurnedBody(Step &step, Value block,
                                    ValueRange carried);
  SmallVector<Value> emitLast(Step &step, Value block, ValueRange carried);

  /// Clones the ops of the body that are not late, up to the weights.
  void cloneEarly(Step &step, IRMapping &mapping,
                  function_ref<void()> beforeScoresWait, int64_t pending,
                  SmallVectorImpl<ArriveOp> &arrivals);
  SmallVector<Value> emitNext(Step &step, IRMapping &mapping, Value weights);
  IRMapping mapLate(Step &step, Value block, ValueRange carried);
  void cloneLate(Step &step, Operation *op, IRMapping &mapping);
  Value getConstant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }

  void turn(TurnKind kind) {
    if (groups != 0)
      TurnOp::create(builder, loc, kind, groups);
  }

  MutableArrayRef<Step> steps;
  int64_t groups;
  OpBuilder builder;
  Location loc;
};

/// Each loop takes over what the one before it gave.
LogicalResult ChainTurner::verifyChain() {
  for (size_t i = 1; i < steps.size(); ++i) {
    scf::ForOp before = steps[i - 1].loop, loop = steps[i].loop;
    if (!isSameIndex(before.getUpperBound(), loop.getLowerBound()) ||
        !llvm::equal(loop.getInitArgs(), before.getResults()) ||
        steps[i].accumulator != steps[0].accumulator)
      return loop.emitOpError("cannot be turned: it must begin where the loop "
                              "before it ended, with what that carried");
  }
  for (Step &step : steps)
    if (failed(verifyLate(step)))
      return failure();
  return success();
}

/// What late ops read of their block is carried, or follows from its number.
LogicalResult ChainTurner::verifyLate(Step &step) {
  auto yield = cast<scf::YieldOp>(step.loop.getBody()->getTerminator());
  std::function<bool(Value)> isKnown = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (value == step.values.getLhs() || value == step.values.getAcc() ||
        llvm::is_contained(yield.getOperands(), value) ||
        value == step.loop.getInductionVar() ||
        value.getParentRegion() != &step.loop.getRegion())
      return true;
    if (!op)
      return false;
    return step.late.contains(op) || (isPure(op) && op->getNumRegions() == 0 &&
                                      llvm::all_of(op->getOperands(), isKnown));
  };
  for (Operation *op : step.late)
    if (!llvm::all_of(op->getOperands(), isKnown))
      return op->emitOpError("cannot be done an iteration later: it reads what "
                             "is not carried");
  return success();
}

LogicalResult ChainTurner::run() {
  if (failed(verifyChain()))
    return failure();
  scf::ForOp firstLoop = steps.front().loop, lastLoop = steps.back().loop;
  builder.setInsertionPointAfter(lastLoop);
  Value first = firstLoop.getLowerBound(), end = lastLoop.getUpperBound();
  Value hasBlocks = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::slt, first, end);
  auto branch = scf::IfOp::create(builder, loc, lastLoop.getResultTypes(),
                                  hasBlocks, /*withElseRegion=*/true);
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, firstLoop.getInitArgs());

  builder.setInsertionPointToStart(branch.thenBlock());
  // Any block may be the first, so by the loop that takes the most care.
  SmallVector<Value> carried = emitFirst(steps.back(), first);
  turn(TurnKind::Open);
  for (Step &step : steps)
    carried = emitTurned(step, carried, first);
  turn(TurnKind::Close);
  Value last = arith::SubIOp::create(builder, loc, end, getConstant(1));
  scf::YieldOp::create(builder, loc, emitLast(steps.back(), last, carried));
  lastLoop.replaceAllUsesWith(branch.getResults());
  for (Step &step : llvm::reverse(steps))
    step.loop.erase();
  return success();
}

void ChainTurner::cloneEarly(Step &step, IRMapping &mapping,
                             function_ref<void()> beforeScoresWait,
                             int64_t pending,
                             SmallVectorImpl<ArriveOp> &arrivals) {
  for (Operation &op : step.loop.getBody()->without_terminator()) {
    if (step.late.contains(&op) || step.rescale.contains(&op) ||
        &op == step.round)
      continue;
    if (auto arrive = dyn_cast<ArriveOp>(op)) {
      arrivals.push_back(arrive);
      continue;
    }
    if (&op == step.scores && pending != 0)
      turn(TurnKind::Take);
    if (&op == step.scoresWait)
      beforeScoresWait();
    Operation *copy = builder.clone(op, mapping);
    if (&op == step.scoresWait)
      cast<WaitProductsOp>(copy).setPending(pending);
  }
}

/// What is carried on: U * a in the place of U, and P at the end.
SmallVector<Value> ChainTurner::emitNext(Step &step, IRMapping &mapping,
                                         Value weights) {
  for (Operation *op : step.rescale)
    builder.clone(*op, mapping);
  mapping.map(step.round->getOperand(0), weights);
  builder.clone(*step.round, mapping);
  SmallVector<Value> next;
  for (auto [i, value] :
       llvm::enumerate(step.loop.getBody()->getTerminator()->getOperands()))
    next.push_back(mapping.lookupOrDefault(
        i == step.accumulator ? step.values.getAcc() : value));
  next.push_back(mapping.lookup(step.values.getLhs()));
  return next;
}

SmallVector<Value> ChainTurner::emitFirst(Step &step, Value block) {
  IRMapping mapping;
  mapping.map(step.loop.getInductionVar(), block);
  mapping.map(step.loop.getRegionIterArgs(), steps.front().loop.getInitArgs());
  SmallVector<ArriveOp> arrivals;
  cloneEarly(
      step, mapping, [] {}, /*pending=*/0, arrivals);
  for (ArriveOp arrive : arrivals)
    builder.clone(*arrive, mapping);
  return emitNext(step, mapping, mapping.lookup(step.round->getOperand(0)));
}

SmallVector<Value> ChainTurner::emitTurned(Step &step, ValueRange carried,
                                           Value first) {
  Value second = arith::AddIOp::create(builder, loc, first, getConstant(1));
  Value begin =
      arith::MaxSIOp::create(builder, loc, step.loop.getLowerBound(), second);
  // Positions are below 2^31, and counting in 32 bits is shorter.
  auto narrow = [&](Value index) -> Value {
    return arith::IndexCastOp::create(builder, loc, builder.getI32Type(),
                                      index);
  };
  Value one = arith::ConstantIntOp::create(builder, loc, 1, 32);
  auto loop =
      scf::ForOp::create(builder, step.loop.getLoc(), narrow(begin),
                         narrow(step.loop.getUpperBound()), one, carried);
  loop->setDiscardableAttrs(step.loop->getDiscardableAttrDictionary());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(loop.getBody());
  Value block = arith::IndexCastUIOp::create(
      builder, loc, builder.getIndexType(), loop.getInductionVar());
  SmallVector<Value> next =
      emitTurnedBody(step, block, loop.getRegionIterArgs());
  scf::YieldOp::create(builder, loc, next);
  return llvm::to_vector_of<Value>(loop.getResults());
}

/// For block `block`, whose P and scaled U are carried.
IRMapping ChainTurner::mapLate(Step &step, Value block, ValueRange carried) {
  IRMapping mapping;
  mapping.map(step.loop.getInductionVar(), block);
  for (auto [i, value] :
       llvm::enumerate(step.loop.getBody()->getTerminator()->getOperands()))
    if (i != step.accumulator)
      mapping.map(value, carried[i]);
  mapping.map(step.values.getAcc(), carried[step.accumulator]);
  mapping.map(step.values.getLhs(), carried.back());
  return mapping;
}

void ChainTurner::cloneLate(Step &step, Operation *op, IRMapping &mapping) {
  for (Value operand : op->getOperands())
    mapping.map(operand, cloneSlice(builder, operand, step.loop, mapping));
  builder.clone(*op, mapping);
}

SmallVector<Value> ChainTurner::emitTurnedBody(Step &step, Value block,
                                               ValueRange carried) {
  Value before = arith::SubIOp::create(builder, loc, block, getConstant(1));
  IRMapping late = mapLate(step, before, carried), early;
  early.map(step.loop.getInductionVar(), block);
  early.map(step.loop.getRegionIterArgs(), carried.drop_back());

  auto isBehindWait = [&](Operation *op) {
    return op == step.valuesWait || step.valuesWait->isBeforeInBlock(op);
  };
  SmallVector<ArriveOp> arrivals;
  auto issueValues = [&] {
    for (Operation *op : step.late)
      if (!isBehindWait(op))
        cloneLate(step, op, late);
    turn(TurnKind::Pass);
  };
  cloneEarly(step, early, issueValues, /*pending=*/1, arrivals);
  for (ArriveOp arrive : arrivals) {
    auto copy = cast<ArriveOp>(builder.clone(*arrive, early));
    copy.getAfterMutable().assign(early.lookup(step.sum.getResult()));
  }
  // The product is there; the weights may become the next P only now.
  Value weights = early.lookup(step.round->getOperand(0));
  SmallVector<Value> waited{late.lookup(step.values.getResult()), weights};
  auto wait = WaitProductsOp::create(builder, loc, TypeRange(waited),
                                     /*pending=*/0, waited);
  late.map(step.valuesWait->getResult(0), wait->getResult(0));
  for (Operation *op : step.late)
    if (isBehindWait(op) && op != step.valuesWait)
      cloneLate(step, op, late);
  early.map(step.loop.getRegionIterArg(step.accumulator), wait->getResult(0));
  return emitNext(step, early, wait->getResult(1));
}

SmallVector<Value> ChainTurner::emitLast(Step &step, Value block,
                                         ValueRange carried) {
  IRMapping mapping = mapLate(step, block, carried);
  for (Operation *op : step.late)
    cloneLate(step, op, mapping);
  SmallVector<Value> results(carried.drop_back());
  results[step.accumulator] = mapping.lookup(step.valuesWait->getResult(0));
  return results;
}

/// Whether there is something to compute under a product: scores that use no
/// product of Q and K leave one alone.
bool hasProductToHide(scf::ForOp loop) {
  return !llvm::hasSingleElement(loop.getBody()->getOps<IssueProductOp>());
}

/// The loops in a row, of full and partial blocks; one that takes huge scores
/// branches inside and stays as it is.
LogicalResult overlap(Block &consumers, int64_t groups) {
  SmallVector<Step> steps;
  for (auto loop : llvm::make_early_inc_range(consumers.getOps<scf::ForOp>())) {
    auto blocks = loop->getAttrOfType<StringAttr>(kBlocksAttr);
    if (!blocks || blocks.getValue() == kExactBlocks || !hasProductToHide(loop))
      continue;
    FailureOr<Step> step = StepMatcher(loop).run();
    if (failed(step))
      return failure();
    steps.push_back(std::move(*step));
  }
  return steps.empty() ? success() : ChainTurner(steps, groups).run();
}

struct FAOverlapProducts
    : public fa::impl::FAOverlapProductsBase<FAOverlapProducts> {
  void runOnOperation() override {
    auto overlapAll = [](scf::ForallOp program,
                         const CompleteSchedule &schedule) -> LogicalResult {
      // In shared memory m, l and u are not carried.
      if (schedule.state == StateKind::Shared)
        return success();
      for (auto roles : program.getBody()->getOps<WarpRolesOp>())
        if (failed(overlap(
                getTileBody(roles.getRoles().front()),
                schedule.takesTurns ? schedule.warps / kWarpsPerWarpgroup : 0)))
          return failure();
      return success();
    };
    if (failed(forEachTileProgram(getOperation(), overlapAll)))
      signalPassFailure();
  }
};

} // namespace
