//===- Package.cpp - a compiled kernel as files ---------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A folder of its own beside the destination takes all files; when they are
// complete they are renamed, which the file system does at once.
//
//===----------------------------------------------------------------------===//
#include "fa/Compiler/Package.h"

#include "Ptxas.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace mlir::fa {

namespace {

namespace fs = std::filesystem;

farun::Error cannotWrite(const fs::path &path, const std::string &why) {
  return farun::inputError("cannot write '" + path.string() + "': " + why);
}

farun::Status writeFile(const fs::path &path, const std::string &text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), std::streamsize(text.size()));
  file.close();
  if (file)
    return {};
  return cannotWrite(path, errno ? std::strerror(errno) : "the write failed");
}

/// A folder beside `destination` that vanishes with this object.
class Workplace {
public:
  explicit Workplace(const fs::path &destination) {
    fs::path parent = destination.parent_path();
    std::string name = "." + destination.filename().string() + ".partial-" +
                       std::to_string(getpid());
    folder = parent / name;
    std::error_code code;
    fs::create_directory(folder, code);
    if (code)
      failure = cannotWrite(destination, code.message());
  }
  ~Workplace() {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }
  Workplace(const Workplace &) = delete;
  Workplace &operator=(const Workplace &) = delete;

  fs::path folder;
  farun::Status failure;
};

/// Writes NAME.ptx, the manifest and perhaps NAME.cubin into `folder`.
farun::Status writeFiles(const CompiledKernel &kernel, const fs::path &folder,
                         const std::string &stem,
                         const std::string &manifestName,
                         const std::string &ptxas) {
  farun::Manifest manifest = kernel.manifest;
  manifest.ptx = stem + ".ptx";
  fs::path ptx = folder / manifest.ptx;
  if (farun::Status status = writeFile(ptx, kernel.ptx); !status)
    return status;
  if (farun::Status status =
          writeFile(folder / manifestName, farun::manifestToJson(manifest));
      !status)
    return status;
  if (ptxas.empty())
    return {};
  return runPtxas(ptxas, manifest.target, ptx.string(),
                  (folder / (stem + ".cubin")).string());
}

farun::Status moveInto(const fs::path &from, const fs::path &to) {
  std::error_code code;
  fs::rename(from, to, code);
  if (code)
    return cannotWrite(to, code.message());
  return {};
}

/// The .ptx form: the manifest goes first, so that a PTX file in place has one.
farun::Status placeFiles(const Workplace &work, const fs::path &ptxPath,
                         bool hasCubin) {
  for (const char *extension : {".json", ".cubin", ".ptx"}) {
    if (!hasCubin && std::string_view(extension) == ".cubin")
      continue;
    fs::path to = fs::path(ptxPath).replace_extension(extension);
    if (farun::Status status = moveInto(work.folder / to.filename(), to);
        !status)
      return status;
  }
  return {};
}

/// The folder form. An earlier package is replaced, anything else is not.
farun::Status placeFolder(const Workplace &work, const fs::path &destination) {
  std::error_code code;
  if (!fs::exists(destination, code))
    return moveInto(work.folder, destination);
  bool isOurs = fs::is_directory(destination, code) &&
                (fs::exists(destination / "manifest.json", code) ||
                 fs::is_empty(destination, code));
  if (!isOurs)
    return cannotWrite(destination, "it exists and is no package");
  fs::path old = work.folder.string() + "-old";
  if (farun::Status status = moveInto(destination, old); !status)
    return status;
  if (farun::Status status = moveInto(work.folder, destination); !status) {
    fs::rename(old, destination, code);
    return status;
  }
  fs::remove_all(old, code);
  return {};
}

} // namespace

farun::Status writePackage(const CompiledKernel &kernel,
                           const std::string &path,
                           const PackageOptions &options) {
  fs::path destination = path;
  if (!destination.has_filename()) // "NAME.fapkg/"
    destination = destination.parent_path();
  if (destination.empty())
    return farun::inputError("the output's path is empty");
  bool isPTX = destination.extension() == ".ptx";
  Workplace work(destination);
  if (!work.failure)
    return work.failure;
  std::string stem = isPTX ? destination.stem().string() : "kernel";
  std::string manifestName = isPTX ? stem + ".json" : "manifest.json";
  if (farun::Status status =
          writeFiles(kernel, work.folder, stem, manifestName, options.ptxas);
      !status)
    return status;
  return isPTX ? placeFiles(work, destination, !options.ptxas.empty())
               : placeFolder(work, destination);
}

farun::Status writeStages(const std::vector<StageText> &stages,
                          const std::string &folder) {
  std::error_code code;
  fs::create_directories(folder, code);
  if (code)
    return cannotWrite(folder, code.message());
  for (const StageText &stage : stages)
    if (farun::Status status =
            writeFile(fs::path(folder) / stage.name, stage.text);
        !status)
      return status;
  return {};
}

} // namespace mlir::fa
