//===- Package.h - a compiled kernel as files -------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two forms. A path that ends in ".ptx" gets the PTX text, and beside it the
// manifest as ".json" (and, on request, the machine code as ".cubin"). Any
// other path, by custom NAME.fapkg, becomes a folder with manifest.json,
// kernel.ptx and perhaps kernel.cubin.
//
// Everything is written under another name first and put in place at the end:
// a failure leaves what was there before. Only an earlier package is replaced:
// a file that nobody named, or a folder with any other file, is refused.
//
//===----------------------------------------------------------------------===//
#ifndef FA_SUPPORT_PACKAGE_H
#define FA_SUPPORT_PACKAGE_H

#include "fa/Support/Manifest.h"
#include "fa/Support/OutputFile.h"

#include <functional>
#include <string>

namespace farun {

/// Makes machine code: the path of the PTX file, that of the cubin to write.
using AssembleFunction =
    std::function<Status(const std::string &ptx, const std::string &cubin)>;

/// Could a package be put at this path? Before the work; leaves nothing.
Status checkPackagePath(const std::string &path, bool hasCubin = false);

/// The same beside the other outputs; `said` is what the user wrote.
Status expectPackage(OutputFiles &outputs, const std::string &path,
                     const std::string &said, bool hasCubin = false);

/// "1-tile.mlir", "5-kernel.ptx": a name that --dump-stages writes.
bool isStageFile(std::string_view name);

/// Writes it; the manifest's own name for its PTX file is set by the form.
Status writePackage(Manifest manifest, const std::string &ptx,
                    const std::string &path,
                    const AssembleFunction &assemble = {});

struct Package {
  Manifest manifest;
  std::string ptx;
  std::string ptxPath; ///< for messages
};

/// Reads the folder form; every problem names the file.
Expected<Package> readPackage(const std::string &folder);

} // namespace farun

#endif // FA_SUPPORT_PACKAGE_H
