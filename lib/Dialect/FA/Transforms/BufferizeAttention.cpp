//===- BufferizeAttention.cpp - results become arguments --------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first pass of the tile stage. One-shot bufferization does the work, one
// function at a time and away from the rest of its module, so that foreign
// functions keep their tensors. It leaves each result of an op in an
// allocation that the function returns; the second step puts a trailing
// argument in the place of that allocation. Nothing is copied.
//
//===----------------------------------------------------------------------===//

#include "AttentionFacts.h"
#include "RegionFacts.h"
#include "fa/Dialect/FA/IR/FADialect.h"
#include "fa/Dialect/FA/Transforms/AttributeNames.h"
#include "fa/Dialect/FA/Transforms/BufferizableOpInterfaceImpl.h"
#include "fa/Dialect/FA/Transforms/Passes.h"
#include "fa/Dialect/FA/Transforms/Transforms.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::fa {
#define GEN_PASS_DEF_FABUFFERIZEATTENTION
#include "fa/Dialect/FA/Transforms/Passes.h.inc"
} // namespace mlir::fa

using namespace mlir;
using namespace mlir::fa;

//===----------------------------------------------------------------------===//
// What is accepted
//===----------------------------------------------------------------------===//

/// Whether the function holds an op of ours on tensors.
static bool hasTensorForm(func::FuncOp func) {
  auto isTensor = [](Type type) { return isa<TensorType>(type); };
  WalkResult result = func.walk([&](Operation *op) {
    bool isOurs = isa_and_nonnull<FADialect>(op->getDialect());
    return isOurs && llvm::any_of(op->getResultTypes(), isTensor)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return result.wasInterrupted();
}

/// Of a tensor a region takes elements, and it makes none. Refused before
/// bufferization, which would put an op of memrefs in the place of the user's.
static LogicalResult checkTensorsOfRegions(AttentionOp op) {
  auto isOnTensors = [](Operation *inner) {
    auto isTensor = llvm::IsaPred<TensorType>;
    return llvm::any_of(inner->getOperandTypes(), isTensor) ||
           llvm::any_of(inner->getResultTypes(), isTensor);
  };
  for (Region &region : op->getRegions()) {
    WalkResult result = region.walk<WalkOrder::PreOrder>([&](Operation *inner) {
      // A constant tensor is refused wherever it is.
      if (!isOnTensors(inner) || isa<tensor::ExtractOp>(inner) ||
          matchPattern(inner, m_Constant()))
        return WalkResult::advance();
      inner->emitOpError("in a region of fa.attention is not supported "
                         "yet; of tensors supported is tensor.extract");
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return failure();
  }
  return success();
}

static LogicalResult checkBufferizable(func::FuncOp func) {
  if (!llvm::hasSingleElement(func.getBody()))
    return func.emitOpError("with attention on tensors must be one block; "
                            "bufferize it by one-shot-bufferize");
  auto module = func->getParentOfType<ModuleOp>();
  if (module && !SymbolTable::symbolKnownUseEmpty(func, module))
    return func.emitOpError("is called in this module, and its results would "
                            "become arguments; bufferize the module by "
                            "one-shot-bufferize");
  auto isTensor = [](Type type) { return isa<TensorType>(type); };
  WalkResult regions = func.walk(
      [](AttentionOp op) { return WalkResult(checkTensorsOfRegions(op)); });
  if (regions.wasInterrupted())
    return failure();
  WalkResult foreign = func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    bool isOnTensors = llvm::any_of(op->getOperandTypes(), isTensor) ||
                       llvm::any_of(op->getResultTypes(), isTensor);
    if (!isOnTensors ||
        op->getName().hasInterface<bufferization::BufferizableOpInterface>())
      return WalkResult::advance();
    op->emitOpError("on tensors cannot be bufferized beside attention; "
                    "bufferize the module by one-shot-bufferize");
    return WalkResult::interrupt();
  });
  if (foreign.wasInterrupted())
    return failure();
  WalkResult result = func.walk([](Operation *op) {
    if (!matchPattern(op, m_Constant()) ||
        !isa<TensorType>(op->getResult(0).getType()))
      return WalkResult::advance();
    op->emitError("a constant tensor is not an operand that a kernel can take; "
                  "pass it as an argument");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Step 1: tensors become memrefs
//===----------------------------------------------------------------------===//

/// Runs one-shot bufferization on the function alone.
static LogicalResult bufferizeAlone(func::FuncOp func) {
  Block *home = func->getBlock();
  Block::iterator next = std::next(Block::iterator(func));
  OwningOpRef<ModuleOp> scratch = ModuleOp::create(func.getLoc());
  func->moveBefore(scratch->getBody(), scratch->getBody()->end());

  bufferization::OneShotBufferizationOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.setFunctionBoundaryTypeConversion(
      bufferization::LayoutMapOption::FullyDynamicLayoutMap);
  bufferization::BufferizationState state;
  LogicalResult result =
      bufferization::runOneShotModuleBufferize(*scratch, options, state);

  func->moveBefore(home, next);
  return result;
}

//===----------------------------------------------------------------------===//
// Step 2: allocations that are returned become arguments
//===----------------------------------------------------------------------===//

/// The allocation behind a returned value, when only our ops and casts use it.
static memref::AllocOp findOwnAllocation(Value value) {
  while (auto cast = value.getDefiningOp<memref::CastOp>())
    value = cast.getSource();
  auto alloc = value.getDefiningOp<memref::AllocOp>();
  if (!alloc)
    return {};
  for (Operation *user : alloc->getUsers())
    if (!isa<memref::CastOp, memref::DimOp, func::ReturnOp>(user) &&
        !isa_and_nonnull<FADialect>(user->getDialect()))
      return {};
  return alloc;
}

static void eraseDeadOps(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

static LogicalResult turnResultsIntoArguments(func::FuncOp func) {
  Block &body = func.getBody().front();
  auto returnOp = cast<func::ReturnOp>(body.getTerminator());
  SmallVector<memref::AllocOp> allocations;
  for (auto [index, value] : llvm::enumerate(returnOp.getOperands())) {
    if (!isa<MemRefType>(value.getType()))
      return func.emitOpError("returns ")
             << value.getType() << " as result " << index
             << "; only what attention computes can be returned";
    memref::AllocOp alloc = findOwnAllocation(value);
    if (!alloc || llvm::is_contained(allocations, alloc))
      return func.emitOpError("result ")
             << index << " is not a result of attention of its own; it would "
             << "have to be copied";
    allocations.push_back(alloc);
  }
  returnOp.getOperandsMutable().clear();
  func.setResAttrsAttr({});
  func.setType(FunctionType::get(func.getContext(), func.getArgumentTypes(),
                                 TypeRange()));
  for (memref::AllocOp alloc : allocations) {
    MemRefType type = alloc.getType();
    auto argumentType =
        MemRefType::get(type.getShape(), type.getElementType(),
                        getDynamicStrides(func.getContext(), type.getRank()),
                        type.getMemorySpace());
    unsigned index = func.getNumArguments();
    if (failed(func.insertArgument(index, argumentType, DictionaryAttr(),
                                   alloc.getLoc())))
      return failure();
    alloc.replaceAllUsesWith(Value(func.getArgument(index)));
    alloc.erase();
  }
  eraseDeadOps(body);
  return success();
}

//===----------------------------------------------------------------------===//
// Step 3: extents of 0 become open ones
//===----------------------------------------------------------------------===//

/// The type with each extent of 0 open; null when there is none.
static MemRefType openEmptyExtents(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref || !llvm::is_contained(memref.getShape(), 0))
    return {};
  SmallVector<int64_t> shape(memref.getShape());
  llvm::replace(shape, int64_t(0), ShapedType::kDynamic);
  return MemRefType::get(shape, memref.getElementType(), memref.getLayout(),
                         memref.getMemorySpace());
}

/// A memref of no elements has no first one for a view to start at, and loops
/// over it are folded away with the whole program: so a kernel for any extent
/// is made of it, whose launch with 0 rows is skipped.
static void openEmptyArguments(func::FuncOp func, AttentionOp op) {
  Builder b(func.getContext());
  for (BlockArgument argument : func.getArguments()) {
    MemRefType open = openEmptyExtents(argument.getType());
    bool isOnlyOurs = llvm::all_of(argument.getUsers(),
                                   [&](Operation *user) { return user == op; });
    if (!open || !isOnlyOurs)
      continue;
    auto shape = cast<MemRefType>(argument.getType()).getShape();
    func.setArgAttr(argument.getArgNumber(), kShapeAttr,
                    b.getDenseI64ArrayAttr(shape));
    argument.setType(open);
  }
  func.setType(b.getFunctionType(func.getBody().front().getArgumentTypes(),
                                 TypeRange()));
}

//===----------------------------------------------------------------------===//
// Fixed strides become open ones
//===----------------------------------------------------------------------===//

/// Strides that a type fixes otherwise than a contiguous array has them would
/// be asked of every caller without a word in the manifest.
static void openStrides(func::FuncOp func, AttentionOp op) {
  auto module = func->getParentOfType<ModuleOp>();
  if (module && !SymbolTable::symbolKnownUseEmpty(func, module))
    return;
  for (BlockArgument argument : func.getArguments()) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    bool isOnlyOurs = llvm::all_of(argument.getUsers(),
                                   [&](Operation *user) { return user == op; });
    if (!type || type.getLayout().isIdentity() || !type.isStrided() ||
        !isOnlyOurs)
      continue;
    argument.setType(
        MemRefType::get(type.getShape(), type.getElementType(),
                        getDynamicStrides(func.getContext(), type.getRank()),
                        type.getMemorySpace()));
  }
  func.setType(FunctionType::get(func.getContext(),
                                 func.getBody().front().getArgumentTypes(),
                                 func.getResultTypes()));
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

LogicalResult mlir::fa::bufferizeAttention(func::FuncOp func) {
  SmallVector<Operation *> ops;
  func.walk([&](AttentionOp op) { ops.push_back(op); });
  if (ops.size() == 1)
    recordSource(func, cast<AttentionOp>(ops.front()));
  RewritePatternSet patterns(func.getContext());
  AttentionOp::getCanonicalizationPatterns(patterns, func.getContext());
  (void)applyOpPatternsGreedily(ops, std::move(patterns));
  eraseDeadCodeOfRegions(func);
  if (!hasTensorForm(func)) {
    func.walk([&](AttentionOp op) { openStrides(func, op); });
    return success();
  }
  // In the words of the user, whose ops are gone when the op is tiled. The one
  // op may be another by now.
  if (ops.size() == 1)
    func.walk([&](AttentionOp op) { recordWhyNoEntry(func, op); });
  if (failed(checkBufferizable(func)) || failed(bufferizeAlone(func)) ||
      failed(turnResultsIntoArguments(func)))
    return failure();
  func.walk([&](AttentionOp op) { openEmptyArguments(func, op); });
  return success();
}

namespace {
struct BufferizeAttentionPass
    : public fa::impl::FABufferizeAttentionBase<BufferizeAttentionPass> {
  void getDependentDialects(DialectRegistry &registry) const override {
    FABufferizeAttentionBase::getDependentDialects(registry);
    arith::registerBufferizableOpInterfaceExternalModels(registry);
    bufferization::func_ext::registerBufferizableOpInterfaceExternalModels(
        registry);
    tensor::registerBufferizableOpInterfaceExternalModels(registry);
    fa::registerBufferizableOpInterfaceExternalModels(registry);
  }

  void runOnOperation() override {
    SmallVector<func::FuncOp> funcs;
    getOperation().walk([&](func::FuncOp func) {
      if (!func.isExternal())
        funcs.push_back(func);
    });
    for (func::FuncOp func : funcs)
      if (failed(bufferizeAttention(func)))
        return signalPassFailure();
  }
};
} // namespace
