//===- ModuleToPTX.cpp - a gpu.module becomes PTX text --------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR is translated first, outside the guard; optimiser and code generator
// then see an LLVM context of their own, which is abandoned when LLVM gives up.
//
//===----------------------------------------------------------------------===//
#include "fa/Target/PTX/ModuleToPTX.h"

#include "CodegenGuard.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"

#include <mutex>

// TargetSelect.h declares these only for all targets together.
extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace mlir::fa {

namespace {

constexpr llvm::StringLiteral kTriple = "nvptx64-nvidia-cuda";

/// What LLVM does to a kernel before it writes code. A kernel of ours is one
/// function without calls or stack memory, and MLIR has folded it already: all
/// of O3 takes six times as long and ends in the same machine code.
constexpr llvm::StringLiteral kOptimizations =
    "function(early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,"
    "loop-mssa(loop-rotate,licm),instcombine<no-verify-fixpoint>,simplifycfg)";

void initializeNVPTXOnce() {
  static std::once_flag flag;
  std::call_once(flag, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

/// Errors that LLVM reports without giving up, such as an inline assembly
/// constraint that it cannot meet. Warnings do not concern the user: they
/// speak of the IR that we wrote.
struct ErrorCollector final : llvm::DiagnosticHandler {
  explicit ErrorCollector(std::string &error) : error(error) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() == llvm::DS_Error && error.empty()) {
      llvm::raw_string_ostream os(error);
      llvm::DiagnosticPrinterRawOStream printer(os);
      info.print(printer);
    }
    return true;
  }
  std::string &error;
};

/// LLVM's side of one compilation.
struct Codegen {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  std::string ptx;
  std::string error;

  void run(const TargetInfo &target);
  llvm::Error optimize(llvm::TargetMachine &machine);
};

llvm::Error Codegen::optimize(llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  if (llvm::Error failed = builder.parsePassPipeline(passes, kOptimizations))
    return failed;
  passes.run(*module, modules);
  return llvm::Error::success();
}

void Codegen::run(const TargetInfo &target) {
  llvm::Triple triple(kTriple);
  const llvm::Target *nvptx = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!nvptx)
    return;
  std::unique_ptr<llvm::TargetMachine> machine(nvptx->createTargetMachine(
      triple, target.name, target.features, llvm::TargetOptions(),
      /*RM=*/std::nullopt, /*CM=*/std::nullopt,
      llvm::CodeGenOptLevel::Default));
  module->setTargetTriple(triple);
  module->setDataLayout(machine->createDataLayout());

  if (llvm::Error failed = optimize(*machine)) {
    error = llvm::toString(std::move(failed));
    return;
  }
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream os(text);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, os, /*DwoOut=*/nullptr,
                                   llvm::CodeGenFileType::AssemblyFile)) {
    error = "this LLVM cannot write PTX text";
    return;
  }
  passes.run(*module);
  ptx = text.str().str();
}

} // namespace

void registerPTXTranslations(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

FailureOr<std::string> moduleToPTX(gpu::GPUModuleOp module,
                                   const TargetInfo &target,
                                   const PTXOptions &options) {
  if (failed(verifyTranslatable(module, target)))
    return failure();
  initializeNVPTXOnce();

  auto codegen = std::make_unique<Codegen>();
  codegen->context.setDiagnosticHandler(
      std::make_unique<ErrorCollector>(codegen->error));
  codegen->module = translateModuleToLLVMIR(module, codegen->context);
  if (!codegen->module)
    return module.emitError("the kernel's module does not translate to LLVM");

  auto body = [&] { codegen->run(target); };
  std::string fatal;
  if (!options.guardFatalErrors) {
    body();
  } else if (!runGuarded(body, fatal)) {
    // Its state is unknown: a leak is the only safe end for it.
    (void)codegen.release();
    return module.emitError("LLVM cannot write PTX for ")
           << target.name << ": " << fatal;
  }
  if (!codegen->error.empty())
    return module.emitError("LLVM cannot write PTX for ")
           << target.name << ": " << codegen->error;
  return std::move(codegen->ptx);
}

} // namespace mlir::fa
