//===- Arrays.h - fa_array: looked at, copied in and out --------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_CAPI_ARRAYS_H
#define FA_LIB_CAPI_ARRAYS_H

#include "Failure.h"

#include "fa/Support/Array.h"

namespace facapi {

std::optional<farun::ElementType> toElementType(fa_dtype dtype);
fa_dtype toDtype(farun::ElementType type);

/// An fa_array that was looked at: type, shape and strides are sound.
struct HostArray {
  farun::ElementType type = farun::ElementType::F32;
  std::byte *data = nullptr; ///< of the element with all indices 0
  std::vector<int64_t> shape, strides;

  int64_t size() const { return farun::elementCount(shape); }
};

/// Looks at the arrays of a call; `names` says what to call each.
Outcome checkArrays(const fa_array *arrays, size_t count, const char *what,
                    const std::vector<std::string> &names,
                    std::vector<HostArray> &checked);

/// A dense copy of the elements.
farun::Array gather(const HostArray &array);
/// Writes the elements of a dense array of the same shape and type.
void scatter(const farun::Array &from, const HostArray &to);
/// Writes numbers, rounded to the type.
void scatter(const std::vector<double> &from, const HostArray &to);

/// Refuses results that share bytes with another array or with themselves.
Outcome checkOverlap(const std::vector<HostArray> &inputs,
                     const std::vector<std::string> &inputNames,
                     const std::vector<HostArray> &results,
                     const std::vector<std::string> &resultNames);

} // namespace facapi

#endif // FA_LIB_CAPI_ARRAYS_H
