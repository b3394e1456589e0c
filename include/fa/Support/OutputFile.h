//===- OutputFile.h - files that appear whole or not at all -----*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tool says at its start where it will write (expect...), so that a wrong
// path, or two outputs in each other's way, ends it before the work; writes
// beside the places when the work is done (add...); and puts all in place at
// once (commit). What was not committed vanishes with the object, new folders
// too.
//
//===----------------------------------------------------------------------===//
#ifndef FA_SUPPORT_OUTPUTFILE_H
#define FA_SUPPORT_OUTPUTFILE_H

#include "fa/Support/Expected.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace farun {

class OutputFiles {
public:
  OutputFiles() = default;
  ~OutputFiles();
  OutputFiles(const OutputFiles &) = delete;
  OutputFiles &operator=(const OutputFiles &) = delete;

  /// What an output is.
  enum class Kind {
    File,
    Folder,  ///< which may hold other files, too
    Package, ///< a folder that is replaced as a whole
  };

  /// Could this folder be made, with those above it, and written to? Nothing
  /// stays behind. `writes` tells the names that it gets; `said` is what the
  /// user wrote ("--output=DIR").
  Status expectFolder(const std::string &path, const std::string &said = "",
                      bool (*writes)(std::string_view name) = nullptr);
  /// Could this file be written? It may lie in a folder that was expected.
  Status expectFile(const std::string &path, const std::string &said = "");
  /// Is this place apart from those of the other outputs? Either of two that
  /// are not would be lost. For outputs that someone else looks at and writes.
  Status claim(const std::string &path, const std::string &said, Kind kind,
               bool (*writes)(std::string_view name) = nullptr);

  Status addFile(const std::string &path, const std::string &content);
  /// Files of one folder, by name.
  Status addFolder(
      const std::string &path,
      const std::vector<std::pair<std::string, std::string>> &namesAndContents);
  Status commit();

private:
  struct File {
    std::string target;  ///< as the user wrote it
    std::string partial; ///< where the content waits; empty when it cannot
    std::string content; ///< of a pipe or a device, written by commit()
  };

  struct Place {
    std::filesystem::path whole;
    std::string said;
    Kind kind;
    bool (*writes)(std::string_view name);
  };
  static std::string findClash(const Place &inner, const Place &outer);

  std::vector<Place> places;
  std::vector<File> files;
  std::vector<std::string> newFolders; ///< the outer ones first
};

/// One file by itself.
Status writeFileText(const std::string &path, const std::string &text);

} // namespace farun

#endif // FA_SUPPORT_OUTPUTFILE_H
