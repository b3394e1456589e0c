//===- MapToGPU.cpp - a tile program becomes a kernel -----------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last pass of the map stage. Each tile program becomes a gpu.func in a
// gpu.module of its own and a launch of it:
//
// - the iterations of the scf.forall become the blocks of a one-dimensional
//   grid, or its clusters, the last dimension fastest, so that neighbouring
//   blocks share K and V; an empty grid is not launched;
// - what the program takes from outside becomes arguments (KernelArguments.h);
// - its buffers of workgroup memory become views of one arena of dynamic
//   shared memory, whose size is known here.
//===----------------------------------------------------------------------===//

#include "KernelArguments.h"
#include "TileProgram.h"
#include "WorkgroupArena.h"
#include "fa/Dialect/FA/Transforms/AttributeNames.h"
#include "fa/Dialect/FA/Transforms/Passes.h"
#include "fa/Target/TargetInfo.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

namespace mlir::fa {
#define GEN_PASS_DEF_FAMAPTOGPU
#include "fa/Dialect/FA/Transforms/Passes.h.inc"
} // namespace mlir::fa

using namespace mlir;
using namespace mlir::fa;

namespace {

int64_t getAlignment(Operation *buffer) {
  return buffer->hasAttr(kPanelsAttr) ? kPanelAlignment : kBufferAlignment;
}

/// The bytes of a buffer, where an i1 is a byte; the largest number where they
/// cannot be counted.
int64_t getBufferBytes(MemRefType type) {
  int64_t bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  for (int64_t extent : type.getShape())
    if (llvm::MulOverflow(bytes, extent, bytes))
      return std::numeric_limits<int64_t>::max();
  return bytes;
}

class ProgramMapper {
public:
  ProgramMapper(scf::ForallOp program, const CompleteSchedule &schedule,
                SymbolTable &symbols)
      : program(program),
        threads((schedule.warps + schedule.producers) * kWarpSize),
        cluster(schedule.cluster),
        function(program->getParentOfType<func::FuncOp>()), symbols(symbols),
        builder(program.getContext()) {}

  LogicalResult run();

private:
  LogicalResult verifyProgram();
  LogicalResult verifyLimits();
  void createKernel();
  LogicalResult mapCaptures(KernelArguments &arguments);
  LogicalResult mapBlockIds(KernelArguments &arguments);
  void cloneBody();
  LogicalResult retypeViews();
  void placeBuffers();
  LogicalResult setAttributes(KernelArguments &arguments);
  void setRegisters(WarpRolesOp roles);
  FailureOr<std::string> getGridText(KernelArguments &arguments);
  void launch(KernelArguments &arguments);

