//===- InPlace.cpp - launches on memory that is there already -------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "fa/Runner/InPlace.h"

#include "LaunchAll.h"

#include <algorithm>

namespace farun {

/// What a launch would have to own and keep until a kernel ends.
static Status checkParameters(const Entry &entry) {
  for (const Parameter &parameter : entry.parameters)
    if (parameter.kind == ParameterKind::Trace ||
        parameter.kind == ParameterKind::Workspace)
      return inputError("the kernels of " + entry.name + " take a " +
                        std::string(name(parameter.kind)) +
                        ", which is for arrays in host memory alone");
  return {};
}

/// Arrays that a kernel cannot know to be other than dense.
static Status checkStrides(const Entry &entry, const InPlaceSpec &spec) {
  for (size_t n = 0; n < spec.strides.size(); ++n) {
    const std::vector<int64_t> &shape = spec.binding.shapes[n];
    if (entry.operands[n].kind == OperandKind::Scalar ||
        elementCount(shape) == 0)
      continue;
    std::vector<int64_t> dense = denseStrides(shape);
    for (size_t d = 0; d < shape.size(); ++d) {
      bool isPassed =
          std::any_of(entry.parameters.begin(), entry.parameters.end(),
                      [&](const Parameter &parameter) {
                        return parameter.kind == ParameterKind::Stride &&
                               parameter.operand == int(n) &&
                               parameter.dim == int(d);
                      });
      if (shape[d] != 1 && spec.strides[n][d] != dense[d] && !isPassed)
        return inputError(describeOperand(entry, int(n)) + " has stride " +
                          std::to_string(spec.strides[n][d]) +
                          " in dimension " + std::to_string(d) +
                          ", and the kernels of " + entry.name +
                          " take a dense one, " + std::to_string(dense[d]));
    }
  }
  return {};
}

Expected<RunResult> runInPlace(const Program &program, const InPlaceSpec &spec,
                               Device &device) {
  Expected<const Entry *> found = findEntry(program.manifest, spec.entry);
  if (!found)
    return found.takeError();
  const Entry &entry = **found;
  if (Status status = checkParameters(entry); !status)
    return status.takeError();
  if (Status status = checkStrides(entry, spec); !status)
    return status.takeError();
  for (size_t n = 0; n < entry.operands.size(); ++n)
    if (entry.operands[n].kind == OperandKind::Scalar)
      if (Status status = checkScale(entry, n, spec.scalars[n]); !status)
        return status.takeError();
  if (!spec.isLoaded)
    if (Status status = device.load(program.ptx, program.ptxName); !status)
      return status.takeError();
  DeviceOperands memory;
  memory.addresses = spec.addresses;
  for (const std::vector<int64_t> &strides : spec.strides)
    memory.images.push_back({strides, 0, 0});
  RunResult result = describeRun(program, entry, spec.binding, device);
  if (Status status = launchAll(
          entry, spec.binding, spec.scalars, memory, device,
          [&](const std::string &kernel, const LaunchGeometry &geometry,
              const std::vector<LaunchArgument> &arguments) {
            return device.launchInStream(kernel, geometry, arguments,
                                         spec.stream, spec.wait);
          },
          result);
      !status)
    return status.takeError();
  return result;
}

} // namespace farun
