//===- Npy.h - NumPy's array files ------------------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads .npy of format 1, 2 and 3, either byte order, C and Fortran order (the
// result is always row-major and little-endian), and writes format 1. Types
// that NumPy lacks (bf16, fp8) appear in files as ml_dtypes writes them (void
// bytes, '<V2' and '|V1', or their name) or as unsigned bits; which of them is
// meant is the reader's knowledge, so readNpyAs takes the wanted type.
//
//===----------------------------------------------------------------------===//
#ifndef FA_SUPPORT_NPY_H
#define FA_SUPPORT_NPY_H

#include "fa/Support/Array.h"

#include <string>

namespace farun {

/// What a .npy file holds, before anybody says what its bits mean.
struct NpyFile {
  std::string descr; ///< as in the header, for messages: "<f2", "bfloat16"
  char kind = 'f';   ///< f, i, u, b, V, or n for a type given by name
  size_t itemSize = 0;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes; ///< row-major, little-endian
};

/// Parses the file's content; `path` only names it in messages.
Expected<NpyFile> parseNpy(const std::vector<std::byte> &content,
                           const std::string &path);

/// Reads and parses. Every problem is an Error that names the file.
Expected<NpyFile> readNpy(const std::string &path);

/// The content as an array of `type`: the same type, or raw bits of its width
/// for bf16 and fp8, or bytes of 0 and 1 for i1. Nothing is converted.
Expected<Array> toArray(NpyFile file, ElementType type,
                        const std::string &path);

/// readNpy and toArray in one step.
Expected<Array> readNpyAs(const std::string &path, ElementType type);

/// The element type that a file shows by itself: '<V2' is bf16; an error for
/// types without a counterpart here.
Expected<Array> readNpyAny(const std::string &path);

/// The content of a row-major file; bf16 and fp8 as unsigned bits, i1 as bool.
std::string npyText(const Array &array);
Status writeNpy(const std::string &path, const Array &array);

/// Is this what can be read to its end, where there is anything? A folder
/// cannot be read, and a device like /dev/zero has no end.
Status checkReadable(const std::string &path);

/// The whole content of a file, or an Error that names it.
Expected<std::vector<std::byte>> readFileBytes(const std::string &path);
Expected<std::string> readFileText(const std::string &path);

} // namespace farun

#endif // FA_SUPPORT_NPY_H
