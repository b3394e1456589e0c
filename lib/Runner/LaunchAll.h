//===- LaunchAll.h - the launches of an entry, one by one -------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a run with buffers of its own and one on memory that is there already
// have in common.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_RUNNER_LAUNCHALL_H
#define FA_LIB_RUNNER_LAUNCHALL_H

#include "fa/Runner/Launch.h"
#include "fa/Runner/Runner.h"

#include <functional>

namespace farun {

/// A result that says which program ran on what, and of which extents.
RunResult describeRun(const Program &program, const Entry &entry,
                      const Binding &binding, const Device &device);

/// A scale that comes with the run must keep |scale| log2 e finite in f32; what
/// the program fixes was checked with it. `by` says where it comes from.
Status checkScale(const Entry &entry, size_t operand, const Array &array,
                  const std::string &by = "");

/// Refuses strides of an array that the kernels take to be dense, since they
/// are told of them neither by a parameter nor in a tensor map.
Status checkStrides(const Entry &entry, size_t operand,
                    const std::vector<int64_t> &shape,
                    const std::vector<int64_t> &strides);

/// Gives one launch to the device.
using LaunchFunction = std::function<Expected<LaunchOutcome>(
    const std::string &kernel, const LaunchGeometry &geometry,
    const std::vector<LaunchArgument> &arguments)>;

/// Runs the launches of an entry in order, and adds up in `result` what they
/// came to; a kernel that was stopped ends them, as result.failure.
Status launchAll(const Entry &entry, const Binding &binding,
                 const std::vector<Array> &arrays, const DeviceOperands &memory,
                 Device &device, const LaunchFunction &launch,
                 RunResult &result);

} // namespace farun

#endif // FA_LIB_RUNNER_LAUNCHALL_H
