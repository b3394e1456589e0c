//===- fa-compile.cpp - MLIR in, PTX and manifest out ---------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The command line around compile() and writePackage(). Where the results go is
// looked at first, so that a wrong path costs no compilation.
//
//===----------------------------------------------------------------------===//
#include "fa/Compiler/Compiler.h"
#include "fa/Compiler/Ptxas.h"
#include "fa/Support/OutputFile.h"
#include "fa/Support/Package.h"
#include "fa/Support/ToolOptions.h"

#include <CLI/CLI.hpp>

#include <iostream>
#include <iterator>

namespace {

struct Arguments {
  mlir::fa::CompileOptions compile;
  std::string output;
  std::string stagesFolder;
  bool wantsCubin = false;
};

/// The exit code when the command line itself settles the matter.
std::optional<int> parse(int argc, char **argv, Arguments &arguments) {
  CLI::App app("Compiles attention to PTX for NVIDIA GPUs.");
  app.add_option("FILE", arguments.compile.path,
                 "MLIR file with a function that holds fa.attention; - reads "
                 "standard input")
      ->required();
  app.add_option("-o,--output", arguments.output,
                 "OUT.ptx: PTX text, the manifest beside it as OUT.json; else "
                 "a folder (by custom NAME.fapkg)")
      ->required();
  app.add_option("--target", arguments.compile.target, "the chip")
      ->capture_default_str();
  app.add_option("--schedule", arguments.compile.schedule,
                 "KEY=V,... as in #fa.schedule; the rest is chosen");
  app.add_option("--entry", arguments.compile.entry,
                 "the function to compile; all that hold attention by default");
  app.add_option("--dump-stages", arguments.stagesFolder,
                 "a folder for the program after every stage");
  app.add_flag("--cubin", arguments.wantsCubin,
               "also machine code, by ptxas of the CUDA toolkit");
  app.add_flag("--trace", arguments.compile.traceState,
               "the kernel also stores m, l and u of one query row");
  return farun::parseCommandLine(app, argc, argv);
}

int fail(const farun::Error &error) {
  std::cerr << error.str() << "\n";
  return int(error.code);
}

/// How to assemble, nothing unless asked to.
farun::Expected<farun::AssembleFunction>
findAssembler(const Arguments &arguments) {
  if (!arguments.wantsCubin)
    return farun::AssembleFunction();
  farun::Expected<std::string> ptxas = mlir::fa::findPtxas();
  if (!ptxas)
    return ptxas.takeError();
  return farun::AssembleFunction(
      [ptxas = *ptxas, target = arguments.compile.target](
          const std::string &ptx, const std::string &cubin) {
        return mlir::fa::runPtxas(ptxas, target, ptx, cubin);
      });
}

farun::Status expectOutputs(const Arguments &arguments,
                            farun::OutputFiles &stages) {
  if (!arguments.stagesFolder.empty())
    if (farun::Status status = stages.expectFolder(
            arguments.stagesFolder, "--dump-stages=" + arguments.stagesFolder,
            farun::isStageFile);
        !status)
      return status;
  return farun::expectPackage(stages, arguments.output,
                              "--output=" + arguments.output,
                              arguments.wantsCubin);
}

farun::Status write(const mlir::fa::CompiledKernel &kernel,
                    const Arguments &arguments,
                    const farun::AssembleFunction &assemble,
                    farun::OutputFiles &stages) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (const mlir::fa::StageText &stage : kernel.stages)
    texts.push_back({stage.name, stage.text});
  if (!texts.empty())
    if (farun::Status status = stages.addFolder(arguments.stagesFolder, texts);
        !status)
      return status;
  if (farun::Status status = farun::writePackage(kernel.manifest, kernel.ptx,
                                                 arguments.output, assemble);
      !status)
    return status;
  return stages.commit();
}

int run(Arguments &arguments) {
  farun::Expected<farun::AssembleFunction> assemble = findAssembler(arguments);
  if (!assemble)
    return fail(assemble.error());
  farun::OutputFiles stages;
  if (farun::Status status = expectOutputs(arguments, stages); !status)
    return fail(status.error());
  if (arguments.compile.path == "-") {
    arguments.compile.path = "<stdin>";
    arguments.compile.text.assign(std::istreambuf_iterator<char>(std::cin), {});
    if (arguments.compile.text.empty())
      return fail(farun::inputError("standard input is empty"));
  }
  arguments.compile.keepStages = !arguments.stagesFolder.empty();

  auto kernel = mlir::fa::compile(arguments.compile);
  if (!kernel)
    return fail(kernel.error());
  for (const std::string &line : kernel->diagnostics)
    std::cerr << line << "\n";
  farun::Status status = write(*kernel, arguments, *assemble, stages);
  return status ? 0 : fail(status.error());
}

} // namespace

int main(int argc, char **argv) {
  Arguments arguments;
  std::optional<int> code = parse(argc, argv, arguments);
  return farun::finishOutput(code ? *code : run(arguments));
}