  scf::ForallOp program;
  int64_t threads;
  int64_t cluster; ///< blocks that do an iteration
  func::FuncOp function;
  SymbolTable &symbols;
  OpBuilder builder;
  gpu::GPUModuleOp kernels;
  gpu::GPUFuncOp kernel;
  IRMapping mapping; // from the program to the kernel
  int64_t sharedBytes = 0;
};

LogicalResult ProgramMapper::verifyProgram() {
  if (!program.isNormalized() || program.getNumResults() != 0)
    return program.emitOpError("a tile program must count from 0 by 1 and have "
                               "no results");
  if (program.getRank() == 0)
    return program.emitOpError("a tile program must have a dimension");
  if (program->getParentOfType<scf::ForallOp>())
    return program.emitOpError("is inside another scf.forall");
  if (function.getName().empty())
    return function.emitOpError(
        "needs a name, after which its kernel is named");
  WalkResult walk = program.walk([&](memref::AllocOp alloc) {
    MemRefType type = alloc.getType();
    if (alloc->getBlock() != program.getBody())
      alloc.emitOpError("a buffer of a tile program must be allocated directly "
                        "in it");
    else if (!isInWorkgroupMemory(type) || !type.hasStaticShape() ||
             !type.getLayout().isIdentity())
      alloc.emitOpError("a buffer of a tile program must be contiguous "
                        "workgroup memory of static extents");
    else if (!type.getElementType().isIntOrFloat() ||
             alloc.getAlignment().value_or(1) > kBufferAlignment)
      alloc.emitOpError("a buffer of a tile program must hold integers or "
                        "floats, aligned to ")
          << kBufferAlignment << " bytes at most";
    else
      return WalkResult::advance();
    return WalkResult::interrupt();
  });
  if (walk.wasInterrupted())
    return failure();
  return verifyLimits();
}

/// The block and its buffers, by what the module's target has.
LogicalResult ProgramMapper::verifyLimits() {
  const TargetInfo *target = nullptr;
  auto module = program->getParentOfType<ModuleOp>();
  if (auto name = module->getAttrOfType<StringAttr>(kTargetAttr)) {
    std::string error;
    target = lookupTarget(name, error);
    if (!target)
      return module.emitError(error);
  }
  // What no target exceeds, where none is named.
  int64_t maxThreads = target ? target->maxThreadsPerBlock : 1024;
  if (threads > maxThreads)
    return program.emitOpError("schedule key warps = ")
           << threads / kWarpSize << " exceeds the " << maxThreads / kWarpSize
           << " warps of a block";
  WorkgroupArena arena;
  int64_t maxBytes = target ? target->maxDynamicSharedBytes
                            : std::numeric_limits<int32_t>::max();
  for (auto alloc : program.getBody()->getOps<memref::AllocOp>()) {
    if (!arena.add(getBufferBytes(alloc.getType()), getAlignment(alloc)) ||
        arena.getBytes() > maxBytes)
      return program.emitOpError("buffers need more than the ")
             << maxBytes << " bytes of workgroup memory of a block";
  }
  return success();
}

/// The name of a function as PTX can spell it: letters, digits, '_' and '$',
/// no digit first.
static std::string spellForPTX(StringRef name) {
  std::string text = name.str();
  for (char &c : text)
    if (!llvm::isAlnum(c) && c != '_' && c != '$')
      c = '_';
  return llvm::isDigit(text.front()) ? "_" + text : text;
}

/// The names follow from the function's, so that two compilations agree.
void ProgramMapper::createKernel() {
  Location loc = program.getLoc();
  Operation *last = function;
  while (isa_and_nonnull<gpu::GPUModuleOp>(last->getNextNode()))
    last = last->getNextNode();
  builder.setInsertionPointAfter(last);
  std::string name = spellForPTX(function.getName());
  kernels = gpu::GPUModuleOp::create(builder, loc, name + "_kernels");
  symbols.insert(kernels);
  // A second program of the function got a number; its kernel gets it too.
  StringRef number = kernels.getName();
  number.consume_front(name + "_kernels");
  builder.setInsertionPointToStart(kernels.getBody());
  kernel = gpu::GPUFuncOp::create(builder, loc, name + "_kernel" + number.str(),
                                  builder.getFunctionType({}, {}));
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                  builder.getUnitAttr());
  builder.setInsertionPointToStart(&kernel.getBody().front());
}

/// Memrefs first, in the order of the function's arguments: so the kernel's
/// arguments come operand by operand.
LogicalResult ProgramMapper::mapCaptures(KernelArguments &arguments) {
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(program.getRegion(), captured);
  SmallVector<Value> ordered;
  auto take = [&](auto wanted) {
    for (Value value : captured)
      if (wanted(value) && !llvm::is_contained(ordered, value))
        ordered.push_back(value);
  };
  for (BlockArgument argument : function.getArguments())
    take([&](Value value) {
      return isa<MemRefType>(value.getType()) &&
             getViewedMemref(value) == argument;
    });
  take([](Value value) { return isa<MemRefType>(value.getType()); });
  take([](Value) { return true; });
  for (Value value : ordered) {
    FailureOr<Value> inKernel = arguments.getInKernel(value);
    if (failed(inKernel))
      return failure();
    mapping.map(value, *inKernel);
  }
  return success();
}

