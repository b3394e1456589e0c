//===- numbers.cu - arithmetic of every type ---*- CUDA -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Integer division, wide products, bit tricks, f32 and f64 functions of libdevice,
// packed halves.
//
//===----------------------------------------------------------------------===//
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

/// 12 results a thread.
extern "C" __global__ void integers(const int *a, const int *b,
                                    const long long *c, const long long *d,
                                    long long *out) {
  int t = threadIdx.x, x = a[t], y = b[t];
  unsigned ux = x, uy = y;
  long long p = c[t], q = d[t];
  long long *o = out + 12 * t;
  o[0] = x / y;
  o[1] = x % y;
  o[2] = ux / uy;
  o[3] = ux % uy;
  o[4] = p / q;
  o[5] = p % q;
  o[6] = (unsigned long long)p / (unsigned long long)q;
  o[7] = (unsigned long long)p % (unsigned long long)q;
  o[8] = __mul64hi(p, q) ^ (long long)__umul64hi(p, q) ^ __mulhi(x, y);
  o[9] = x / 7 + ux / 10 + p / 1000000007 + short(x) / 3 + (signed char)x / 5;
  o[10] = (__int128)p * q >> 37;
  o[11] = p * q + ((long long)x * y >> 3);
}

extern "C" __global__ void bits(const unsigned *a, const unsigned *b,
                                unsigned *out) {
  int t = threadIdx.x;
  unsigned x = a[t], y = b[t], *o = out + 16 * t;
  unsigned long long w = (unsigned long long)x << 32 | y;
  o[0] = __popc(x) + 100 * __popcll(w);
  o[1] = __clz(x) + 100 * __clzll(w);
  o[2] = __ffs(x) + 100 * __ffsll(w);
  o[3] = __brev(x) ^ unsigned(__brevll(w) >> 7);
  o[4] = __byte_perm(x, y, 0x5410 + (y & 0x2222));
  o[5] = __funnelshift_l(x, y, y);
  o[6] = __funnelshift_rc(x, y, y & 63);
  o[7] = __dp4a(int(x), int(y), -5);
  o[8] = __dp4a(x, y, 9u);
  o[9] = __vadd4(x, y) ^ __vavgu4(x, y);
  o[10] = __sad(int(x), int(y), 3u) + __usad(x, y, 7u);
  o[11] = __uhadd(x, y) ^ __rhadd(int(x), int(y));
  o[12] = (x & y) | (~x & 0xF0F0F0F0) ^ y;
  o[13] = x << (y & 31) | y >> (x & 31);
  o[14] = unsigned(int(x) >> (y & 31));
  o[15] = __mul24(int(x), int(y)) + __umul24(x, y);
}

/// Functions of the maths library, to be compared with a tolerance.
extern "C" __global__ void functions(const float *in, float *out) {
  float x = in[threadIdx.x], *o = out + 24 * threadIdx.x;
  o[0] = expf(x);
  o[1] = logf(x);
  o[2] = sinf(x);
  o[3] = cosf(x);
  o[4] = powf(x, 1.7f);
  o[5] = sqrtf(x);
  o[6] = rsqrtf(x);
  o[7] = 1 / x;
  o[8] = 3 / (x + 0.5f);
  o[9] = tanhf(x);
  o[10] = erff(x);
  o[11] = atan2f(x, 2);
  o[12] = fmodf(10 * x, 3);
  o[13] = floorf(x) + ceilf(x) + roundf(x) + truncf(x) + rintf(x);
  o[14] = hypotf(x, 3);
  o[15] = cbrtf(x);
  o[16] = log1pf(x);
  o[17] = exp2f(x);
  o[18] = lgammaf(x + 1);
  o[19] = __expf(x);
  o[20] = __logf(x);
  o[21] = __sinf(x);
  o[22] = __fdividef(x, 3);
  o[23] = ldexpf(x, 5) + fmaxf(x, 2) - fminf(x, 2) + fabsf(-x) + copysignf(x, -1);
}

