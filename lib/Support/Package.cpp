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
#include "fa/Support/Package.h"

#include "fa/Support/Npy.h"
#include "fa/Support/OutputFile.h"

#include <filesystem>
#include <unistd.h>

namespace farun {

namespace fs = std::filesystem;

namespace {

constexpr const char *kManifestName = "manifest.json";

Error cannotWrite(const fs::path &path, const std::string &why) {
  return inputError("cannot be written: " + why, {path.string(), 0, 0});
}

/// Where the package goes, and in which form.
struct Destination {
  fs::path path;
  bool isPTX = false;

  static Expected<Destination> create(const std::string &text) {
    Destination result;
    result.path = text;
    if (!result.path.has_filename()) // "NAME.fapkg/"
      result.path = result.path.parent_path();
    if (result.path.empty())
      return inputError("the output's path is empty");
    result.isPTX = result.path.extension() == ".ptx";
    return result;
  }

  std::string stem() const { return isPTX ? path.stem().string() : "kernel"; }
  std::string manifestName() const {
    return isPTX ? stem() + ".json" : kManifestName;
  }

  /// An earlier package is replaced, a folder of something else is not.
  Status check() const {
    std::error_code code;
    if (isPTX) {
      if (fs::is_directory(path, code))
        return cannotWrite(path, "it is a folder");
      return {};
    }
    bool isFree =
        !fs::exists(path, code) ||
        (fs::is_directory(path, code) &&
         (fs::exists(path / kManifestName, code) || fs::is_empty(path, code)));
    return isFree ? Status() : cannotWrite(path, "it exists and is no package");
  }
};

/// A folder beside the destination that vanishes with this object.
class Workplace {
public:
  explicit Workplace(const fs::path &destination) {
    std::string name = "." + destination.filename().string() + ".partial-" +
                       std::to_string(getpid());
    folder = destination.parent_path() / name;
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
  Status failure;
};

/// Writes the PTX, the manifest and perhaps the machine code into `folder`.
Status writeFiles(Manifest manifest, const std::string &ptx,
                  const Destination &destination, const fs::path &folder,
                  const AssembleFunction &assemble) {
  manifest.ptx = destination.stem() + ".ptx";
  std::string ptxPath = (folder / manifest.ptx).string();
  if (Status status = writeFileText(ptxPath, ptx); !status)
    return cannotWrite(destination.path, status.error().message);
  if (Status status =
          writeFileText((folder / destination.manifestName()).string(),
                        manifestToJson(manifest));
      !status)
    return cannotWrite(destination.path, status.error().message);
  if (!assemble)
    return {};
  return assemble(ptxPath, (folder / (destination.stem() + ".cubin")).string());
}

Status moveInto(const fs::path &from, const fs::path &to) {
  std::error_code code;
  fs::rename(from, to, code);
  return code ? cannotWrite(to, code.message()) : Status();
}

/// The .ptx form: the manifest goes first, so that a PTX file in place has one.
Status placeFiles(const Workplace &work, const fs::path &ptxPath) {
  std::error_code code;
  for (const char *extension : {".json", ".cubin", ".ptx"}) {
    fs::path to = fs::path(ptxPath).replace_extension(extension);
    fs::path from = work.folder / to.filename();
    if (!fs::exists(from, code))
      continue;
    if (Status status = moveInto(from, to); !status)
      return status;
  }
  return {};
}

Status placeFolder(const Workplace &work, const fs::path &destination) {
  std::error_code code;
  if (!fs::exists(destination, code))
    return moveInto(work.folder, destination);
  fs::path old = work.folder.string() + "-old";
  if (Status status = moveInto(destination, old); !status)
    return status;
  if (Status status = moveInto(work.folder, destination); !status) {
    fs::rename(old, destination, code);
    return status;
  }
  fs::remove_all(old, code);
  return {};
}

} // namespace

Status checkPackagePath(const std::string &path) {
  Expected<Destination> destination = Destination::create(path);
  if (!destination)
    return destination.takeError();
  if (Status status = destination->check(); !status)
    return status;
  return Workplace(destination->path).failure;
}

Status writePackage(Manifest manifest, const std::string &ptx,
                    const std::string &path, const AssembleFunction &assemble) {
  Expected<Destination> destination = Destination::create(path);
  if (!destination)
    return destination.takeError();
  if (Status status = destination->check(); !status)
    return status;
  Workplace work(destination->path);
  if (!work.failure)
    return work.failure;
  if (Status status = writeFiles(std::move(manifest), ptx, *destination,
                                 work.folder, assemble);
      !status)
    return status;
  return destination->isPTX ? placeFiles(work, destination->path)
                            : placeFolder(work, destination->path);
}

Expected<Package> readPackage(const std::string &folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored))
    return inputError("is no package: a folder with manifest.json is needed",
                      {folder, 0, 0});
  std::string manifestPath = (fs::path(folder) / kManifestName).string();
  Expected<std::string> text = readFileText(manifestPath);
  if (!text)
    return text.takeError();
  Expected<Manifest> manifest = parseManifest(*text, manifestPath);
  if (!manifest)
    return manifest.takeError();
  // The name stays inside the package: a manifest from elsewhere may say
  // anything.
  fs::path name(manifest->ptx);
  if (manifest->ptx.empty() || name.filename() != name || name == "." ||
      name == "..")
    return inputError("in the manifest, 'ptx' is '" + manifest->ptx +
                          "' and must name a file of the package",
                      {manifestPath, 0, 0});
  Package package;
  package.ptxPath = (fs::path(folder) / name).string();
  Expected<std::string> ptx = readFileText(package.ptxPath);
  if (!ptx)
    return inputError("in the manifest, 'ptx' is '" + manifest->ptx +
                          "', a file of the package that " +
                          ptx.error().message,
                      {manifestPath, 0, 0});
  package.manifest = std::move(*manifest);
  package.ptx = std::move(*ptx);
  return package;
}

} // namespace farun
