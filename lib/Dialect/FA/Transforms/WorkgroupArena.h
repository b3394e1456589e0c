//===- WorkgroupArena.h - buffers in workgroup memory -----------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How the buffers of a block of threads lie in its workgroup memory: what a
// schedule is chosen by is what the kernel is then launched with.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_DIALECT_FA_TRANSFORMS_WORKGROUPARENA_H
#define FA_LIB_DIALECT_FA_TRANSFORMS_WORKGROUPARENA_H

#include "fa/Target/TargetInfo.h"
#include "llvm/Support/MathExtras.h"

#include <optional>

namespace mlir::fa {

class WorkgroupArena {
public:
  /// The offset of one more buffer, behind the others; none where its end
  /// cannot be counted, and then nothing changes.
  std::optional<int64_t> add(int64_t bufferBytes,
                             int64_t alignment = kBufferAlignment) {
    int64_t offset = llvm::alignTo(bytes, alignment), end = 0, padded = 0;
    if (llvm::AddOverflow(offset, bufferBytes, end) ||
        llvm::AddOverflow(end, kBufferAlignment - 1, padded))
      return std::nullopt;
    bytes = padded / kBufferAlignment * kBufferAlignment;
    return offset;
  }
  /// Of all buffers, and of the gaps before them.
  int64_t getBytes() const { return bytes; }

private:
  int64_t bytes = 0;
};

} // namespace mlir::fa

#endif // FA_LIB_DIALECT_FA_TRANSFORMS_WORKGROUPARENA_H
