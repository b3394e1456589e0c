//===- DriverTypes.h - the ABI of the CUDA driver, as we use it -*- C++ -*-===//
//-*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Types and numbers of the CUDA driver API that its documentation fixes, by
// our own declarations, so that nothing of CUDA is needed to build. A test
// compares them with cuda.h where there is one.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_RUNTIME_CUDA_DRIVERTYPES_H
#define FA_LIB_RUNTIME_CUDA_DRIVERTYPES_H

#include <cstddef>
#include <cstdint>

namespace farun::cuda {

/// CUresult.
using Result = int;
inline constexpr Result kSuccess = 0;
inline constexpr Result kInvalidValue = 1;
inline constexpr Result kInvalidPTX = 218;
inline constexpr Result kNotFound = 500;
// A kernel did what it must not; its context is of no use afterwards.
inline constexpr Result kIllegalAddress = 700;
inline constexpr Result kLaunchTimeout = 702;
inline constexpr Result kAssert = 710;
inline constexpr Result kHardwareStackError = 714;
inline constexpr Result kIllegalInstruction = 715;
inline constexpr Result kMisalignedAddress = 716;
inline constexpr Result kInvalidAddressSpace = 717;
inline constexpr Result kInvalidPC = 718;
inline constexpr Result kLaunchFailed = 719;

using DeviceOrdinal = int;        ///< CUdevice
using DevicePointer = uint64_t;   ///< CUdeviceptr
using Context = struct CUctx *;   ///< CUcontext
using Module = struct CUmod *;    ///< CUmodule
using Function = struct CUfunc *; ///< CUfunction
using Event = struct CUevent *;   ///< CUevent
using Stream = struct CUstream *; ///< CUstream; null is the default one

/// CUdevice_attribute.
inline constexpr int kMultiprocessorCount = 16;
inline constexpr int kComputeCapabilityMajor = 75;
inline constexpr int kComputeCapabilityMinor = 76;
inline constexpr int kMaxSharedBytesOptin = 97;

/// CUfunction_attribute.
inline constexpr int kMaxDynamicSharedBytes = 8;
inline constexpr int kNonPortableClusterSizeAllowed = 14;

/// CUpointer_attribute.
inline constexpr int kPointerMemoryType = 2;
inline constexpr int kPointerDeviceOrdinal = 9;

/// CUmemorytype.
inline constexpr unsigned kMemoryTypeDevice = 2;
inline constexpr unsigned kMemoryTypeUnified = 4;

/// CUjit_option.
inline constexpr int kJITErrorLogBuffer = 5;
inline constexpr int kJITErrorLogBufferBytes = 6;

/// CUlaunchAttribute of the kind "cluster dimension".
struct ClusterAttribute {
  int id = 4;
  int padding = 0;
  uint32_t x = 1, y = 1, z = 1;
  char rest[52] = {};
};
static_assert(sizeof(ClusterAttribute) == 72);

/// CUlaunchConfig.
struct LaunchConfig {
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t sharedBytes;
  Stream stream;
  ClusterAttribute *attributes;
  uint32_t attributeCount;
};

/// CUtensorMap.
struct alignas(128) TensorMap {
  uint64_t words[16] = {};
};

/// CUtensorMapL2promotion: what a box misses is fetched in lines of 128 bytes.
inline constexpr int kPromotionL2_128B = 2;

} // namespace farun::cuda

#endif // FA_LIB_RUNTIME_CUDA_DRIVERTYPES_H
