//===- Array.cpp - element types, arrays and strided views ----------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One table of element types, and the switch that loads and stores them.
//
//===----------------------------------------------------------------------===//
#include "fa/Support/Array.h"

#include "fa/Support/Float16.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace farun {

namespace {

struct TypeInfo {
  ElementType type;
  std::string_view name;
  size_t bytes;
  bool isFloat;
};

constexpr TypeInfo kTypes[] = {
    {ElementType::F64, "f64", 8, true},
    {ElementType::F32, "f32", 4, true},
    {ElementType::F16, "f16", 2, true},
    {ElementType::BF16, "bf16", 2, true},
    {ElementType::F8E4M3FN, "f8E4M3FN", 1, true},
    {ElementType::F8E5M2, "f8E5M2", 1, true},
    {ElementType::I1, "i1", 1, false},
    {ElementType::I8, "i8", 1, false},
    {ElementType::U8, "u8", 1, false},
    {ElementType::I16, "i16", 2, false},
    {ElementType::U16, "u16", 2, false},
    {ElementType::I32, "i32", 4, false},
    {ElementType::U32, "u32", 4, false},
    {ElementType::I64, "i64", 8, false},
    {ElementType::U64, "u64", 8, false},
};

const TypeInfo &info(ElementType type) {
  const TypeInfo &entry = kTypes[size_t(type)];
  assert(entry.type == type && "kTypes is in the order of the enumeration");
  return entry;
}

template <typename T> T load(const std::byte *address) {
  T value;
  std::memcpy(&value, address, sizeof(T));
  return value;
}

template <typename T> void store(std::byte *address, T value) {
  std::memcpy(address, &value, sizeof(T));
}

} // namespace

size_t byteSize(ElementType type) { return info(type).bytes; }
bool isFloat(ElementType type) { return info(type).isFloat; }
std::string_view name(ElementType type) { return info(type).name; }

std::optional<ElementType> parseElementType(std::string_view text) {
  for (const TypeInfo &entry : kTypes)
    if (entry.name == text)
      return entry.type;
  return std::nullopt;
}

double loadElement(ElementType type, const std::byte *address) {
  switch (type) {
  case ElementType::F64:
    return load<double>(address);
  case ElementType::F32:
    return load<float>(address);
  case ElementType::F16:
    return Half::decode(load<uint16_t>(address));
  case ElementType::BF16:
    return BFloat::decode(load<uint16_t>(address));
  case ElementType::F8E4M3FN:
    return Float8E4M3FN::decode(load<uint8_t>(address));
  case ElementType::F8E5M2:
    return Float8E5M2::decode(load<uint8_t>(address));
  case ElementType::I1:
    return load<uint8_t>(address) ? 1.0 : 0.0;
  case ElementType::I8:
    return load<int8_t>(address);
  case ElementType::U8:
    return load<uint8_t>(address);
  case ElementType::I16:
    return load<int16_t>(address);
  case ElementType::U16:
    return load<uint16_t>(address);
  case ElementType::I32:
    return load<int32_t>(address);
  case ElementType::U32:
    return load<uint32_t>(address);
  case ElementType::I64:
    return double(load<int64_t>(address));
  case ElementType::U64:
    return double(load<uint64_t>(address));
  }
  return 0.0;
}

void storeElement(ElementType type, std::byte *address, double value) {
  switch (type) {
  case ElementType::F64:
    return store(address, value);
  case ElementType::F32:
    return store(address, float(value));
  case ElementType::F16:
    return store(address, uint16_t(Half::encode(value)));
  case ElementType::BF16:
    return store(address, uint16_t(BFloat::encode(value)));
  case ElementType::F8E4M3FN:
    return store(address, uint8_t(Float8E4M3FN::encode(value)));
  case ElementType::F8E5M2:
    return store(address, uint8_t(Float8E5M2::encode(value)));
  case ElementType::I1:
    return store(address, uint8_t(value != 0.0));
  case ElementType::I8:
    return store(address, int8_t(value));
  case ElementType::U8:
    return store(address, uint8_t(value));
  case ElementType::I16:
    return store(address, int16_t(value));
  case ElementType::U16:
    return store(address, uint16_t(value));
  case ElementType::I32:
    return store(address, int32_t(value));
  case ElementType::U32:
    return store(address, uint32_t(value));
  case ElementType::I64:
    return store(address, int64_t(value));
  case ElementType::U64:
    return store(address, uint64_t(value));
  }
}

double roundTo(ElementType type, double value) {
  std::byte slot[8];
  storeElement(type, slot, value);
  return loadElement(type, slot);
}

std::string shapeText(const std::vector<int64_t> &shape) {
  if (shape.empty())
    return "scalar";
  std::string text;
  for (size_t d = 0; d < shape.size(); ++d)
    text += (d ? "x" : "") + std::to_string(shape[d]);
  return text;
}

int64_t elementCount(const std::vector<int64_t> &shape) {
  // Where one extent is 0 the others may be any.
  if (std::find(shape.begin(), shape.end(), 0) != shape.end())
    return 0;
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

std::vector<int64_t> denseStrides(const std::vector<int64_t> &shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;)
    // Unsigned: in an empty array a stride may be beyond all numbers.
    strides[d - 1] = int64_t(uint64_t(strides[d]) * uint64_t(shape[d]));
  return strides;
}

Array::Array(ElementType type, std::vector<int64_t> shape)
    : type(type), shape(std::move(shape)) {
  bytes.resize(size_t(size()) * byteSize(type));
}

Array::Array(ElementType type, std::vector<int64_t> shape,
             const std::vector<double> &values)
    : Array(type, std::move(shape)) {
  assert(int64_t(values.size()) == size() && "as many values as elements");
  for (size_t n = 0; n < values.size(); ++n)
    set(int64_t(n), values[n]);
}

double Array::get(int64_t index) const {
  return loadElement(type, bytes.data() + size_t(index) * byteSize(type));
}

void Array::set(int64_t index, double value) {
  storeElement(type, bytes.data() + size_t(index) * byteSize(type), value);
}

std::vector<double> Array::values() const {
  std::vector<double> result(static_cast<size_t>(size()));
  for (size_t n = 0; n < result.size(); ++n)
    result[n] = get(int64_t(n));
  return result;
}

ArrayView Array::view() const {
  return {type, bytes.data(), shape, denseStrides(shape)};
}

} // namespace farun