extern "C" __global__ void doubles(const double *in, double *out) {
  double x = in[threadIdx.x], *o = out + 16 * threadIdx.x;
  o[0] = exp(x);
  o[1] = log(x);
  o[2] = sin(x);
  o[3] = cos(x);
  o[4] = pow(x, 1.7);
  o[5] = sqrt(x);
  o[6] = rsqrt(x);
  o[7] = 1 / x;
  o[8] = 3 / (x + 0.5);
  o[9] = tanh(x);
  o[10] = fma(x, x, -x);
  o[11] = floor(x) + ceil(x) + round(x) + trunc(x) + rint(x);
  o[12] = fmod(10 * x, 3.0);
  o[13] = x * 1e200 * 1e-200 + float(x);
  o[14] = (long long)(x * 1e9) + (unsigned)(x * 7) + (int)-x;
  o[15] = __dadd_rz(x, 1e-17) - __dmul_ru(x, 1.1) + __dadd_rd(-x, 1e-17);
}

/// Rounding intrinsics and conversions, bit for bit.
extern "C" __global__ void roundings(const float *in, unsigned *out) {
  float x = in[threadIdx.x], y = in[threadIdx.x + 32];
  unsigned *o = out + 16 * threadIdx.x;
  auto put = [&](int k, float v) { o[k] = __float_as_uint(v); };
  put(0, __fadd_rz(x, y));
  put(1, __fadd_ru(x, y));
  put(2, __fmul_rd(x, y));
  put(3, __fmaf_rn(x, y, 1.25f));
  put(4, __fmaf_rz(x, y, 1.25f));
  put(5, __fdiv_rn(x, y));
  put(6, __fsqrt_rn(fabsf(x)));
  put(7, __frcp_rn(x));
  o[8] = __float2int_rn(x) ^ __float2int_rz(y) << 8;
  o[9] = __float2int_ru(x) ^ __float2int_rd(y) << 8;
  o[10] = __float2uint_rn(fabsf(x));
  put(11, __int2float_rn(int(__float_as_uint(x))));
  put(12, __uint2float_rz(__float_as_uint(y)));
  put(13, float(__float2half_rn(x)));
  put(14, float(__float2bfloat16_rn(x)));
  put(15, __saturatef(x));
}

extern "C" __global__ void halves(const __half2 *a, const __half2 *b,
                                  __half2 *out) {
  __half2 x = a[threadIdx.x], y = b[threadIdx.x], *o = out + 10 * threadIdx.x;
  o[0] = x + y;
  o[1] = x * y;
  o[2] = __hfma2(x, y, x);
  o[3] = x - y;
  o[4] = __hmax2(x, y);
  o[5] = __hmin2(x, __hneg2(y));
  o[6] = __hgt2(x, y);
  o[7] = __habs2(x);
  o[8] = __hfma2_relu(x, y, x);
  o[9] = __lowhigh2highlow(x);
}

extern "C" __global__ void bfloats(const __nv_bfloat162 *a,
                                   const __nv_bfloat162 *b,
                                   __nv_bfloat162 *out) {
  __nv_bfloat162 x = a[threadIdx.x], y = b[threadIdx.x],
                 *o = out + 8 * threadIdx.x;
  o[0] = __hadd2(x, y);
  o[1] = __hmul2(x, y);
  o[2] = __hfma2(x, y, x);
  o[3] = __hsub2(x, y);
  o[4] = __hmax2(x, y);
  o[5] = __hmin2(x, y);
  o[6] = __heq2(x, y);
  o[7] = __float22bfloat162_rn(make_float2(__low2float(x) / 3, __high2float(y)));
}

/// e4m3 and e5m2 there and back.
extern "C" __global__ void small_floats(const float *in, unsigned char *bytes,
                                        float *back) {
  float x = in[threadIdx.x];
  __nv_fp8_e4m3 a(x);
  __nv_fp8_e5m2 b(x);
  bytes[2 * threadIdx.x] = a.__x;
  bytes[2 * threadIdx.x + 1] = b.__x;
  back[2 * threadIdx.x] = float(a);
  back[2 * threadIdx.x + 1] = float(b);
}
