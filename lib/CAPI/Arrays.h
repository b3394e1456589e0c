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
struct GivenArray {
  farun::ElementType type = farun::ElementType::F32;
  std::byte *data = nullptr; ///< of the element with all indices 0
  bool isOnDevice = false;   ///< then `data` is no pointer of the host's
  std::vector<int64_t> shape, strides;

  int64_t size() const { return farun::elementCount(shape); }
};

/// Looks at the arrays of a call; `names` says what to call each.
Outcome checkArrays(const fa_array *arrays, size_t count, const char *what,
                    const std::vector<std::string> &names,
                    std::vector<GivenArray> &checked);

/// Refuses device memory, for what reads elements itself.
Outcome checkOnHost(const GivenArray &array, const std::string &name);

/// The addresses from the first to behind the last byte of an array that has
/// elements; false when they leave what a pointer can hold.
bool findSpan(const GivenArray &array, uint64_t &first, uint64_t &last);

/// A dense copy of the elements.
farun::Array gather(const GivenArray &array);
/// Writes the elements of a dense array of the same shape and type.
void scatter(const farun::Array &from, const GivenArray &to);
/// Writes numbers, rounded to the type.
void scatter(const std::vector<double> &from, const GivenArray &to);

/// Refuses results that share bytes with another array or with themselves.
Outcome checkOverlap(const std::vector<GivenArray> &inputs,
                     const std::vector<std::string> &inputNames,
                     const std::vector<GivenArray> &results,
                     const std::vector<std::string> &resultNames);

} // namespace facapi

#endif // FA_LIB_CAPI_ARRAYS_H
