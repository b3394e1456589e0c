//===- DriverABITest.cpp - our declarations beside NVIDIA's ---------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where cuda.h is installed: every function that we call takes as many
// parameters of the same kinds and sizes under the same symbol, and every
// number and field is where it is there.
//
//===----------------------------------------------------------------------===//
#include "../../../lib/Runtime/CUDA/Driver.h"

#include "fa/Support/TensorMap.h"

#include <gtest/gtest.h>

namespace ours {
using namespace farun::cuda;
struct Row {
  const char *name, *symbol;
};
inline constexpr Row kRows[] = {
#define FA_DRIVER_FUNCTION(NAME, SUFFIX, PARAMETERS)                           \
  {"cu" #NAME, "cu" #NAME #SUFFIX},
#include "../../../lib/Runtime/CUDA/DriverFunctions.def"
};
#define FA_DRIVER_FUNCTION(NAME, SUFFIX, PARAMETERS)                           \
  using NAME##Type = Result PARAMETERS;
#include "../../../lib/Runtime/CUDA/DriverFunctions.def"
} // namespace ours

#ifdef FA_HAVE_CUDA_H
#include <cuda.h>

#include <cstddef>

namespace {

template <typename A, typename B> constexpr bool isSameKind() {
  if constexpr (std::is_function_v<A>)
    return false;
  else
    return sizeof(A) == sizeof(B) &&
           std::is_pointer_v<A> == std::is_pointer_v<B>;
}

template <typename A, typename B> struct SameABI : std::false_type {};
template <typename RA, typename RB, typename... A, typename... B>
struct SameABI<RA(A...), RB(B...)> {
  static constexpr bool value = [] {
    if constexpr (sizeof...(A) != sizeof...(B))
      return false;
    else
      return sizeof(RA) == sizeof(RB) && (isSameKind<A, B>() && ...);
  }();
};

#define FA_TEXT_OF(X) FA_TEXT(X)
#define FA_TEXT(X) #X
#define FA_DRIVER_FUNCTION(NAME, SUFFIX, PARAMETERS)                           \
  static_assert(SameABI<ours::NAME##Type, decltype(cu##NAME)>::value,          \
                "cu" #NAME);
#include "../../../lib/Runtime/CUDA/DriverFunctions.def"

TEST(DriverABI, Symbols) {
  const char *const theirs[] = {
#define FA_DRIVER_FUNCTION(NAME, SUFFIX, PARAMETERS) FA_TEXT_OF(cu##NAME),
#include "../../../lib/Runtime/CUDA/DriverFunctions.def"
  };
  size_t n = 0;
  for (const ours::Row &row : ours::kRows) {
    std::string symbol = theirs[n++];
    // Its second form only came with CUDA 12.8; the first one stays.
    if (symbol == "cuEventElapsedTime_v2")
      symbol = "cuEventElapsedTime";
    EXPECT_EQ(symbol, row.symbol);
  }
}

static_assert(ours::kSuccess == CUDA_SUCCESS);
static_assert(ours::kInvalidValue == CUDA_ERROR_INVALID_VALUE);
static_assert(ours::kInvalidPTX == CUDA_ERROR_INVALID_PTX);
static_assert(ours::kNotFound == CUDA_ERROR_NOT_FOUND);
static_assert(ours::kIllegalAddress == CUDA_ERROR_ILLEGAL_ADDRESS);
static_assert(ours::kLaunchTimeout == CUDA_ERROR_LAUNCH_TIMEOUT);
static_assert(ours::kAssert == CUDA_ERROR_ASSERT);
static_assert(ours::kHardwareStackError == CUDA_ERROR_HARDWARE_STACK_ERROR);
static_assert(ours::kIllegalInstruction == CUDA_ERROR_ILLEGAL_INSTRUCTION);
static_assert(ours::kMisalignedAddress == CUDA_ERROR_MISALIGNED_ADDRESS);
static_assert(ours::kInvalidAddressSpace == CUDA_ERROR_INVALID_ADDRESS_SPACE);
static_assert(ours::kInvalidPC == CUDA_ERROR_INVALID_PC);
static_assert(ours::kLaunchFailed == CUDA_ERROR_LAUNCH_FAILED);
static_assert(ours::kMultiprocessorCount ==
              CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
static_assert(ours::kComputeCapabilityMajor ==
              CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(ours::kComputeCapabilityMinor ==
              CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(ours::kMaxSharedBytesOptin ==
              CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
static_assert(ours::kPointerMemoryType == CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
static_assert(ours::kPointerDeviceOrdinal ==
              CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
static_assert(ours::kMemoryTypeDevice == CU_MEMORYTYPE_DEVICE);
static_assert(ours::kMemoryTypeUnified == CU_MEMORYTYPE_UNIFIED);
static_assert(ours::kMaxDynamicSharedBytes ==
              CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
static_assert(ours::kNonPortableClusterSizeAllowed ==
              CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
static_assert(ours::kJITErrorLogBuffer == CU_JIT_ERROR_LOG_BUFFER);
static_assert(ours::kJITErrorLogBufferBytes ==
              CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
static_assert(ours::kPromotionL2_128B == CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
static_assert(int(farun::TensorSwizzle::Bytes128) ==
              CU_TENSOR_MAP_SWIZZLE_128B);
static_assert(int(farun::TensorSwizzle::Bytes32) == CU_TENSOR_MAP_SWIZZLE_32B);

static_assert(sizeof(ours::TensorMap) == sizeof(CUtensorMap) &&
              alignof(ours::TensorMap) >= 64);
static_assert(sizeof(ours::ClusterAttribute) == sizeof(CUlaunchAttribute));
static_assert(offsetof(ours::ClusterAttribute, x) ==
              offsetof(CUlaunchAttribute, value));
static_assert(sizeof(ours::LaunchConfig) == sizeof(CUlaunchConfig));
static_assert(offsetof(ours::LaunchConfig, block) ==
              offsetof(CUlaunchConfig, blockDimX));
static_assert(offsetof(ours::LaunchConfig, sharedBytes) ==
              offsetof(CUlaunchConfig, sharedMemBytes));
static_assert(offsetof(ours::LaunchConfig, stream) ==
              offsetof(CUlaunchConfig, hStream));
static_assert(offsetof(ours::LaunchConfig, attributes) ==
              offsetof(CUlaunchConfig, attrs));
static_assert(offsetof(ours::LaunchConfig, attributeCount) ==
              offsetof(CUlaunchConfig, numAttrs));

TEST(DriverABI, Numbers) {
  EXPECT_EQ(ours::ClusterAttribute().id,
            int(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION));
  using T = farun::ElementType;
  for (auto [type, number] : {std::pair(T::U8, CU_TENSOR_MAP_DATA_TYPE_UINT8),
                              {T::U16, CU_TENSOR_MAP_DATA_TYPE_UINT16},
                              {T::U32, CU_TENSOR_MAP_DATA_TYPE_UINT32},
                              {T::I32, CU_TENSOR_MAP_DATA_TYPE_INT32},
                              {T::U64, CU_TENSOR_MAP_DATA_TYPE_UINT64},
                              {T::I64, CU_TENSOR_MAP_DATA_TYPE_INT64},
                              {T::F16, CU_TENSOR_MAP_DATA_TYPE_FLOAT16},
                              {T::F32, CU_TENSOR_MAP_DATA_TYPE_FLOAT32},
                              {T::F64, CU_TENSOR_MAP_DATA_TYPE_FLOAT64},
                              {T::BF16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16}})
    EXPECT_EQ(farun::tensorDataType(type), uint32_t(number));
}

} // namespace

#else

TEST(DriverABI, Symbols) {
  GTEST_SKIP() << "no cuda.h is installed to compare with";
}

#endif
