//===- StageContracts.cpp - what each stage leaves ------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function a stage; each reports every fault it finds, so that a report is
// complete. StageContracts.h states the promises.
//
//===----------------------------------------------------------------------===//
#include "fa/Analysis/StageContracts.h"

#include "fa/Dialect/FA/IR/FADialect.h"
#include "fa/Dialect/FA/Transforms/AttributeNames.h"
#include "fa/Target/TargetInfo.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::fa {

namespace {

/// The widest access of a lane, and the widest fragment of an mma operand.
constexpr int64_t kLaneShareBits = 128;

/// Attention itself; the other ops of fa are words of a tile program.
bool isAttention(Operation *op) {
  return isa<AttentionOp, MergeOp, YieldOp>(op);
}

/// Calls `check` with each type of a result or block argument under `root`.
void forEachType(Operation *root,
                 function_ref<void(Location, Operation *, Type)> check) {
  root->walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      check(op->getLoc(), op, type);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          check(argument.getLoc(), op, argument.getType());
  });
}

/// Collects faults; each is one located error.
class Contract {
public:
  explicit Contract(Stage stage) : stage(stage) {}

  InFlightDiagnostic fault(Location loc) {
    isKept = false;
    return emitError(loc) << "after stage " << stageName(stage) << ": ";
  }
  LogicalResult result() const { return success(isKept); }

private:
  Stage stage;
  bool isKept = true;
};

/// The module's target, or null after a fault.
const TargetInfo *targetOf(ModuleOp module, Contract &contract) {
  auto name = module->getAttrOfType<StringAttr>(kTargetAttr);
  if (!name) {
    contract.fault(module.getLoc())
        << "the module has no string attribute '" << kTargetAttr << "'";
    return nullptr;
  }
  std::string error;
  const TargetInfo *target = lookupTarget(name, error);
  if (!target)
    contract.fault(module.getLoc()) << error;
  return target;
}

void verifyTiledFunction(func::FuncOp func, Contract &contract) {
  bool hasLoops = false;
  func.walk([&](scf::ForallOp forall) {
    if (!forall->hasAttr(kScheduleAttr))
      return;
    hasLoops = true;
    // The host's own buffers, around the loops, are no matter of ours.
    forall.walk([&](memref::AllocOp alloc) {
      if (!gpu::GPUDialect::isWorkgroupMemoryAddressSpace(
              alloc.getType().getMemorySpace()))
        contract.fault(alloc.getLoc())
            << "a buffer of a tile program is " << alloc.getType()
            << ", not workgroup memory";
    });
  });
  if (!hasLoops)
    contract.fault(func.getLoc())
        << "function '" << func.getName() << "' holds no scf.forall with '"
        << kScheduleAttr << "'";
  forEachType(func, [&](Location loc, Operation *op, Type type) {
    if (isa<TensorType>(type))
      contract.fault(loc) << "'" << op->getName() << "' is on tensors";
  });
}

LogicalResult verifyTile(ModuleOp module) {
  Contract contract(Stage::Tile);
  targetOf(module, contract);
  module.walk([&](Operation *op) {
    if (isAttention(op))
      contract.fault(op->getLoc()) << "'" << op->getName() << "' is left";
    if (auto func = dyn_cast<func::FuncOp>(op))
      if (func->hasAttr(kOperandsAttr))
        verifyTiledFunction(func, contract);
  });
  return contract.result();
}

/// Kernels that a program around attention launches: it computes the grid from
/// values of its own, for which the manifest has no words.
DenseSet<Attribute> findEmbeddedKernels(ModuleOp module) {
  DenseSet<Attribute> kernels;
  module.walk([&](gpu::LaunchFuncOp launch) {
    auto func = launch->getParentOfType<func::FuncOp>();
    if (func && !func->hasAttr(kOperandsAttr))
      kernels.insert(launch.getKernelName());
  });
  return kernels;
}

void verifyKernel(gpu::GPUFuncOp kernel, const TargetInfo &target,
                  bool isEmbedded, Contract &contract) {
  auto expect = [&](bool isThere, StringRef name, StringRef what) {
    if (!isThere)
      contract.fault(kernel.getLoc())
          << "kernel '" << kernel.getName() << "' has no " << what << " '"
          << name << "'";
  };
  auto parameters = kernel->getAttrOfType<ArrayAttr>(kParametersAttr);
  auto grid = kernel->getAttrOfType<ArrayAttr>(kGridAttr);
  auto bytes = kernel->getAttrOfType<IntegerAttr>(kSharedBytesAttr);
  expect(bool(parameters), kParametersAttr, "array");
  expect((isEmbedded && !grid) || (grid && grid.size() == 3), kGridAttr,
         "array of three expressions");
  expect(bool(bytes), kSharedBytesAttr, "integer");
  if (!kernel.getKnownBlockSize())
    contract.fault(kernel.getLoc())
        << "kernel '" << kernel.getName() << "' has no known block size";
  if (parameters && parameters.size() != kernel.getNumArguments())
    contract.fault(kernel.getLoc())
        << "kernel '" << kernel.getName() << "' has "
        << kernel.getNumArguments() << " arguments and " << parameters.size()
        << " '" << kParametersAttr << "'";
  if (bytes && bytes.getInt() > target.maxDynamicSharedBytes)
    contract.fault(kernel.getLoc())
        << "kernel '" << kernel.getName() << "' takes " << bytes.getInt()
        << " bytes of shared memory; " << target.name << " has "
        << target.maxDynamicSharedBytes << " for a block";
}

