//===- CudaConvertTest.cpp - conversions as the toolkit does them ---------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The CUDA headers have host versions of the conversions of f16, bf16 and fp8.
// Built where a toolkit is found; every 16-bit pattern is compared.
//
//===----------------------------------------------------------------------===//
#include "ConvertAll.h"

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#endif
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

using namespace ptxvm;
using namespace ptxvm::test;

namespace {
__half halfOf(uint32_t x) {
  __half_raw raw;
  raw.x = uint16_t(x);
  return raw;
}
__nv_bfloat16 bfloatOf(uint32_t x) {
  __nv_bfloat16_raw raw;
  raw.x = uint16_t(x);
  return raw;
}
bool isNaN(uint32_t f32) { return std::isnan(asFloat(f32)); }

/// All upper halves of f32 with lower halves that round every way.
std::vector<uint32_t> floats() {
  std::vector<uint32_t> all;
  for (uint32_t x = 0; x < 65536; ++x)
    for (uint32_t low :
         {0u, 1u, 0x1000u, 0x7FFFu, 0x8000u, 0x8001u, 0xF000u, 0xFFFFu})
      all.push_back(x << 16 | low);
  return all;
}

TEST(CudaHeaders, widenTheSame) {
  std::vector<uint32_t> all = every16Bits();
  auto half = convertAll("cvt.f32.f16 %y, %h;", all);
  auto bfloat = convertAll("cvt.f32.bf16 %y, %h;", all);
  auto e4m3 = convertAll("cvt.rn.f16x2.e4m3x2 %y, %h;", all);
  auto e5m2 = convertAll("cvt.rn.f16x2.e5m2x2 %y, %h;", all);
  for (uint32_t x = 0; x < 65536; ++x) {
    uint32_t h = bits(__half2float(halfOf(x)));
    uint32_t b = bits(__bfloat162float(bfloatOf(x)));
    ASSERT_EQ(half[x], isNaN(h) ? 0x7FFFFFFF : h) << x;
    ASSERT_EQ(bfloat[x], isNaN(b) ? 0x7FFFFFFF : b) << x;
    for (uint32_t j : {0u, 1u}) {
      auto byte = __nv_fp8_storage_t(x >> 8 * j);
      uint32_t want4 = __nv_cvt_fp8_to_halfraw(byte, __NV_E4M3).x;
      uint32_t want5 = __nv_cvt_fp8_to_halfraw(byte, __NV_E5M2).x;
      // NaNs: the machine's are canonical.
      want4 = (want4 & 0x7FFF) > 0x7C00 ? 0x7FFF : want4;
      want5 = (want5 & 0x7FFF) > 0x7C00 ? 0x7FFF : want5;
      ASSERT_EQ(e4m3[x] >> 16 * j & 0xFFFF, want4) << x;
      ASSERT_EQ(e5m2[x] >> 16 * j & 0xFFFF, want5) << x;
    }
  }
}

TEST(CudaHeaders, narrowTheSame) {
  std::vector<uint32_t> all = floats();
  auto half = convertAll("cvt.rn.f16x2.f32 %y, %x, %x;", all);
  auto bfloat = convertAll("cvt.rn.bf16x2.f32 %y, %x, %x;", all);
  auto toward0 = convertAll("cvt.rz.f16x2.f32 %y, %x, %x;", all);
  auto e4m3 = convertAll(
      "cvt.rn.satfinite.e4m3x2.f32 %h, %x, %x; cvt.u32.u16 %y, %h;", all);
  auto e5m2 = convertAll(
      "cvt.rn.satfinite.e5m2x2.f32 %h, %x, %x; cvt.u32.u16 %y, %h;", all);
  for (size_t i = 0; i < all.size(); ++i) {
    float x = asFloat(all[i]);
    uint32_t h = __half_raw(__float2half_rn(x)).x;
    uint32_t z = __half_raw(__float2half_rz(x)).x;
    uint32_t b = __nv_bfloat16_raw(__float2bfloat16_rn(x)).x;
    ASSERT_EQ(half[i] & 0xFFFF, std::isnan(x) ? 0x7FFF : h) << all[i];
    ASSERT_EQ(toward0[i] & 0xFFFF, std::isnan(x) ? 0x7FFF : z) << all[i];
    ASSERT_EQ(bfloat[i] & 0xFFFF, std::isnan(x) ? 0x7FFF : b) << all[i];
    uint32_t want4 = __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3);
    uint32_t want5 = __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E5M2);
    ASSERT_EQ(e4m3[i] & 0xFF, std::isnan(x) ? want4 & 0x7F : want4) << all[i];
    ASSERT_EQ(e5m2[i] & 0xFF, std::isnan(x) ? 0x7F : want5) << all[i];
  }
}

TEST(CudaHeaders, narrowHalvesTheSame) {
  std::vector<uint32_t> all = every16Bits();
  auto e4m3 = convertAll("mov.b32 %x, {%h, %h};"
                         "cvt.rn.satfinite.e4m3x2.f16x2 %h, %x;"
                         "cvt.u32.u16 %y, %h;",
                         all);
  auto e5m2 = convertAll("mov.b32 %x, {%h, %h};"
                         "cvt.rn.satfinite.e5m2x2.f16x2 %h, %x;"
                         "cvt.u32.u16 %y, %h;",
                         all);
  for (uint32_t x = 0; x < 65536; ++x) {
    __half_raw raw = __half_raw(halfOf(x));
    bool isNaN = (x & 0x7FFF) > 0x7C00;
    uint32_t want4 = __nv_cvt_halfraw_to_fp8(raw, __NV_SATFINITE, __NV_E4M3);
    uint32_t want5 = __nv_cvt_halfraw_to_fp8(raw, __NV_SATFINITE, __NV_E5M2);
    ASSERT_EQ(e4m3[x] & 0xFF, isNaN ? want4 & 0x7F : want4) << x;
    ASSERT_EQ(e5m2[x] & 0xFF, isNaN ? 0x7F : want5) << x;
  }
}
} // namespace
