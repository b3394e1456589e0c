//===- Launch.h - buffers and arguments of a launch -------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From an entry, its extents and device memory to the launches of its kernels:
// strided images of arrays, parameter values by kind, geometry by the
// manifest's rules.
//
//===----------------------------------------------------------------------===//
#ifndef FA_RUNNER_LAUNCH_H
#define FA_RUNNER_LAUNCH_H

#include "fa/Runner/Binding.h"
#include "fa/Runtime/Device.h"

namespace farun {

/// An operand as it lies in device memory.
struct MemoryImage {
  std::vector<int64_t> strides; ///< in elements
  int64_t base = 0;             ///< element offset of index 0 in the buffer
  uint64_t bytes = 0;           ///< of the buffer

  /// For a shape; empty strides mean dense.
  static MemoryImage create(const std::vector<int64_t> &shape,
                            std::vector<int64_t> strides, ElementType type);
};

/// The buffer's bytes: elements by their strides, 0xFF between them.
std::vector<std::byte> packImage(const Array &array, const MemoryImage &image);

/// Reads elements back. False when a byte between elements is no longer 0xFF.
bool unpackImage(const std::vector<std::byte> &bytes, const MemoryImage &image,
                 Array &array);

/// Where the operands, the workspace and the trace lie.
struct DeviceOperands {
  std::vector<DeviceAddress> addresses; ///< of index 0, by operand
  std::vector<MemoryImage> images;
  DeviceAddress workspace = 0;
  DeviceAddress trace = 0;
  int64_t traceRow = -1;
};

/// An operand that kernels copy by another way than by boxes, and why: what
/// describeTensor says.
struct WithoutTensorMap {
  std::string operand, why;

  /// "copy: key without a tensor map: its stride ..."
  std::string str() const;
};

/// A tensor of this shape at `address` as a tensor map with the box and swizzle
/// of `parameter`. Where it can have none (Parameter::box) the error says why:
/// "its stride in dimension 2 is 66 bytes; a tensor map takes ...".
Expected<TensorMapRequest> describeTensor(const Parameter &parameter,
                                          ElementType type,
                                          DeviceAddress address,
                                          const std::vector<int64_t> &shape,
                                          const std::vector<int64_t> &strides);

/// What an entry's kernels are given.
struct ParameterValues {
  std::vector<LaunchArgument> values; ///< one for each parameter
  /// The operands whose tensor maps the kernels take and cannot get, in order.
  /// Those without elements are none: nothing of them is copied.
  std::vector<WithoutTensorMap> withoutTensorMap;
};

/// The device encodes tensor maps.
Expected<ParameterValues> makeParameters(const Entry &entry,
                                         const Binding &binding,
                                         const std::vector<Array> &arrays,
                                         const DeviceOperands &operands,
                                         Device &device);

/// The geometry of one launch; nothing when its grid is empty. Errors name the
/// kernel and the limit that is passed.
Expected<std::optional<LaunchGeometry>>
evaluateGeometry(const Launch &launch, const Extents &extents);

} // namespace farun

#endif // FA_RUNNER_LAUNCH_H