/// Takes the block's or the cluster's number apart, the last dimension fastest.
LogicalResult ProgramMapper::mapBlockIds(KernelArguments &arguments) {
  Location loc = program.getLoc();
  SmallVector<Value> sizes;
  for (auto [dim, bound] : llvm::enumerate(program.getMixedUpperBound())) {
    std::optional<int64_t> constant = getConstantIntValue(bound);
    // Nothing divides by the first one.
    if (constant || dim == 0) {
      sizes.push_back(
          arith::ConstantIndexOp::create(builder, loc, constant.value_or(0)));
      continue;
    }
    FailureOr<Value> size = arguments.getInKernel(cast<Value>(bound));
    if (failed(size))
      return failure();
    sizes.push_back(*size);
  }
  // A grid has fewer than 2^31 blocks.
  Value number;
  if (cluster == 1)
    number = gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x);
  else
    number = gpu::ClusterIdOp::create(builder, loc, gpu::Dimension::x);
  SmallVector<Value> place = emitPlaceOf(builder, loc, number, sizes);
  // The only number of a dimension of extent 1, even where nothing divides.
  if (isConstantIntValue(sizes.front(), 1))
    place.front() = arith::ConstantIndexOp::create(builder, loc, 0);
  mapping.map(program.getInductionVars(), place);
  return success();
}

/// Folds on the way, so that rebuilding a view sees an index that is constant:
/// it is part of the view's type.
void ProgramMapper::cloneBody() {
  for (Operation &op : program.getBody()->without_terminator()) {
    Operation *copy = builder.clone(op, mapping);
    SmallVector<Value> folded;
    if (!isPure(copy) || failed(builder.tryFold(copy, folded)) ||
        folded.empty())
      continue;
    for (auto [old, value] : llvm::zip_equal(op.getResults(), folded))
      mapping.map(old, value);
    copy->erase();
  }
  gpu::ReturnOp::create(builder, program.getLoc());
}

SmallVector<OpFoldResult> foldConstants(ArrayRef<OpFoldResult> values) {
  return llvm::map_to_vector(values, [](OpFoldResult value) {
    auto dynamic = dyn_cast<Value>(value);
    return dynamic ? getAsOpFoldResult(dynamic) : value;
  });
}

/// The same view of a source of another type.
memref::SubViewOp rebuildView(OpBuilder &builder, memref::SubViewOp view) {
  SmallVector<OpFoldResult> offsets = foldConstants(view.getMixedOffsets());
  SmallVector<OpFoldResult> sizes = foldConstants(view.getMixedSizes());
  SmallVector<OpFoldResult> strides = foldConstants(view.getMixedStrides());
  // The extents that the view keeps, matched from the last dimension; what it
  // drops has extent 1.
  SmallVector<int64_t> shape(view.getType().getShape());
  int64_t kept = shape.size() - 1;
  SmallVector<OpFoldResult> before = view.getMixedSizes();
  for (int64_t dim = sizes.size() - 1; dim >= 0 && kept >= 0; --dim) {
    std::optional<int64_t> extent = getConstantIntValue(sizes[dim]);
    bool isSame = isa<Value>(before[dim]) ? ShapedType::isDynamic(shape[kept])
                                          : extent == shape[kept];
    if (isSame)
      shape[kept--] = extent.value_or(ShapedType::kDynamic);
  }
  auto source = cast<MemRefType>(view.getSource().getType());
  MemRefType type = memref::SubViewOp::inferRankReducedResultType(
      shape, source, offsets, sizes, strides);
  builder.setInsertionPoint(view);
  return memref::SubViewOp::create(builder, view.getLoc(), type,
                                   view.getSource(), offsets, sizes, strides);
}

/// The memrefs over arguments now are in global memory: so are views of them.
LogicalResult ProgramMapper::retypeViews() {
  SmallVector<Value> changed;
  kernel.walk([&](ViewOp view) { changed.push_back(view.getResult()); });
  while (!changed.empty()) {
    Value memref = changed.pop_back_val();
    for (Operation *user : llvm::make_early_inc_range(memref.getUsers())) {
      if (auto subview = dyn_cast<memref::SubViewOp>(user)) {
        memref::SubViewOp rebuilt = rebuildView(builder, subview);
        subview.replaceAllUsesWith(rebuilt.getResult());
        subview.erase();
        changed.push_back(rebuilt.getResult());
      } else if (auto cast = dyn_cast<memref::CastOp>(user)) {
        cast.replaceAllUsesWith(memref);
        cast.erase();
        changed.push_back(memref);
        break;
      } else if (isa<ViewLikeOpInterface>(user)) {
        return user->emitOpError("of a global operand is not supported inside "
                                 "a tile program");
      }
    }
  }
  return success();
}

