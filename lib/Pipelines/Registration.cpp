//===- Registration.cpp - dialects, passes and pipelines by name ----------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What tools and embedders register: the dialects that our stages read and
// write, and nothing else of upstream's.
//
//===----------------------------------------------------------------------===//
#include "fa/Conversion/Passes.h"
#include "fa/Dialect/FA/IR/FADialect.h"
#include "fa/Dialect/FA/Transforms/BufferizableOpInterfaceImpl.h"
#include "fa/Dialect/FA/Transforms/Passes.h"
#include "fa/GPU/Passes.h"
#include "fa/Pipelines/Passes.h"
#include "fa/Pipelines/Pipelines.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

namespace mlir::fa {

namespace {

/// Stages after the first take no options.
template <void (*Build)(OpPassManager &)>
void registerStage(StringRef name, StringRef description) {
  PassPipelineRegistration<> registration(
      name, description, [](OpPassManager &manager) { Build(manager); });
}

} // namespace

void buildPipeline(OpPassManager &manager, const PipelineOptions &options) {
  buildTilePipeline(manager, options);
  buildMapPipeline(manager);
  buildDistributePipeline(manager);
  buildLowerPipeline(manager);
}

void registerAllPipelines() {
  PassPipelineRegistration<PipelineOptions> tile(
      "fa-stage-tile", "Turn attention into loops over blocks",
      buildTilePipeline);
  registerStage<buildMapPipeline>(
      "fa-stage-map", "Turn a tile program into a kernel and its launch");
  registerStage<buildDistributePipeline>(
      "fa-stage-distribute", "Give each lane its share of a warp's values");
  registerStage<buildLowerPipeline>("fa-stage-lower",
                                    "Lower kernels to llvm and nvvm");
  PassPipelineRegistration<PipelineOptions> all(
      "fa-pipeline", "All stages, from attention to llvm and nvvm",
      buildPipeline);
}

void registerAllPasses() {
  registerFATransformsPasses();
  registerFAGPUPasses();
  registerFAConversionPasses();
  registerFAPipelinesPasses();
}

void registerAllDialects(DialectRegistry &registry) {
  registry.insert<FADialect, affine::AffineDialect, arith::ArithDialect,
                  bufferization::BufferizationDialect, cf::ControlFlowDialect,
                  func::FuncDialect, gpu::GPUDialect, linalg::LinalgDialect,
                  LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect,
                  NVVM::NVVMDialect, scf::SCFDialect, tensor::TensorDialect,
                  ub::UBDialect, vector::VectorDialect>();
  registerBufferizableOpInterfaceExternalModels(registry);
  // convert-gpu-to-nvvm converts what these speak for and leaves the rest.
  arith::registerConvertArithToLLVMInterface(registry);
  cf::registerConvertControlFlowToLLVMInterface(registry);
  NVVM::registerConvertGpuToNVVMInterface(registry);
  registerConvertMathToLLVMInterface(registry);
  registerConvertMemRefToLLVMInterface(registry);
  registerConvertNVVMToLLVMInterface(registry);
  ub::registerConvertUBToLLVMInterface(registry);
  vector::registerConvertVectorToLLVMInterface(registry);
}

} // namespace mlir::fa
