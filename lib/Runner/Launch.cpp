//===- Launch.cpp - buffers and arguments of a launch ---------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "fa/Runner/Launch.h"

#include <algorithm>
#include <cassert>
#include <limits>

namespace farun {

namespace {

constexpr std::byte kFiller = std::byte(0xff);

/// Calls `visit(element, offset)` for each element in row-major order.
template <typename Visit>
void forEachElement(const std::vector<int64_t> &shape, const MemoryImage &image,
                    Visit visit) {
  int64_t count = elementCount(shape);
  std::vector<int64_t> index(shape.size(), 0);
  int64_t offset = image.base;
  for (int64_t n = 0; n < count; ++n) {
    visit(n, offset);
    for (size_t d = shape.size(); d-- > 0;) {
      offset += image.strides[d];
      if (++index[d] < shape[d])
        break;
      offset -= index[d] * image.strides[d];
      index[d] = 0;
    }
  }
}

/// A whole number as a parameter of this type.
Expected<LaunchArgument> integerArgument(const std::string &type, int64_t value,
                                         const std::string &what) {
  if (type == "i64")
    return LaunchArgument::of(value);
  if (type != "i32")
    return inputError("the parameter for " + what + " has type '" + type +
                      "'; accepted are i32 and i64");
  if (value < std::numeric_limits<int32_t>::min() ||
      value > std::numeric_limits<int32_t>::max())
    return inputError(what + " is " + std::to_string(value) +
                      " and the kernel takes 32 bits");
  return LaunchArgument::of(int32_t(value));
}

LaunchArgument scalarArgument(const Array &array) {
  LaunchArgument argument;
  const uint8_t *bytes = reinterpret_cast<const uint8_t *>(array.bytes.data());
  argument.bytes.assign(bytes, bytes + byteSize(array.type));
  return argument;
}

/// Why an operand has no tensor map; empty where it has one or needs none.
using MapReasons = std::vector<std::string>;

/// A map of zeros stands for none.
Expected<LaunchArgument>
tensorMapArgument(const Parameter &parameter, const Entry &entry,
                  const Binding &binding, const DeviceOperands &operands,
                  Device &device, MapReasons &whyNone) {
  size_t operand = size_t(parameter.operand);
  Expected<TensorMapRequest> request = describeTensor(
      parameter, entry.operands[operand].type, operands.addresses[operand],
      binding.shapes[operand], operands.images[operand].strides);
  if (!request) {
    if (elementCount(binding.shapes[operand]) != 0)
      whyNone[operand] = request.takeError().message;
    return LaunchArgument::of(std::array<uint8_t, kTensorMapBytes>{});
  }
  Expected<LaunchArgument> map = device.encodeTensorMap(*request);
  if (map)
    return map;
  Error error = map.takeError();
  error.message =
      describeOperand(entry, parameter.operand) + ": " + error.message;
  return error;
}

Expected<LaunchArgument> makeParameter(const Parameter &parameter,
                                       const Entry &entry,
                                       const Binding &binding,
                                       const std::vector<Array> &arrays,
                                       const DeviceOperands &operands,
                                       Device &device, MapReasons &whyNone) {
  size_t operand = size_t(std::max(parameter.operand, 0));
  size_t dim = size_t(std::max(parameter.dim, 0));
  switch (parameter.kind) {
  case ParameterKind::Pointer:
    return LaunchArgument::of(operands.addresses[operand]);
  case ParameterKind::Workspace:
    return LaunchArgument::of(operands.workspace);
  case ParameterKind::Scalar:
    return scalarArgument(arrays[operand]);
  case ParameterKind::Trace:
    if (parameter.type == "ptr")
      return LaunchArgument::of(operands.trace);
    return integerArgument(parameter.type, operands.traceRow,
                           "the row to trace");
  case ParameterKind::Stride:
    return integerArgument(parameter.type,
                           operands.images[operand].strides[dim],
                           "stride " + std::to_string(dim) + " of " +
                               describeOperand(entry, int(operand)));
  case ParameterKind::Extent: {
    if (parameter.dim >= 0)
      return integerArgument(parameter.type, binding.shapes[operand][dim],
                             "extent " + std::to_string(dim) + " of " +
                                 describeOperand(entry, int(operand)));
    auto value = binding.extents.find(parameter.extent);
    if (value == binding.extents.end())
      return inputError("a kernel needs the extent " + parameter.extent +
                        ", which no operand has");
    return integerArgument(parameter.type, value->second,
                           "the extent " + parameter.extent);
  }
  case ParameterKind::TensorMap:
    return tensorMapArgument(parameter, entry, binding, operands, device,
                             whyNone);
  }
  return inputError("a parameter is of no known kind");
}

} // namespace

MemoryImage MemoryImage::create(const std::vector<int64_t> &shape,
                                std::vector<int64_t> strides,
                                ElementType type) {
  MemoryImage image;
  image.strides = strides.empty() ? denseStrides(shape) : std::move(strides);
  if (elementCount(shape) == 0)
    return image;
  int64_t last = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    int64_t reach = (shape[d] - 1) * image.strides[d];
    (reach < 0 ? image.base : last) += reach < 0 ? -reach : reach;
  }
  image.bytes = uint64_t(image.base + last + 1) * byteSize(type);
  return image;
}