LogicalResult verifyMap(ModuleOp module) {
  Contract contract(Stage::Map);
  const TargetInfo *target = targetOf(module, contract);
  DenseSet<Attribute> embedded = findEmbeddedKernels(module);
  bool hasKernel = false;
  module.walk([&](Operation *op) {
    if (isa<scf::ForallOp>(op) && op->hasAttr(kScheduleAttr))
      contract.fault(op->getLoc())
          << "an scf.forall over blocks is outside any kernel";
    auto kernel = dyn_cast<gpu::GPUFuncOp>(op);
    if (!kernel || !kernel.isKernel() || !kernel->hasAttr(kParametersAttr))
      return;
    hasKernel = true;
    if (target)
      verifyKernel(kernel, *target, embedded.contains(kernel.getNameAttr()),
                   contract);
  });
  if (!hasKernel)
    contract.fault(module.getLoc())
        << "no kernel with '" << kParametersAttr << "' in any gpu.module";
  module.walk([&](gpu::GPUModuleOp kernels) {
    forEachType(kernels, [&](Location loc, Operation *op, Type type) {
      auto memref = dyn_cast<MemRefType>(type);
      if (memref && !memref.getMemorySpace())
        contract.fault(loc) << "'" << op->getName() << "' has " << memref
                            << ", which has no memory space";
    });
  });
  return contract.result();
}

/// Ops that speak of a whole warp's value; after distribution each lane has
/// only its share.
bool isWarpLevel(Operation *op) {
  return isa<vector::ContractionOp, vector::MultiDimReductionOp,
             vector::TransferReadOp, vector::TransferWriteOp>(op);
}

/// What the lower stage has a conversion for: of memrefs all but these views,
/// and otherwise the dialects of a lane's program.
bool isLowerable(Operation *op) {
  return !isa<memref::SubViewOp, memref::ExpandShapeOp,
              memref::CollapseShapeOp>(op) &&
         llvm::is_contained({"arith", "builtin", "cf", "gpu", "llvm", "math",
                             "memref", "nvvm", "scf", "ub", "vector"},
                            op->getName().getDialectNamespace());
}

/// Once there are kernels, attention and loops over blocks are in none of the
/// stages' way: what is still there was never compiled.
void verifyOutsideKernels(ModuleOp module, Contract &contract) {
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<gpu::GPUModuleOp>(op))
      return WalkResult::skip();
    if (isAttention(op))
      contract.fault(op->getLoc())
          << "'" << op->getName() << "' is outside any kernel";
    if (!isa<scf::ForallOp>(op) || !op->hasAttr(kScheduleAttr))
      return WalkResult::advance();
    contract.fault(op->getLoc())
        << "an scf.forall over blocks is outside any kernel";
    return WalkResult::skip();
  });
}

LogicalResult verifyDistribute(ModuleOp module) {
  Contract contract(Stage::Distribute);
  verifyOutsideKernels(module, contract);
  module.walk([&](gpu::GPUModuleOp kernels) {
    bool isSaid = false;
    kernels.walk([&](Operation *op) {
      if (isLowerable(op) && !isWarpLevel(op))
        return;
      InFlightDiagnostic diag = contract.fault(op->getLoc());
      diag << "'" << op->getName() << "' is left";
      if (!isSaid)
        diag.attachNote(kernels.getLoc()) << "gpu.module '" << kernels.getName()
                                          << "' is of an earlier stage";
      isSaid = true;
    });
    forEachType(kernels, [&](Location loc, Operation *op, Type type) {
      auto vector = dyn_cast<VectorType>(type);
      if (!vector || !vector.getElementType().isIntOrFloat())
        return;
      int64_t bits = vector.getNumElements() * vector.getElementTypeBitWidth();
      if (bits > kLaneShareBits)
        contract.fault(loc)
            << "'" << op->getName() << "' has " << vector
            << ", which is wider than a lane's share of 16 bytes";
    });
  });
  return contract.result();
}

LogicalResult verifyLower(ModuleOp module) {
  Contract contract(Stage::Lower);
  verifyOutsideKernels(module, contract);
  module.walk([&](gpu::GPUModuleOp kernels) {
    kernels.getBody()->walk([&](Operation *op) {
      StringRef dialect = op->getName().getDialectNamespace();
      if (dialect != "llvm" && dialect != "nvvm")
        contract.fault(op->getLoc()) << "'" << op->getName() << "' is left";
    });
  });
  return contract.result();
}

} // namespace

StringRef stageName(Stage stage) {
  switch (stage) {
  case Stage::Tile:
    return "tile";
  case Stage::Map:
    return "map";
  case Stage::Distribute:
    return "distribute";
  case Stage::Lower:
    return "lower";
  }
  llvm_unreachable("all stages are named");
}

std::optional<Stage> parseStage(StringRef name) {
  for (Stage stage : {Stage::Tile, Stage::Map, Stage::Distribute, Stage::Lower})
    if (name == stageName(stage))
      return stage;
  return std::nullopt;
}

LogicalResult verifyStage(ModuleOp module, Stage stage) {
  switch (stage) {
  case Stage::Tile:
    return verifyTile(module);
  case Stage::Map:
    return verifyMap(module);
  case Stage::Distribute:
    return verifyDistribute(module);
  case Stage::Lower:
    return verifyLower(module);
  }
  llvm_unreachable("all stages have a contract");
}

} // namespace mlir::fa
