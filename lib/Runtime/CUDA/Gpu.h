//===- Gpu.h - which GPU answers --------------------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A GPU that the driver shows (CUDA_VISIBLE_DEVICES chooses and orders), asked
// without making a context on it.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_RUNTIME_CUDA_GPU_H
#define FA_LIB_RUNTIME_CUDA_GPU_H

#include "Driver.h"

namespace farun::cuda {

struct Gpu {
  Driver driver;
  int ordinal = 0; ///< as the driver counts them
  DeviceOrdinal device = 0;
  std::string model = {}; ///< "NVIDIA H200"
  int major = 0, minor = 0;
  int driverVersion = 0;  ///< 13000 is 13.0
  int maxSharedBytes = 0; ///< of a block, static and dynamic
  int multiprocessors = 0;

  /// An error says which call failed, or what is missing.
  static Expected<Gpu> find(int ordinal);
  static Expected<int> count();

  /// "cuda", the first one; "cuda:1", the second.
  static std::string name(int ordinal);

  /// "NVIDIA H200, compute capability 9.0, driver of CUDA 13.0".
  std::string description() const;
  /// What the compiler makes for this GPU.
  const char *target() const;
};

} // namespace farun::cuda

#endif // FA_LIB_RUNTIME_CUDA_GPU_H
