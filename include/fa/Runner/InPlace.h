//===- InPlace.h - launches on memory that is there already -----*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a program with arrays on a GPU asks for: the kernels of an entry, on
// those arrays, in a stream of the program's own. Nothing is copied, guarded or
// compared, so what run() finds out from values is not found out here.
//
//===----------------------------------------------------------------------===//
#ifndef FA_RUNNER_INPLACE_H
#define FA_RUNNER_INPLACE_H

#include "fa/Runner/Runner.h"

namespace farun {

struct InPlaceSpec {
  std::string entry;
  Binding binding;
  /// By operand, scalars left out: where index 0 lies, strides in elements.
  std::vector<DeviceAddress> addresses;
  std::vector<std::vector<int64_t>> strides;
  std::vector<Array> scalars; ///< by operand, the others left out
  void *stream = nullptr;     ///< of the device; null: its default one
  bool wait = false;          ///< for the end, so that it is timed
  bool isLoaded = false;      ///< the device has loaded this program before
};

/// Puts the launches of an entry into a stream. An Error is a launch that did
/// not begin, or a device that failed.
Expected<RunResult> runInPlace(const Program &program, const InPlaceSpec &spec,
                               Device &device);

} // namespace farun

#endif // FA_RUNNER_INPLACE_H
