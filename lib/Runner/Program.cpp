//===- Program.cpp - compiled kernels, from memory or a package -----------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "fa/Runner/Program.h"

#include "fa/Support/Npy.h"

#include <filesystem>

namespace farun {

namespace fs = std::filesystem;

Expected<Program> loadPackage(const std::string &folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored))
    return inputError("is no package: a folder with manifest.json is needed",
                      {folder, 0, 0});
  std::string manifestPath = (fs::path(folder) / "manifest.json").string();
  Expected<std::string> text = readFileText(manifestPath);
  if (!text)
    return text.takeError();
  Expected<Manifest> manifest = parseManifest(*text, manifestPath);
  if (!manifest)
    return manifest.takeError();
  // The name stays inside the package: a manifest from elsewhere may say
  // anything.
  fs::path name(manifest->ptx);
  if (manifest->ptx.empty() || name.filename() != name)
    return inputError("in the manifest, 'ptx' is '" + manifest->ptx +
                          "' and must name a file of the package",
                      {manifestPath, 0, 0});
  Program program;
  program.ptxName = (fs::path(folder) / name).string();
  Expected<std::string> ptx = readFileText(program.ptxName);
  if (!ptx)
    return ptx.takeError();
  program.manifest = std::move(*manifest);
  program.ptx = std::move(*ptx);
  return program;
}

Status savePackage(const Program &program, const std::string &folder) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem)
    return inputError("cannot be made: " + problem.message(), {folder, 0, 0});
  Manifest manifest = program.manifest;
  manifest.ptx = "kernel.ptx";
  if (Status status =
          writeFileText((fs::path(folder) / "manifest.json").string(),
                        manifestToJson(manifest));
      !status)
    return status;
  return writeFileText((fs::path(folder) / "kernel.ptx").string(), program.ptx);
}

} // namespace farun
