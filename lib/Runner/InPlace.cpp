//===- InPlace.cpp - launches on memory that is there already -------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "fa/Runner/InPlace.h"

#include "LaunchAll.h"

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

Expected<RunResult> runInPlace(const Program &program, const InPlaceSpec &spec,
                               Device &device) {
  Expected<const Entry *> found = findEntry(program.manifest, spec.entry);
  if (!found)
    return found.takeError();
  const Entry &entry = **found;
  if (Status status = checkParameters(entry); !status)
    return status.takeError();
  for (size_t n = 0; n < entry.operands.size(); ++n) {
    bool isScalar = entry.operands[n].kind == OperandKind::Scalar;
    Status status = isScalar ? checkScale(entry, n, spec.scalars[n])
                             : checkStrides(entry, n, spec.binding.shapes[n],
                                            spec.strides[n]);
    if (!status)
      return status.takeError();
  }
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
