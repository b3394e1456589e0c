//===- fa-compile.cpp - MLIR in, PTX and manifest out ---------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The command line around compile() and writePackage().
//
//===----------------------------------------------------------------------===//
#include "fa/Compiler/Compiler.h"
#include "fa/Compiler/Package.h"
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
  app.set_version_flag("--version", "fa-compile " FA_VERSION);
  return farun::parseCommandLine(app, argc, argv);
}

int fail(const farun::Error &error) {
  std::cerr << error.str() << "\n";
  return int(error.code);
}

int run(Arguments &arguments) {
  mlir::fa::PackageOptions package;
  if (arguments.wantsCubin) {
    farun::Expected<std::string> ptxas = mlir::fa::findPtxas();
    if (!ptxas)
      return fail(ptxas.error());
    package.ptxas = *ptxas;
  }
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
  if (arguments.compile.keepStages)
    if (farun::Status status =
            mlir::fa::writeStages(kernel->stages, arguments.stagesFolder);
        !status)
      return fail(status.error());
  if (farun::Status status =
          mlir::fa::writePackage(*kernel, arguments.output, package);
      !status)
    return fail(status.error());
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  Arguments arguments;
  if (std::optional<int> code = parse(argc, argv, arguments))
    return *code;
  return run(arguments);
}