std::vector<std::byte> packImage(const Array &array, const MemoryImage &image) {
  std::vector<std::byte> bytes(image.bytes, kFiller);
  size_t size = byteSize(array.type);
  forEachElement(array.shape, image, [&](int64_t n, int64_t offset) {
    std::copy_n(array.bytes.begin() + n * int64_t(size), size,
                bytes.begin() + offset * int64_t(size));
  });
  return bytes;
}

bool unpackImage(const std::vector<std::byte> &bytes, const MemoryImage &image,
                 Array &array) {
  size_t size = byteSize(array.type);
  std::vector<bool> isElement(bytes.size() / size);
  forEachElement(array.shape, image, [&](int64_t n, int64_t offset) {
    std::copy_n(bytes.begin() + offset * int64_t(size), size,
                array.bytes.begin() + n * int64_t(size));
    isElement[size_t(offset)] = true;
  });
  for (size_t n = 0; n < isElement.size(); ++n)
    if (!isElement[n] &&
        std::any_of(bytes.begin() + int64_t(n * size),
                    bytes.begin() + int64_t((n + 1) * size),
                    [](std::byte byte) { return byte != kFiller; }))
      return false;
  return true;
}

Expected<TensorMapRequest> describeTensor(const Parameter &parameter,
                                          ElementType type,
                                          DeviceAddress address,
                                          const std::vector<int64_t> &shape,
                                          const std::vector<int64_t> &strides) {
  constexpr int64_t kMaxExtent = int64_t(1) << 32;
  constexpr int64_t kMaxStride = int64_t(1) << 40;
  assert(parameter.box.size() == shape.size() && "a box of another tensor");
  auto refuse = [](const std::string &found, const std::string &accepted) {
    return inputError("its " + found + "; a tensor map takes " + accepted);
  };
  if (address % uint64_t(kTensorAlignment))
    return refuse("address is off 16 bytes by " +
                      std::to_string(address % uint64_t(kTensorAlignment)),
                  "multiples of 16");
  TensorMapRequest request;
  request.type = type;
  request.address = address;
  request.swizzle = parameter.swizzle;
  for (size_t d = shape.size(); d-- > 0;) {
    std::string inDim = " in dimension " + std::to_string(d) + " is ";
    if (shape[d] < 1 || shape[d] > kMaxExtent)
      return refuse("extent" + inDim + std::to_string(shape[d]), "1 to 2^32");
    request.extents.push_back(uint64_t(shape[d]));
    request.box.push_back(uint32_t(parameter.box[d]));
    bool isInnermost = d + 1 == shape.size(), isOne = shape[d] == 1;
    if (isInnermost && !isOne && strides[d] != 1)
      return refuse("stride" + inDim + std::to_string(strides[d]) + " elements",
                    "1 there");
    if (isInnermost)
      continue;
    // Nobody steps along a dimension of one.
    int64_t bytes = kTensorAlignment;
    bool isHuge =
        !isOne && __builtin_mul_overflow(strides[d], byteSize(type), &bytes);
    if (isHuge || bytes <= 0 || bytes >= kMaxStride || bytes % kTensorAlignment)
      return refuse("stride" + inDim +
                        (isHuge ? std::to_string(strides[d]) + " elements"
                                : std::to_string(bytes) + " bytes"),
                    "positive multiples of 16 bytes below 2^40");
    request.strides.push_back(uint64_t(bytes));
  }
  return request;
}

