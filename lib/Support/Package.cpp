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
#include "fa/Support/Text.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <unistd.h>

namespace farun {

namespace fs = std::filesystem;

namespace {

constexpr const char *kManifestName = "manifest.json";
/// All that a folder of ours holds.
constexpr const char *kFolderNames[] = {kManifestName, "kernel.ptx",
                                        "kernel.cubin"};

Error cannotWrite(const fs::path &path, const std::string &why) {
  return inputError("cannot be written: " + why, {path.string(), 0, 0});
}

bool isThere(const fs::path &path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

/// Why this is no manifest of ours; empty when it is one.
std::string whyNoManifest(const fs::path &path) {
  Expected<std::string> text = readFileText(path.string());
  if (!text)
    return text.error().message;
  Expected<Manifest> manifest = parseManifest(*text, path.string());
  return manifest ? "" : manifest.error().message;
}

/// The first name in the folder that no package has; empty without one.
std::string findForeign(const fs::path &folder, std::error_code &code) {
  std::string first;
  code.clear();
  for (fs::directory_iterator it(folder, code), end; !code && it != end;
       it.increment(code)) {
    std::string name = it->path().filename().string();
    std::error_code ignored;
    bool isOurs = std::find(std::begin(kFolderNames), std::end(kFolderNames),
                            name) != std::end(kFolderNames) &&
                  !it->is_directory(ignored);
    if (!isOurs && (first.empty() || name < first))
      first = name;
  }
  return first;
}

/// May a package take the place of this folder? Of an earlier package, and of
/// an empty folder; nobody's other files are lost.
Status checkFolder(const fs::path &folder) {
  std::error_code code;
  if (fs::equivalent(folder, fs::current_path(code), code))
    return cannotWrite(folder, "this runs in that folder, and a package is put "
                               "in its place as a whole");
  if (!fs::is_directory(folder, code))
    return cannotWrite(folder, "it exists and is no package");
  std::string foreign = findForeign(folder, code);
  if (code)
    return cannotWrite(folder, code.message());
  if (!foreign.empty())
    return cannotWrite(folder, "it exists and holds " + quote(foreign) +
                                   ", which is of no package");
  if (fs::is_empty(folder, code))
    return {};
  if (std::string why = whyNoManifest(folder / kManifestName); !why.empty())
    return cannotWrite(folder, "it exists and is no package, by its " +
                                   std::string(kManifestName) + ": " + why);
  return {};
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
    // A folder is renamed, which "." and a link to it cannot be.
    std::error_code code;
    fs::path name = result.path.filename();
    if (name == "." || name == ".." ||
        (!result.isPTX && fs::is_directory(result.path, code)))
      result.path = fs::weakly_canonical(result.path, code);
    return result;
  }

  std::string stem() const { return isPTX ? path.stem().string() : "kernel"; }
  std::string manifestName() const {
    return isPTX ? stem() + ".json" : kManifestName;
  }

  /// What was not named is not ours to replace, unless it is of a package.
  Status check(bool hasCubin) const {
    if (!isPTX)
      return isThere(path) ? checkFolder(path) : Status();
    std::error_code code;
    if (fs::is_directory(path, code))
      return cannotWrite(path, "it is a folder");
    fs::path manifest = beside(".json"), cubin = beside(".cubin");
    if (isThere(manifest)) {
      std::string why = whyNoManifest(manifest);
      return why.empty()
                 ? Status()
                 : cannotWrite(manifest, "it would be the manifest of " +
                                             path.filename().string() +
                                             ", and what it is now is "
                                             "none: " +
                                             why);
    }
    if (hasCubin && isThere(cubin))
      return cannotWrite(cubin, "it exists, and " +
                                    manifest.filename().string() +
                                    " does not, which would say that it is of "
                                    "a package");
    return {};
  }

  /// Of the .ptx form.
  fs::path beside(const char *extension) const {
    return fs::path(path).replace_extension(extension);
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
    isOurs = fs::create_directory(folder, code);
    if (!isOurs)
      failure = cannotWrite(destination, code ? code.message()
                                              : quote(name) + " is in the way");
  }
  ~Workplace() {
    std::error_code ignored;
    if (isOurs)
      fs::remove_all(folder, ignored);
  }
  Workplace(const Workplace &) = delete;
  Workplace &operator=(const Workplace &) = delete;

  fs::path folder;
  Status failure;

private:
  bool isOurs = false;
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
  // What came into the folder meanwhile stays.
  for (const char *name : kFolderNames)
    fs::remove(old / name, code);
  fs::remove(old, code);
  return code
             ? cannotWrite(destination, "it was replaced, and what else was in "
                                        "it is now in " +
                                            old.string())
             : Status();
}

} // namespace

bool isStageFile(std::string_view name) {
  return name.size() > 2 && std::isdigit(static_cast<unsigned char>(name[0])) &&
         name[1] == '-' && (name.ends_with(".mlir") || name.ends_with(".ptx"));
}

Status checkPackagePath(const std::string &path, bool hasCubin) {
  Expected<Destination> destination = Destination::create(path);
  if (!destination)
    return destination.takeError();
  if (Status status = destination->check(hasCubin); !status)
    return status;
  return Workplace(destination->path).failure;
}

Status expectPackage(OutputFiles &outputs, const std::string &path,
                     const std::string &said, bool hasCubin) {
  if (Status status = checkPackagePath(path, hasCubin); !status)
    return status;
  Expected<Destination> destination = Destination::create(path);
  if (!destination)
    return destination.takeError();
  if (!destination->isPTX)
    return outputs.claim(destination->path.string(), said,
                         OutputFiles::Kind::Package);
  for (const char *extension : {".ptx", ".json", ".cubin"}) {
    if (!hasCubin && extension == std::string_view(".cubin"))
      continue;
    if (Status status = outputs.claim(destination->beside(extension).string(),
                                      said, OutputFiles::Kind::File);
        !status)
      return status;
  }
  return {};
}

Status writePackage(Manifest manifest, const std::string &ptx,
                    const std::string &path, const AssembleFunction &assemble) {
  Expected<Destination> destination = Destination::create(path);
  if (!destination)
    return destination.takeError();
  if (Status status = destination->check(bool(assemble)); !status)
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
    return inputError("in the manifest, 'ptx' is " + quote(manifest->ptx) +
                          " and must name a file of the package",
                      {manifestPath, 0, 0});
  Package package;
  package.ptxPath = (fs::path(folder) / name).string();
  Expected<std::string> ptx = readFileText(package.ptxPath);
  if (!ptx)
    return inputError("in the manifest, 'ptx' is " + quote(manifest->ptx) +
                          ", a file of the package that " + ptx.error().message,
                      {manifestPath, 0, 0});
  package.manifest = std::move(*manifest);
  package.ptx = std::move(*ptx);
  return package;
}

} // namespace farun
