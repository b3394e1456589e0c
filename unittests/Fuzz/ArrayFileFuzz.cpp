//===- ArrayFileFuzz.cpp - any bytes as a .npy file -----------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file becomes an array whose bytes are as many as its shape says, or an
// error with its path. What was read can be converted and written again.
//
//===----------------------------------------------------------------------===//
#include "FuzzTarget.h"

#include "fa/Support/Npy.h"

using namespace farun;
using fafuzz::require;

static void judge(const Error &error) {
  require(!error.message.empty() && error.location.file == "fuzz.npy",
          "an error without a message or its file: " + error.str());
  require(error.code == ErrorCode::Input, "the input is what is wrong");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::byte *bytes = reinterpret_cast<const std::byte *>(data);
  Expected<NpyFile> file = parseNpy({bytes, bytes + size}, "fuzz.npy");
  if (!file) {
    judge(file.error());
    return 0;
  }
  int64_t count = elementCount(file->shape);
  require(count >= 0 && uint64_t(count) * file->itemSize == file->bytes.size(),
          "an array of another size than its shape");
  require(file->bytes.size() <= size, "bytes that the file does not have");
  for (ElementType type : {ElementType::F16, ElementType::F32, ElementType::I1,
                           ElementType::I64, ElementType::F8E4M3FN}) {
    Expected<Array> array = toArray(*file, type, "fuzz.npy");
    if (!array) {
      judge(array.error());
      continue;
    }
    require(array->size() == count, "a conversion that changes the shape");
    require(array->view().strides.size() == file->shape.size(),
            "not a stride for each dimension");
    std::string text = npyText(*array);
    const std::byte *first = reinterpret_cast<const std::byte *>(text.data());
    Expected<NpyFile> again = parseNpy({first, first + text.size()}, "again");
    require(bool(again) && again->shape == file->shape,
            "what was written cannot be read");
  }
  return 0;
}
