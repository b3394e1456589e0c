//===- OutputFile.cpp - files that appear whole or not at all -------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "fa/Support/OutputFile.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace farun {

namespace fs = std::filesystem;

namespace {

Error cannotWrite(const std::string &path, const std::string &why) {
  return inputError("cannot be written: " + why, {path, 0, 0});
}
Error cannotMake(const std::string &path, const std::string &why) {
  return inputError("cannot be made: " + why, {path, 0, 0});
}

/// Through a symbolic link: the link stays.
fs::path targetOf(const std::string &path) {
  std::error_code code;
  return fs::is_symlink(path, code) ? fs::weakly_canonical(path, code)
                                    : fs::path(path);
}

/// A name beside `target` that no other process uses.
std::string partialOf(const fs::path &target) {
  return target.string() + ".partial-" + std::to_string(getpid());
}

/// What is no plain file (a pipe, /dev/null) is written as it is.
bool isPlain(const std::string &path) {
  std::error_code code;
  fs::file_status place = fs::status(path, code);
  return !fs::exists(place) || fs::is_regular_file(place);
}

/// Empty, or why.
std::string writeAll(const std::string &path, const std::string &content) {
  errno = 0;
  std::ofstream stream(path, std::ios::binary | std::ios::trunc);
  if (stream)
    stream.write(content.data(), std::streamsize(content.size()));
  stream.flush();
  if (stream)
    return "";
  return errno ? std::strerror(errno) : "the write failed";
}

/// Tries to make a file at `path`, which does not exist yet.
std::string probe(const std::string &path) {
  std::string why = writeAll(path, "");
  std::error_code ignored;
  fs::remove(path, ignored);
  return why;
}

/// One spelling of a place, whether there is something or not.
fs::path wholeOf(const std::string &path) {
  std::error_code code;
  fs::path whole = fs::weakly_canonical(fs::absolute(path, code), code);
  return whole.has_filename() ? whole : whole.parent_path(); // "out/"
}

/// The name in `folder` through which `path` is reached; empty outside.
std::string nameInside(const fs::path &path, const fs::path &folder) {
  auto [rest, end] =
      std::mismatch(path.begin(), path.end(), folder.begin(), folder.end());
  return end == folder.end() && rest != path.end() ? rest->string() : "";
}

} // namespace

OutputFiles::~OutputFiles() {
  std::error_code ignored;
  for (const File &file : files)
    if (!file.partial.empty())
      fs::remove(file.partial, ignored);
  // Only what is empty goes.
  for (size_t n = newFolders.size(); n-- > 0;)
    fs::remove(newFolders[n], ignored);
}

std::string OutputFiles::findClash(const Place &inner, const Place &outer) {
  std::string name = nameInside(inner.whole, outer.whole);
  if (name.empty())
    return "";
  if (outer.kind == Kind::Folder)
    return outer.writes && outer.writes(name)
               ? inner.said + " takes a name that " + outer.said + " writes"
               : "";
  return inner.said + " is inside of " + outer.said +
         (outer.kind == Kind::File ? ", a file"
                                   : ", a package, which holds nothing else");
}

Status OutputFiles::claim(const std::string &path, const std::string &said,
                          Kind kind, bool (*writes)(std::string_view name)) {
  Place place{wholeOf(path), said.empty() ? path : said, kind, writes};
  for (const Place &other : places) {
    if (place.whole == other.whole)
      return inputError(other.said + " and " + place.said +
                        " are the same path; one of the two would be lost");
    std::string clash = findClash(place, other);
    if (clash.empty())
      clash = findClash(other, place);
    if (!clash.empty())
      return inputError(clash);
  }
  places.push_back(std::move(place));
  return {};
}

Status OutputFiles::expectFolder(const std::string &path,
                                 const std::string &said,
                                 bool (*writes)(std::string_view name)) {
  if (path.empty())
    return inputError("the path of an output is empty");
  std::error_code code;
  fs::path above = fs::absolute(path, code);
  while (!fs::exists(fs::symlink_status(above, code)) &&
         above != above.parent_path())
    above = above.parent_path();
  if (!fs::is_directory(above, code))
    return cannotMake(path, std::strerror(ENOTDIR));
  std::string why = probe(partialOf(above / "output"));
  if (!why.empty())
    return cannotMake(path, why);
  return claim(path, said, Kind::Folder, writes);
}

Status OutputFiles::expectFile(const std::string &path,
                               const std::string &said) {
  if (path.empty())
    return inputError("the path of an output is empty");
  std::error_code code;
  if (fs::is_directory(path, code))
    return cannotWrite(path, std::strerror(EISDIR));
  // Lines of several kinds can go to one pipe.
  if (!isPlain(path))
    return access(path.c_str(), W_OK) ? cannotWrite(path, std::strerror(errno))
                                      : Status();
  fs::path folder = wholeOf(path).parent_path();
  bool isExpected =
      std::any_of(places.begin(), places.end(), [&](const Place &place) {
        return place.kind == Kind::Folder && place.whole == folder;
      });
  if (!isExpected)
    if (std::string why = probe(partialOf(targetOf(path))); !why.empty())
      return cannotWrite(path, why);
  return claim(path, said, Kind::File);
}

Status OutputFiles::addFile(const std::string &path,
                            const std::string &content) {
  std::error_code code;
  if (fs::is_directory(path, code))
    return cannotWrite(path, std::strerror(EISDIR));
  if (!isPlain(path)) {
    files.push_back({path, "", content});
    return {};
  }
  std::string partial = partialOf(targetOf(path));
  files.push_back({path, partial, ""});
  if (std::string why = writeAll(partial, content); !why.empty())
    return cannotWrite(path, why);
  return {};
}

Status OutputFiles::addFolder(
    const std::string &path,
    const std::vector<std::pair<std::string, std::string>> &namesAndContents) {
  std::vector<fs::path> missing;
  std::error_code code;
  fs::path folder = fs::absolute(path, code).lexically_normal();
  if (!folder.has_filename()) // "out/"
    folder = folder.parent_path();
  for (; !fs::exists(folder, code) && folder != folder.parent_path();
       folder = folder.parent_path())
    missing.push_back(folder);
  for (size_t n = missing.size(); n-- > 0;) {
    fs::create_directory(missing[n], code);
    if (code)
      return cannotMake(path, code.message());
    newFolders.push_back(missing[n].string());
  }
  if (!fs::is_directory(path, code))
    return cannotMake(path, std::strerror(ENOTDIR));
  for (const auto &[name, content] : namesAndContents)
    if (Status status = addFile((fs::path(path) / name).string(), content);
        !status)
      return status;
  return {};
}

Status OutputFiles::commit() {
  // What can still fail comes first.
  for (const File &file : files)
    if (file.partial.empty())
      if (std::string why = writeAll(file.target, file.content); !why.empty())
        return cannotWrite(file.target, why);
  for (File &file : files) {
    if (file.partial.empty())
      continue;
    std::error_code code;
    fs::rename(file.partial, targetOf(file.target), code);
    if (code)
      return cannotWrite(file.target, code.message());
    file.partial.clear();
  }
  files.clear();
  newFolders.clear();
  return {};
}

Status writeFileText(const std::string &path, const std::string &text) {
  OutputFiles output;
  if (Status status = output.addFile(path, text); !status)
    return status;
  return output.commit();
}

} // namespace farun
