//===- DeviceArrays.cpp - the arrays of a launch on a device --------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "DeviceArrays.h"

namespace facapi {

static bool isScalar(const EntryView &view, size_t operand) {
  return view.entry->operands[operand].kind == farun::OperandKind::Scalar;
}

Outcome checkOnePlace(const EntryView &view, const CallArrays &arrays) {
  const std::vector<farun::Operand> &operands = view.entry->operands;
  size_t onDevice = arrays.findOnDevice();
  if (onDevice == arrays.size())
    return std::nullopt;
  const std::string &role = operands[onDevice].role;
  for (size_t n = 0; n < arrays.size(); ++n) {
    const std::string &other = operands[n].role;
    if (isScalar(view, n) && arrays[n].isOnDevice)
      return inputFailure(other +
                              " lies in device memory, and a scalar is read "
                              "at the launch; accepted is host memory",
                          other);
    if (!isScalar(view, n) && !arrays[n].isOnDevice)
      return inputFailure(role + " lies in device memory and " + other +
                              " in host memory; the arrays of a launch lie in "
                              "one, scalars in host memory",
                          role);
  }
  return std::nullopt;
}

Outcome checkOnDevice(const EntryView &view, const CallArrays &arrays,
                      farun::Device &device) {
  for (size_t n = 0; n < arrays.size(); ++n) {
    const GivenArray &array = arrays[n];
    const std::string &role = view.entry->operands[n].role;
    if (!array.isOnDevice || array.size() == 0)
      continue;
    if (!device.isShared())
      return inputFailure(role + " lies in device memory, and the device " +
                              device.name() + " takes arrays in host memory",
                          role);
    size_t size = farun::byteSize(array.type);
    if (reinterpret_cast<uint64_t>(array.data) % size)
      return inputFailure(role + " is not aligned to its elements of " +
                              std::to_string(size) + " bytes",
                          role);
    uint64_t first = 0, behind = 0;
    findSpan(array, first, behind);
    farun::Status status = device.checkAddress(first, role);
    if (status)
      status = device.checkAddress(behind - 1, "the last byte of " + role);
    if (!status)
      return toFailure(status.error(), role);
  }
  return std::nullopt;
}

farun::InPlaceSpec toInPlace(const EntryView &view, const CallArrays &arrays) {
  farun::InPlaceSpec spec;
  spec.entry = view.entry->name;
  spec.binding = arrays.binding;
  for (size_t n = 0; n < arrays.size(); ++n) {
    const GivenArray &array = arrays[n];
    spec.addresses.push_back(reinterpret_cast<uint64_t>(array.data));
    spec.strides.push_back(array.strides);
    spec.scalars.push_back(isScalar(view, n) ? gather(array) : farun::Array());
  }
  return spec;
}

} // namespace facapi
