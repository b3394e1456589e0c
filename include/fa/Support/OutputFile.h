//===- OutputFile.h - files that appear whole or not at all -----*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tool says at its start where it will write (expect...), so that a wrong
// path ends it before the work; writes beside the places when the work is done
// (add...); and puts all in place at once (commit). What was not committed
// vanishes with the object, new folders too.
//
//===----------------------------------------------------------------------===//
#ifndef FA_SUPPORT_OUTPUTFILE_H
#define FA_SUPPORT_OUTPUTFILE_H

#include "fa/Support/Expected.h"

#include <string>
#include <utility>
#include <vector>

namespace farun {

class OutputFiles {
public:
  OutputFiles() = default;
  ~OutputFiles();
  OutputFiles(const OutputFiles &) = delete;
  OutputFiles &operator=(const OutputFiles &) = delete;

  /// Could this folder be made, with those above it, and written to? Nothing
  /// stays behind.
  Status expectFolder(const std::string &path);
  /// Could this file be written? It may lie in a folder that was expected. A
  /// path that was expected before is refused: one of the two would be lost.
  Status expectFile(const std::string &path);

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

  std::vector<std::string> expectedFolders, expectedFiles;
  std::vector<File> files;
  std::vector<std::string> newFolders; ///< the outer ones first
};

/// One file by itself.
Status writeFileText(const std::string &path, const std::string &text);

} // namespace farun

#endif // FA_SUPPORT_OUTPUTFILE_H