/// One buffer behind the other in the arena.
void ProgramMapper::placeBuffers() {
  SmallVector<memref::AllocOp> buffers;
  kernel.walk([&](memref::AllocOp alloc) { buffers.push_back(alloc); });
  if (buffers.empty())
    return;
  int64_t alignment = kBufferAlignment;
  for (memref::AllocOp buffer : buffers)
    alignment = std::max(alignment, getAlignment(buffer));
  Location loc = kernel.getLoc();
  auto space = gpu::AddressSpaceAttr::get(builder.getContext(),
                                          gpu::AddressSpace::Workgroup);
  // Public, without a size: the form of dynamic shared memory.
  auto arenaType = MemRefType::get({0}, builder.getI8Type(),
                                   MemRefLayoutAttrInterface(), space);
  std::string name = kernel.getName().str() + "_smem";
  builder.setInsertionPointToStart(kernels.getBody());
  memref::GlobalOp::create(builder, loc, name, /*sym_visibility=*/StringAttr(),
                           arenaType, /*initial_value=*/Attribute(),
                           /*constant=*/false,
                           builder.getI64IntegerAttr(alignment));
  builder.setInsertionPointToStart(&kernel.getBody().front());
  Value arena = memref::GetGlobalOp::create(builder, loc, arenaType, name);
  WorkgroupArena places;
  for (memref::AllocOp buffer : buffers) {
    Value offset = arith::ConstantIndexOp::create(
        builder, loc,
        *places.add(getBufferBytes(buffer.getType()), getAlignment(buffer)));
    auto view =
        memref::ViewOp::create(builder, buffer.getLoc(), buffer.getType(),
                               arena, offset, ValueRange{});
    view->setDiscardableAttrs(buffer->getDiscardableAttrDictionary());
    for (Operation *user : llvm::make_early_inc_range(buffer->getUsers()))
      if (isa<memref::DeallocOp>(user))
        user->erase();
    buffer.replaceAllUsesWith(view.getResult());
    buffer.erase();
  }
  sharedBytes = places.getBytes();
}

FailureOr<std::string> ProgramMapper::getGridText(KernelArguments &arguments) {
  std::string text;
  SmallVector<OpFoldResult> bounds = program.getMixedUpperBound();
  for (OpFoldResult bound : llvm::reverse(bounds)) {
    std::optional<int64_t> constant = getConstantIntValue(bound);
    if (constant == 1)
      continue;
    FailureOr<std::string> factor =
        constant ? std::to_string(*constant)
                 : arguments.getExtentText(cast<Value>(bound));
    if (failed(factor))
      return failure();
    text += (text.empty() ? "" : " * ") + *factor;
  }
  if (cluster != 1)
    text += (text.empty() ? "" : " * ") + std::to_string(cluster);
  return text.empty() ? "1" : text;
}

/// Roles divide the registers of a multiprocessor among one block: all that its
/// size gives it, or fewer from the launch on, where those are enough for all.
void ProgramMapper::setRegisters(WarpRolesOp roles) {
  auto set = [&](StringRef name, int64_t value) {
    kernel->setAttr(name,
                    builder.getI32IntegerAttr(static_cast<int32_t>(value)));
  };
  set(NVVM::NVVMDialect::getMinctasmAttrName(), 1);
  if (!roles.getRegisters())
    return;
  int64_t needed = 0;
  for (auto [warps, number] :
       llvm::zip_equal(roles.getWarps(), *roles.getRegisters()))
    needed += warps * number;
  int64_t groups = roles.getNumWarps() / kWarpsPerWarpgroup;
  int64_t launched = getRegisterShares(groups - 1).launched;
  if (launched < getLaunchRegisters(threads) &&
      needed <= roles.getNumWarps() * launched)
    set(NVVM::NVVMDialect::getMaxnregAttrName(), launched);
}

