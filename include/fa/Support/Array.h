//===- Array.h - element types, arrays and strided views --------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The host's idea of a tensor: an element type, a shape, and bytes. Array owns
// its bytes, dense and row-major; ArrayView looks at anybody's bytes through
// strides (in elements, possibly 0 or negative). i1 takes one byte, as a
// memref of i1 does.
//
//===----------------------------------------------------------------------===//
#ifndef FA_SUPPORT_ARRAY_H
#define FA_SUPPORT_ARRAY_H

#include "fa/Support/Expected.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace farun {

enum class ElementType {
  F64,
  F32,
  F16,
  BF16,
  F8E4M3FN,
  F8E5M2,
  I1,
  I8,
  U8,
  I16,
  U16,
  I32,
  U32,
  I64,
  U64,
};

size_t byteSize(ElementType type);
bool isFloat(ElementType type);
/// The name as MLIR writes it: "f16", "bf16", "f8E4M3FN", "i1", "i32", ...
std::string_view name(ElementType type);
std::optional<ElementType> parseElementType(std::string_view text);

/// One element to and from f64. Storing a float rounds to nearest even; storing
/// an integer expects a value in range.
double loadElement(ElementType type, const std::byte *address);
void storeElement(ElementType type, std::byte *address, double value);
/// `value` as it reads back after being stored with this type.
double roundTo(ElementType type, double value);

/// "2x8x100x64"; "scalar" without dimensions.
std::string shapeText(const std::vector<int64_t> &shape);
int64_t elementCount(const std::vector<int64_t> &shape);

/// A look at somebody else's elements. `data` addresses the element with all
/// indices 0; strides are in elements.
struct ArrayView {
  ElementType type = ElementType::F32;
  const std::byte *data = nullptr;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;

  int64_t rank() const { return int64_t(shape.size()); }
  double at(int64_t offset) const {
    return loadElement(type, data + offset * int64_t(byteSize(type)));
  }
};

/// A dense row-major array.
struct Array {
  ElementType type = ElementType::F32;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;

  Array() = default;
  Array(ElementType type, std::vector<int64_t> shape);
  /// From numbers, each rounded to `type`.
  Array(ElementType type, std::vector<int64_t> shape,
        const std::vector<double> &values);

  int64_t size() const { return elementCount(shape); }
  double get(int64_t index) const;
  void set(int64_t index, double value);
  std::vector<double> values() const;
  ArrayView view() const;
};

/// Row-major strides of a dense array.
std::vector<int64_t> denseStrides(const std::vector<int64_t> &shape);

} // namespace farun

#endif // FA_SUPPORT_ARRAY_H