std::string WithoutTensorMap::str() const {
  return "copy: " + operand + " without a tensor map: " + why;
}

Expected<ParameterValues> makeParameters(const Entry &entry,
                                         const Binding &binding,
                                         const std::vector<Array> &arrays,
                                         const DeviceOperands &operands,
                                         Device &device) {
  ParameterValues made;
  MapReasons whyNone(entry.operands.size());
  for (const Parameter &parameter : entry.parameters) {
    Expected<LaunchArgument> value = makeParameter(
        parameter, entry, binding, arrays, operands, device, whyNone);
    if (!value)
      return value.takeError();
    made.values.push_back(std::move(*value));
  }
  for (size_t n = 0; n < whyNone.size(); ++n)
    if (!whyNone[n].empty())
      made.withoutTensorMap.push_back(
          {entry.operands[n].roleText(), std::move(whyNone[n])});
  return made;
}

Expected<std::optional<LaunchGeometry>>
evaluateGeometry(const Launch &launch, const Extents &extents) {
  struct Axis {
    const char *name;
    const std::array<std::string, 3> &text;
    std::array<uint32_t, 3> LaunchGeometry::*target;
    int64_t limits[3];
  };
  const Axis axes[] = {
      {"grid", launch.grid, &LaunchGeometry::grid, {2147483647, 65535, 65535}},
      {"block", launch.block, &LaunchGeometry::block, {1024, 1024, 64}},
      {"cluster", launch.cluster, &LaunchGeometry::cluster, {16, 16, 16}}};
  LaunchGeometry geometry;
  bool isEmpty = false;
  for (const Axis &axis : axes)
    for (int d = 0; d < 3; ++d) {
      Expected<int64_t> value = evaluateExtent(axis.text[size_t(d)], extents);
      if (!value)
        return inputError("the " + std::string(axis.name) + " of kernel " +
                          launch.kernel + ": " + value.error().message);
      isEmpty |= axis.target == &LaunchGeometry::grid && *value == 0;
      if (*value < (axis.target == &LaunchGeometry::grid ? 0 : 1) ||
          *value > axis.limits[d])
        return inputError("the launch of kernel " + launch.kernel + " needs " +
                          axis.name + "." + "xyz"[d] + " = " +
                          std::to_string(*value) + "; the limit is " +
                          std::to_string(axis.limits[d]));
      (geometry.*axis.target)[size_t(d)] = uint32_t(*value);
    }
  Expected<int64_t> shared = evaluateExtent(launch.sharedBytes, extents);
  if (!shared)
    return inputError("the shared memory of kernel " + launch.kernel + ": " +
                      shared.error().message);
  constexpr int64_t kMaxShared = 227 * 1024;
  if (*shared < 0 || *shared > kMaxShared)
    return inputError("the launch of kernel " + launch.kernel + " needs " +
                      std::to_string(*shared) +
                      " bytes of shared memory; the limit is " +
                      std::to_string(kMaxShared));
  geometry.sharedBytes = uint32_t(*shared);
  if (isEmpty)
    return std::optional<LaunchGeometry>();
  return std::optional<LaunchGeometry>(geometry);
}

} // namespace farun