LogicalResult ProgramMapper::setAttributes(KernelArguments &arguments) {
  kernel.setKnownBlockSizeAttr(
      builder.getDenseI32ArrayAttr({static_cast<int32_t>(threads), 1, 1}));
  FailureOr<ArrayAttr> rows = arguments.getParameterRows();
  if (failed(rows))
    return failure();
  kernel->setAttr(kParametersAttr, *rows);
  kernel->setAttr(kSharedBytesAttr, builder.getI64IntegerAttr(sharedBytes));
  kernel.walk([&](WarpRolesOp roles) { setRegisters(roles); });
  if (cluster != 1) {
    kernel->setAttr(kClusterAttr,
                    builder.getDenseI64ArrayAttr({cluster, 1, 1}));
    kernel->setAttr(
        NVVM::NVVMDialect::getClusterDimAttrName(),
        builder.getDenseI32ArrayAttr({static_cast<int32_t>(cluster), 1, 1}));
  }
  FailureOr<std::string> grid = getGridText(arguments);
  if (succeeded(grid))
    kernel->setAttr(kGridAttr, builder.getStrArrayAttr({*grid, "1", "1"}));
  else if (arguments.isDescribed())
    return program.emitOpError("the number of blocks does not follow from the "
                               "extents of the function's arguments");
  return success();
}

void ProgramMapper::launch(KernelArguments &arguments) {
  Location loc = program.getLoc();
  builder.setInsertionPoint(program);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value grid = one;
  for (Value bound : program.getUpperBound(builder))
    grid = builder.createOrFold<arith::MulIOp>(loc, grid, bound);
  std::optional<gpu::KernelDim3> clusters;
  if (cluster != 1) {
    Value size = arith::ConstantIndexOp::create(builder, loc, cluster);
    grid = builder.createOrFold<arith::MulIOp>(loc, grid, size);
    clusters = gpu::KernelDim3{size, one, one};
  }
  Value hasBlocks =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, grid, zero);
  auto guard =
      scf::IfOp::create(builder, loc, hasBlocks, /*withElseRegion=*/false);
  builder.setInsertionPointToStart(guard.thenBlock());
  SmallVector<Value> values = arguments.emitHostValues(builder, loc);
  Value block = arith::ConstantIndexOp::create(builder, loc, threads);
  Value bytes = arith::ConstantIntOp::create(builder, loc, sharedBytes, 32);
  gpu::LaunchFuncOp::create(
      builder, loc, kernel, gpu::KernelDim3{grid, one, one},
      gpu::KernelDim3{block, one, one}, bytes, values,
      /*asyncTokenType=*/Type(), /*dependencies=*/{}, clusters);
}

LogicalResult ProgramMapper::run() {
  if (failed(verifyProgram()))
    return failure();
  createKernel();
  KernelArguments arguments(function, kernel, builder);
  if (failed(mapCaptures(arguments)) || failed(mapBlockIds(arguments)))
    return failure();
  cloneBody();
  if (failed(retypeViews()))
    return failure();
  arguments.finish();
  placeBuffers();
  if (failed(setAttributes(arguments)))
    return failure();
  launch(arguments);
  program.erase();
  return success();
}

/// What only the programs used.
void eraseDeadOps(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  (void)runRegionDCE(rewriter, function->getRegions());
}

struct FAMapToGPU : public fa::impl::FAMapToGPUBase<FAMapToGPU> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
    for (func::FuncOp function : functions) {
      bool hasPrograms = false;
      auto map = [&](scf::ForallOp program, const CompleteSchedule &schedule) {
        hasPrograms = true;
        return ProgramMapper(program, schedule, symbols).run();
      };
      if (failed(forEachTileProgram(function, map)))
        return signalPassFailure();
      if (!hasPrograms && function->hasAttr(kOperandsAttr)) {
        function.emitOpError("describes operands but holds no scf.forall with "
                             "a schedule; was it folded away?");
        return signalPassFailure();
      }
      if (!hasPrograms)
        continue;
      eraseDeadOps(function);
      module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                      UnitAttr::get(module.getContext()));
    }
  }
};

} // namespace
