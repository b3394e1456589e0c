//===- Arrays.cpp - fa_array: looked at, copied in and out ----------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Arrays.h"

#include "fa/Support/Limits.h"

#include <algorithm>

namespace facapi {

using farun::ElementType;

static constexpr ElementType kTypes[] = {
    ElementType::F16, ElementType::BF16,     ElementType::F32,
    ElementType::F64, ElementType::F8E4M3FN, ElementType::F8E5M2,
    ElementType::I1,  ElementType::I8,       ElementType::U8,
    ElementType::I16, ElementType::U16,      ElementType::I32,
    ElementType::U32, ElementType::I64,      ElementType::U64};

std::optional<ElementType> toElementType(fa_dtype dtype) {
  if (int(dtype) < 1 || int(dtype) > int(std::size(kTypes)))
    return std::nullopt;
  return kTypes[int(dtype) - 1];
}

fa_dtype toDtype(ElementType type) {
  return fa_dtype(std::find(std::begin(kTypes), std::end(kTypes), type) -
                  std::begin(kTypes) + 1);
}

bool findSpan(const GivenArray &array, uint64_t &first, uint64_t &last) {
  int64_t low = 0, high = 0;
  for (size_t d = 0; d < array.shape.size(); ++d) {
    int64_t reach;
    if (__builtin_mul_overflow(array.shape[d] - 1, array.strides[d], &reach) ||
        __builtin_add_overflow(reach < 0 ? low : high, reach,
                               reach < 0 ? &low : &high))
      return false;
  }
  int64_t size = int64_t(farun::byteSize(array.type));
  uint64_t place = reinterpret_cast<uint64_t>(array.data);
  if (__builtin_mul_overflow(low, size, &low) ||
      __builtin_mul_overflow(high, size, &high) ||
      __builtin_add_overflow(high, size, &high))
    return false;
  return !__builtin_add_overflow(place, low, &first) &&
         !__builtin_add_overflow(place, high, &last);
}

static Outcome checkArray(const fa_array &array, const std::string &name,
                          GivenArray &checked) {
  std::optional<ElementType> type = toElementType(array.dtype);
  if (!type)
    return inputFailure(
        name + " has the unknown dtype " + std::to_string(int(array.dtype)) +
            "; accepted are 1 to " + std::to_string(std::size(kTypes)),
        name);
  if (array.memory != FA_MEMORY_HOST && array.memory != FA_MEMORY_DEVICE)
    return inputFailure(name + " has the unknown memory " +
                            std::to_string(int(array.memory)) +
                            "; accepted are 0 (host) and 1 (device)",
                        name);
  if (array.rank < 0 || array.rank > FA_MAX_RANK)
    return inputFailure(name + " has rank " + std::to_string(array.rank) +
                            "; accepted are 0 to " +
                            std::to_string(FA_MAX_RANK),
                        name);
  if (array.rank && !array.shape)
    return inputFailure("the shape of " + name + " is null", name);
  checked.type = *type;
  checked.data = static_cast<std::byte *>(array.data);
  checked.isOnDevice = array.memory == FA_MEMORY_DEVICE;
  int64_t count = 1;
  for (int d = 0; d < array.rank; ++d) {
    int64_t extent = array.shape[d];
    // Elements beside an extent of 0 are none, whatever the others say.
    if (extent < 0 ||
        (extent && __builtin_mul_overflow(count, extent, &count)) ||
        count > farun::kMaxElements)
      return inputFailure("dimension " + std::to_string(d) + " of " + name +
                              " is " + std::to_string(extent) +
                              "; an extent is not negative, and an array has "
                              "at most 2^40 elements",
                          name);
    checked.shape.push_back(extent);
  }
  checked.strides = farun::denseStrides(checked.shape);
  if (array.strides)
    checked.strides.assign(array.strides, array.strides + array.rank);
  if (checked.size() == 0)
    return std::nullopt;
  if (!array.data)
    return inputFailure("the data of " + name + " is null", name);
  uint64_t first, last;
  if (!findSpan(checked, first, last))
    return inputFailure("the strides of " + name + " leave the address space",
                        name);
  return std::nullopt;
}

Outcome checkArrays(const fa_array *arrays, size_t count, const char *what,
                    const std::vector<std::string> &names,
                    std::vector<GivenArray> &checked) {
  if (count != names.size()) {
    std::string all;
    for (const std::string &name : names)
      all += (all.empty() ? "" : ", ") + name;
    return inputFailure(std::to_string(count) + " " + what +
                            "s were given; there are " +
                            std::to_string(names.size()) + ": " + all,
                        what + std::string("_count"));
  }
  if (count && !arrays)
    return inputFailure(std::string("the ") + what + "s are null",
                        what + std::string("s"));
  checked.resize(count);
  for (size_t n = 0; n < count; ++n)
    if (Outcome failure = checkArray(arrays[n], names[n], checked[n]))
      return failure;
  return std::nullopt;
}

Outcome checkOnHost(const GivenArray &array, const std::string &name) {
  if (!array.isOnDevice)
    return std::nullopt;
  return inputFailure(name + " lies in device memory; accepted is host memory, "
                             "for the oracle and what compares read it",
                      name);
}

namespace {

/// Visits the rows of an array: offsets of their first element in elements,
/// dense and by strides. A row is the last dimension.
template <typename Visit>
void forEachRow(const GivenArray &array, Visit visit) {
  size_t rank = array.shape.size();
  int64_t width = rank ? array.shape.back() : 1;
  int64_t rows = width ? array.size() / width : 0;
  std::vector<int64_t> index(rank, 0);
  int64_t offset = 0;
  for (int64_t row = 0; row < rows; ++row) {
    visit(row * width, offset, width);
    for (size_t d = rank ? rank - 1 : 0; d-- > 0;) {
      offset += array.strides[d];
      if (++index[d] < array.shape[d])
        break;
      offset -= index[d] * array.strides[d];
      index[d] = 0;
    }
  }
}

int64_t lastStride(const GivenArray &array) {
  return array.strides.empty() ? 1 : array.strides.back();
}

} // namespace

farun::Array gather(const GivenArray &array) {
  farun::Array dense(array.type, array.shape);
  int64_t size = int64_t(farun::byteSize(array.type)), step = lastStride(array);
  forEachRow(array, [&](int64_t at, int64_t offset, int64_t width) {
    std::byte *to = dense.bytes.data() + at * size;
    const std::byte *from = array.data + offset * size;
    if (step == 1) {
      std::memcpy(to, from, size_t(width * size));
      return;
    }
    for (int64_t n = 0; n < width; ++n)
      std::memcpy(to + n * size, from + n * step * size, size_t(size));
  });
  if (array.type == ElementType::I1)
    for (std::byte &byte : dense.bytes)
      byte = std::byte(byte != std::byte(0));
  return dense;
}

void scatter(const farun::Array &from, const GivenArray &to) {
  int64_t size = int64_t(farun::byteSize(to.type)), step = lastStride(to);
  forEachRow(to, [&](int64_t at, int64_t offset, int64_t width) {
    const std::byte *source = from.bytes.data() + at * size;
    std::byte *target = to.data + offset * size;
    if (step == 1) {
      std::memcpy(target, source, size_t(width * size));
      return;
    }
    for (int64_t n = 0; n < width; ++n)
      std::memcpy(target + n * step * size, source + n * size, size_t(size));
  });
}

void scatter(const std::vector<double> &from, const GivenArray &to) {
  scatter(farun::Array(to.type, to.shape, from), to);
}

/// Whether two elements of the array may have one address: not so when each
/// stride passes over all that the smaller ones reach.
static bool overlapsItself(const GivenArray &array) {
  std::vector<std::pair<uint64_t, uint64_t>> steps; // stride, extent - 1
  for (size_t d = 0; d < array.shape.size(); ++d)
    if (array.shape[d] > 1)
      steps.push_back({array.strides[d] < 0 ? -uint64_t(array.strides[d])
                                            : uint64_t(array.strides[d]),
                       uint64_t(array.shape[d] - 1)});
  std::sort(steps.begin(), steps.end());
  uint64_t reach = 0;
  for (auto [stride, last] : steps) {
    if (stride <= reach)
      return true;
    reach += stride * last;
  }
  return false;
}

Outcome checkOverlap(const std::vector<GivenArray> &inputs,
                     const std::vector<std::string> &inputNames,
                     const std::vector<GivenArray> &results,
                     const std::vector<std::string> &resultNames) {
  std::vector<GivenArray> all = inputs;
  all.insert(all.end(), results.begin(), results.end());
  for (size_t r = 0; r < results.size(); ++r) {
    if (results[r].size() == 0)
      continue;
    if (overlapsItself(results[r]))
      return inputFailure("two elements of the result " + resultNames[r] +
                              " may lie at one address by its strides",
                          resultNames[r]);
    uint64_t first = 0, last = 0;
    findSpan(results[r], first, last);
    for (size_t n = 0; n < inputs.size() + r; ++n) {
      uint64_t otherFirst = 0, otherLast = 0;
      if (all[n].size() == 0)
        continue;
      findSpan(all[n], otherFirst, otherLast);
      if (first < otherLast && otherFirst < last)
        return inputFailure(
            "the result " + resultNames[r] + " overlaps " +
                (n < inputs.size()
                     ? inputNames[n]
                     : "the result " + resultNames[n - inputs.size()]) +
                "; its memory must be its own",
            resultNames[r]);
    }
  }
  return std::nullopt;
}

} // namespace facapi
