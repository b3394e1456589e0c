//===- Compiler.cpp - MLIR text in, PTX and manifest out ------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One compilation owns its context, so that compilations run beside each
// other. The stages are those of Pipelines.h, run one by one; the manifest is
// read off the program after the map stage, which notes all it needs.
//
//===----------------------------------------------------------------------===//
#include "fa/Compiler/Compiler.h"

#include "DiagnosticLog.h"
#include "ManifestBuilder.h"
#include "Nesting.h"

#include "fa/Dialect/FA/IR/FADialect.h"
#include "fa/Pipelines/Pipelines.h"
#include "fa/Target/PTX/ModuleToPTX.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

namespace mlir::fa {

namespace {

DialectRegistry makeRegistry() {
  DialectRegistry registry;
  registerAllDialects(registry);
  registerPTXTranslations(registry);
  return registry;
}

SmallVector<Operation *> findAttention(func::FuncOp func) {
  SmallVector<Operation *> found;
  func.walk([&](Operation *op) {
    if (isa<AttentionOp, MergeOp>(op))
      found.push_back(op);
  });
  return found;
}

/// A package launches one op of one function, by the function's arguments.
LogicalResult checkOneAttention(func::FuncOp func) {
  SmallVector<Operation *> found = findAttention(func);
  if (found.size() == 1)
    return success();
  return found[1]->emitOpError("is number 2 of ")
         << found.size() << " in '" << func.getName()
         << "'; a function to launch from outside holds one, with arguments "
            "for operands; what computes around attention is compiled by "
            "fa-opt";
}

class Compilation {
public:
  Compilation(const CompileOptions &options, const TargetInfo &target)
      : options(options), target(target),
        context(makeRegistry(), MLIRContext::Threading::DISABLED),
        log(&context) {
    // Users are told where, not shown our half-compiled op.
    context.printOpOnDiagnostic(false);
  }

  farun::Expected<CompiledKernel> run();

private:
  std::optional<farun::Error> read();
  LogicalResult parse();
  LogicalResult selectEntry();
  LogicalResult runStage(StringRef fileName,
                         function_ref<void(OpPassManager &)> build);
  LogicalResult runStages();
  FailureOr<gpu::GPUModuleOp> gatherKernels();
  LogicalResult translate();
  void keep(StringRef fileName, std::string text);

