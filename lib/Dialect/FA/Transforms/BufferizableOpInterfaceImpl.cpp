//===- BufferizableOpInterfaceImpl.cpp - bufferization of fa ops ----------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On tensors our ops have results and no destinations: every tensor is read,
// and each result becomes an allocation of its own, the `outs` of the op on
// memrefs.
//
//===----------------------------------------------------------------------===//

#include "fa/Dialect/FA/Transforms/BufferizableOpInterfaceImpl.h"
#include "fa/Dialect/FA/IR/FADialect.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::bufferization;

/// The buffers of the operands, scalars as they are.
static FailureOr<SmallVector<Value>>
getOperandBuffers(Operation *op, RewriterBase &rewriter,
                  const BufferizationOptions &options,
                  BufferizationState &state) {
  SmallVector<Value> buffers;
  for (Value operand : op->getOperands()) {
    if (!isa<TensorType>(operand.getType())) {
      buffers.push_back(operand);
      continue;
    }
    FailureOr<Value> buffer = getBuffer(rewriter, operand, options, state);
    if (failed(buffer))
      return failure();
    buffers.push_back(*buffer);
  }
  return buffers;
}

/// One allocation for each result.
static FailureOr<SmallVector<Value>>
allocateResults(Operation *op, RewriterBase &rewriter,
                const BufferizationOptions &options,
                BufferizationState &state) {
  ReifiedRankedShapedTypeDims shapes;
  if (failed(reifyResultShapes(rewriter, op, shapes)))
    return failure();
  SmallVector<Value> allocations;
  for (auto [result, shape] : llvm::zip(op->getResults(), shapes)) {
    FailureOr<BufferLikeType> type = getBufferType(result, options, state);
    if (failed(type))
      return failure();
    auto memrefType = cast<MemRefType>(*type);
    SmallVector<Value> sizes;
    for (int64_t dim = 0; dim < memrefType.getRank(); ++dim)
      if (memrefType.isDynamicDim(dim))
        sizes.push_back(getValueOrCreateConstantIndexOp(rewriter, op->getLoc(),
                                                        shape[dim]));
    FailureOr<Value> allocation =
        options.createAlloc(rewriter, op->getLoc(), memrefType, sizes);
    if (failed(allocation))
      return failure();
    allocations.push_back(*allocation);
  }
  return allocations;
}

namespace {

template <typename OpTy>
struct ResultAllocatingModel
    : public BufferizableOpInterface::ExternalModel<ResultAllocatingModel<OpTy>,
                                                    OpTy> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    return true;
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &,
                               const AnalysisState &) const {
    return false;
  }
  AliasingValueList getAliasingValues(Operation *, OpOperand &,
                                      const AnalysisState &) const {
    return {};
  }
  bool bufferizesToAllocation(Operation *, Value) const { return true; }

  /// An allocation has no strides of its own; the default, strides that are
  /// not known, is for values that come from elsewhere.
  FailureOr<BufferLikeType> getBufferType(Operation *op, Value value,
                                          const BufferizationOptions &options,
                                          const BufferizationState &,
                                          SmallVector<Value> &) const {
    auto type = cast<TensorType>(value.getType());
    std::optional<Attribute> space = options.defaultMemorySpaceFn(type);
    if (!space)
      return op->emitError("could not infer the memory space of a result");
    return cast<BufferLikeType>(
        getMemRefTypeWithStaticIdentityLayout(type, *space));
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    FailureOr<SmallVector<Value>> operands =
        getOperandBuffers(op, rewriter, options, state);
    FailureOr<SmallVector<Value>> outs =
        allocateResults(op, rewriter, options, state);
    if (failed(operands) || failed(outs))
      return failure();
    operands->append(*outs);
    auto properties = cast<OpTy>(op).getProperties();
    properties.operandSegmentSizes.back() = outs->size();
    auto onMemRefs =
        OpTy::create(rewriter, op->getLoc(), TypeRange(), *operands, properties,
                     op->getDiscardableAttrDictionary().getValue());
    for (auto [to, from] : llvm::zip(onMemRefs->getRegions(), op->getRegions()))
      to.takeBody(from);
    replaceOpWithBufferizedValues(rewriter, op, *outs);
    return success();
  }
};

} // namespace

void fa::registerBufferizableOpInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, fa::FADialect *) {
    AttentionOp::attachInterface<ResultAllocatingModel<AttentionOp>>(*context);
    MergeOp::attachInterface<ResultAllocatingModel<MergeOp>>(*context);
    // What the models create.
    context->loadDialect<BufferizationDialect, memref::MemRefDialect,
                         tensor::TensorDialect>();
  });
}
