//===- LaunchAll.cpp - the launches of an entry, one by one ---------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "LaunchAll.h"

#include <algorithm>
#include <charconv>

namespace farun {

RunResult describeRun(const Program &program, const Entry &entry,
                      const Binding &binding, const Device &device) {
  RunResult result;
  result.entry = entry.name;
  result.target = program.manifest.target;
  result.device = device.name();
  result.model = device.model();
  result.extents = binding.extents;
  result.operands = entry.operands;
  result.shapes = binding.shapes;
  result.schedule = entry.attention.schedule;
  return result;
}

Status checkScale(const Entry &entry, size_t operand, const Array &array,
                  const std::string &by) {
  if (!entry.operands[operand].hasRole("scale") || isScaleInRange(array.get(0)))
    return {};
  char text[32];
  auto end = std::to_chars(text, text + sizeof(text), float(array.get(0))).ptr;
  return inputError(describeOperand(entry, int(operand)) + " is " +
                    std::string(text, end) + (by.empty() ? "" : " by " + by) +
                    "; accepted is what |scale| log2 e keeps finite in f32, up "
                    "to 2.3586e+38");
}

Status checkStrides(const Entry &entry, size_t operand,
                    const std::vector<int64_t> &shape,
                    const std::vector<int64_t> &strides) {
  auto refuse = [&](const std::string &problem) {
    return inputError(describeOperand(entry, int(operand)) + " has " + problem);
  };
  if (strides.size() != shape.size())
    return refuse(std::to_string(strides.size()) + " strides, its shape has " +
                  std::to_string(shape.size()) + " dimensions");
  if (elementCount(shape) == 0)
    return {};
  std::vector<int64_t> dense = denseStrides(shape);
  for (size_t d = 0; d < shape.size(); ++d) {
    bool isPassed =
        std::any_of(entry.parameters.begin(), entry.parameters.end(),
                    [&](const Parameter &parameter) {
                      return parameter.operand == int(operand) &&
                             (parameter.kind == ParameterKind::TensorMap ||
                              (parameter.kind == ParameterKind::Stride &&
                               parameter.dim == int(d)));
                    });
    if (shape[d] != 1 && strides[d] != dense[d] && !isPassed)
      return refuse("stride " + std::to_string(strides[d]) + " in dimension " +
                    std::to_string(d) + ", and the kernels of " + entry.name +
                    " take a dense one, " + std::to_string(dense[d]));
  }
  return {};
}

static void
addCounters(const std::vector<std::pair<std::string, double>> &counters,
            std::vector<std::pair<std::string, double>> &sums) {
  for (const auto &counter : counters) {
    auto same = std::find_if(sums.begin(), sums.end(), [&](const auto &sum) {
      return sum.first == counter.first;
    });
    if (same == sums.end())
      sums.push_back(counter);
    else
      same->second += counter.second;
  }
}

Status launchAll(const Entry &entry, const Binding &binding,
                 const std::vector<Array> &arrays, const DeviceOperands &memory,
                 Device &device, const LaunchFunction &launch,
                 RunResult &result) {
  Expected<ParameterValues> parameters =
      makeParameters(entry, binding, arrays, memory, device);
  if (!parameters)
    return parameters.takeError();
  result.withoutTensorMap = std::move(parameters->withoutTensorMap);
  Extents names = binding.extents;
  names[kMultiprocessorsName] = device.multiprocessors();
  for (const Launch &one : entry.launches) {
    Expected<std::optional<LaunchGeometry>> geometry =
        evaluateGeometry(one, names);
    if (!geometry)
      return geometry.takeError();
    if (!*geometry)
      continue;
    std::vector<LaunchArgument> arguments;
    for (int index : one.arguments)
      arguments.push_back(parameters->values[size_t(index)]);
    Expected<LaunchOutcome> outcome = launch(one.kernel, **geometry, arguments);
    if (!outcome)
      return outcome.takeError();
    ++result.launches;
    result.deviceSeconds += outcome->seconds;
    for (std::string &line : outcome->diagnostics)
      result.diagnostics.push_back(std::move(line));
    addCounters(outcome->counters, result.counters);
    if (!outcome->failure)
      continue;
    if (outcome->failure->code == ErrorCode::Input)
      return *outcome->failure;
    result.failure = outcome->failure;
    return {};
  }
  return {};
}

} // namespace farun