  const CompileOptions &options;
  const TargetInfo &target;
  MLIRContext context;
  DiagnosticLog log;
  std::string source;
  OwningOpRef<ModuleOp> module;
  OwningOpRef<ModuleOp> kernelsOwner; // of the gathered kernels
  CompiledKernel result;
};

void Compilation::keep(StringRef fileName, std::string text) {
  if (options.keepStages)
    result.stages.push_back({fileName.str(), std::move(text)});
}

std::optional<farun::Error> Compilation::read() {
  source = options.text;
  if (!source.empty())
    return std::nullopt;
  auto buffer = llvm::MemoryBuffer::getFile(options.path, /*IsText=*/true);
  if (std::error_code code = buffer.getError())
    return farun::inputError("cannot read '" + options.path +
                             "': " + code.message());
  source = (*buffer)->getBuffer().str();
  return std::nullopt;
}

LogicalResult Compilation::parse() {
  llvm::SourceMgr sources;
  StringRef name = options.path.empty() ? "<text>" : StringRef(options.path);
  if (std::optional<size_t> deep = findDeepNesting(source)) {
    StringRef before = StringRef(source).take_front(*deep);
    size_t lineBegin = before.rfind('\n') + 1; // 0 in the first line
    return emitError(FileLineColLoc::get(&context, name, before.count('\n') + 1,
                                         *deep - lineBegin + 1))
           << "brackets are nested more than " << kMaxNesting << " deep";
  }
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(source, name),
                             llvm::SMLoc());
  module = parseSourceFile<ModuleOp>(sources, &context);
  return success(bool(module));
}

/// Leaves the functions to compile: with an entry, no other that holds
/// attention, unless something refers to it.
LogicalResult Compilation::selectEntry() {
  SmallVector<func::FuncOp> candidates;
  for (auto func : module->getOps<func::FuncOp>())
    if (!findAttention(func).empty())
      candidates.push_back(func);
  Location loc = module->getLoc();
  if (candidates.empty())
    return emitError(loc) << "no function holds an fa.attention";
  if (options.entry.empty())
    return success(llvm::all_of(candidates, [](func::FuncOp func) {
      return succeeded(checkOneAttention(func));
    }));

  auto names = llvm::map_range(
      candidates, [](func::FuncOp func) { return func.getName(); });
  if (!llvm::is_contained(names, options.entry))
    return emitError(loc) << "entry '" << options.entry
                          << "' names no function that holds attention; "
                             "there are "
                          << llvm::join(names, ", ");
  for (func::FuncOp func : candidates) {
    bool isEntry = func.getName() == options.entry;
    if (isEntry && failed(checkOneAttention(func)))
      return failure();
    if (!isEntry && SymbolTable::symbolKnownUseEmpty(func, *module))
      func.erase();
  }
  return success();
}

LogicalResult Compilation::runStage(StringRef fileName,
                                    function_ref<void(OpPassManager &)> build) {
  PassManager manager(module.get()->getName());
  // Once a stage: after every pass it would take a third of the passes' time.
  manager.enableVerifier(false);
  build(manager);
  if (failed(manager.run(*module)) || failed(verify(*module)))
    return failure();
  if (options.keepStages) {
    std::string text;
    llvm::raw_string_ostream os(text);
    module->print(os);
    keep(fileName, text + "\n");
  }
  return success();
}

LogicalResult Compilation::runStages() {
  PipelineOptions pipeline;
  pipeline.target = options.target;
  pipeline.schedule = options.schedule;
  pipeline.trace = options.traceState;
  keep("0-input.mlir", source);
  if (failed(runStage("1-tile.mlir",
                      [&](OpPassManager &manager) {
                        buildTilePipeline(manager, pipeline);
                      })) ||
      failed(runStage("2-map.mlir", buildMapPipeline)))
    return failure();

  FailureOr<farun::Manifest> manifest = buildManifest(*module);
  if (failed(manifest))
    return failure();
  result.manifest = std::move(*manifest);
  return success(
      succeeded(runStage("3-distribute.mlir", buildDistributePipeline)) &&
      succeeded(runStage("4-lower.mlir", buildLowerPipeline)));
}

/// One gpu.module with all kernels, since a package has one PTX file. Each
/// function's kernels came in a module of their own, with names from its name.
FailureOr<gpu::GPUModuleOp> Compilation::gatherKernels() {
  SmallVector<gpu::GPUModuleOp> modules(module->getOps<gpu::GPUModuleOp>());
  if (modules.size() == 1)
    return modules.front();
  kernelsOwner = ModuleOp::create(module->getLoc());
  auto builder = OpBuilder::atBlockBegin(kernelsOwner->getBody());
  auto all = gpu::GPUModuleOp::create(builder, module->getLoc(), "kernels");
  SymbolTable symbols(all);
  for (gpu::GPUModuleOp part : modules) {
    for (Operation &op : *part.getBody()) {
      auto symbol = dyn_cast<SymbolOpInterface>(op);
      if (symbol && symbols.lookup(symbol.getName()))
        return op.emitError()
               << "two kernels' modules define '" << symbol.getName() << "'";
      Operation *copy = op.clone();
      all.getBody()->push_back(copy);
      if (symbol)
        symbols.insert(copy);
    }
  }
  return all;
}

LogicalResult Compilation::translate() {
  FailureOr<gpu::GPUModuleOp> kernels = gatherKernels();
  if (failed(kernels))
    return failure();
  PTXOptions ptxOptions;
  ptxOptions.guardFatalErrors = true;
  FailureOr<std::string> ptx = moduleToPTX(*kernels, target, ptxOptions);
  if (failed(ptx))
    return failure();
  result.ptx = std::move(*ptx);
  keep("5-kernel.ptx", result.ptx);
  return success();
}

farun::Expected<CompiledKernel> Compilation::run() {
  if (std::optional<farun::Error> error = read())
    return std::move(*error);
  if (failed(parse()))
    return log.takeError("the text is not MLIR");
  if (failed(selectEntry()) || failed(runStages()) || failed(translate()))
    return log.takeError("the compiler failed without a word");
  result.diagnostics = log.takeWarnings();
  return std::move(result);
}

} // namespace

farun::Expected<CompiledKernel> compile(const CompileOptions &options) {
  std::string error;
  const TargetInfo *target = lookupTarget(options.target, error);
  if (!target)
    return farun::inputError(error);
  return Compilation(options, *target).run();
}

std::vector<std::string> targetNames() {
  std::vector<std::string> names;
  for (const TargetInfo &target : supportedTargets())
    names.push_back(target.name.str());
  return names;
}

std::string llvmVersion() { return LLVM_VERSION_STRING; }

} // namespace mlir::fa
