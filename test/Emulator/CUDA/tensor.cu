//===- tensor.cu - mma.sync of every type, and a pipelined product ---*- CUDA -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product of f16 matrices with cp.async, ldmatrix and mma.sync, and one tile of
// each other type with fragments loaded element by element.
//
//===----------------------------------------------------------------------===//
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cstdint>

__device__ uint32_t shared(const void *p) {
  return uint32_t(__cvta_generic_to_shared(p));
}
__device__ void copy16(uint32_t to, const void *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from)
               : "memory");
}
__device__ void commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int N> __device__ void waitFor() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}
__device__ void loadMatrices(uint32_t (&r)[4], uint32_t at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(at)
               : "memory");
}
__device__ void multiply(float (&d)[4], const uint32_t (&a)[4], uint32_t b0,
                         uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
               "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

constexpr int kTile = 64, kDepth = 32;
/// Chunk c of row r of a tile of 64 rows of 64 bytes.
__device__ uint32_t chunk(int r, int c) {
  return r * 64 + ((c ^ (r >> 1)) & 3) * 16;
}
__device__ void loadTile(uint32_t to, const __half *from, int k) {
  for (int i = threadIdx.x; i < 64 * 4; i += 128)
    copy16(to + chunk(i / 4, i % 4), from + (i / 4) * k + i % 4 * 8);
}

/// C = A B^T; A is m x k, B is n x k; m, n multiples of 64, k of 32.
extern "C" __global__ void __launch_bounds__(128)
    gemm_f16(const __half *a, const __half *b, float *c, int n, int k) {
  __shared__ __align__(128) char tiles[2][2][kTile * kDepth * 2];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  a += blockIdx.y * kTile * k;
  b += blockIdx.x * kTile * k;
  float d[8][4] = {};
  auto start = [&](int stage, int k0) {
    loadTile(shared(tiles[stage][0]), a + k0, k);
    loadTile(shared(tiles[stage][1]), b + k0, k);
    commit();
  };
  start(0, 0);
  for (int k0 = 0, stage = 0; k0 < k; k0 += kDepth, stage ^= 1) {
    if (k0 + kDepth < k) {
      start(stage ^ 1, k0 + kDepth);
      waitFor<1>();
    } else {
      waitFor<0>();
    }
    __syncthreads();
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      uint32_t x[4], y[4];
      loadMatrices(x, shared(tiles[stage][0]) +
                          chunk(16 * warp + lane % 16, 2 * half + lane / 16));
#pragma unroll
      for (int j = 0; j < 8; j += 2) {
        loadMatrices(y, shared(tiles[stage][1]) +
                            chunk(8 * j + lane % 8 + lane / 16 * 8,
                                  2 * half + lane / 8 % 2));
        multiply(d[j], x, y[0], y[1]);
        multiply(d[j + 1], x, y[2], y[3]);
      }
    }
    __syncthreads();
  }
  int row = blockIdx.y * kTile + 16 * warp + lane / 4;
  for (int j = 0; j < 8; ++j) {
    float *to = c + row * n + blockIdx.x * kTile + 8 * j + lane % 4 * 2;
    to[0] = d[j][0];
    to[1] = d[j][1];
    to[8 * n] = d[j][2];
    to[8 * n + 1] = d[j][3];
  }
}

/// One warp, 16 x 8: A row by row, B column by column, words of packed bytes.
/// `perRow` words along K.
template <int A, int B>
__device__ void fragments(const uint32_t *a, const uint32_t *b, int perRow,
                          uint32_t (&x)[A], uint32_t (&y)[B]) {
  int g = threadIdx.x / 4, t = threadIdx.x % 4;
  for (int r = 0; r < A; ++r)
    x[r] = a[(g + 8 * (r & 1)) * perRow + t + 4 * (r >> 1)];
  for (int r = 0; r < B; ++r)
    y[r] = b[g * perRow + t + 4 * r];
}
template <typename T> __device__ void store(T *d, const T (&v)[4]) {
  int g = threadIdx.x / 4, t = threadIdx.x % 4;
  for (int i = 0; i < 4; ++i)
    d[(g + 8 * (i >> 1)) * 8 + 2 * t + (i & 1)] = v[i];
}

#define FLOAT_TILE(name, opcode)                                               \
  extern "C" __global__ void name(const uint32_t *a, const uint32_t *b,        \
                                  float *d) {                                  \
    uint32_t x[4], y[2];                                                       \
    float v[4] = {1, 2, 3, 4};                                                 \
    fragments(a, b, 8, x, y);                                                  \
    asm volatile(opcode " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "             \
                        "{%0,%1,%2,%3};"                                       \
                 : "+f"(v[0]), "+f"(v[1]), "+f"(v[2]), "+f"(v[3])              \
                 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]),      \
                   "r"(y[1]));                                                 \
    store(d, v);                                                               \
  }
FLOAT_TILE(tile_bf16, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32")
FLOAT_TILE(tile_tf32, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32")
#if __CUDA_ARCH__ >= 890
FLOAT_TILE(tile_e4m3, "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32")
FLOAT_TILE(tile_e5m2, "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32")
#endif

#define INT_TILE(name, opcode)                                                 \
  extern "C" __global__ void name(const uint32_t *a, const uint32_t *b,        \
                                  int *d) {                                    \
    uint32_t x[4], y[2];                                                       \
    int v[4] = {1, 2, 3, 4};                                                   \
    fragments(a, b, 8, x, y);                                                  \
    asm volatile(opcode " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "             \
                        "{%0,%1,%2,%3};"                                       \
                 : "+r"(v[0]), "+r"(v[1]), "+r"(v[2]), "+r"(v[3])              \
                 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]),      \
                   "r"(y[1]));                                                 \
    store(d, v);                                                               \
  }
INT_TILE(tile_s8, "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32")
INT_TILE(tile_u8s8, "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32")
INT_TILE(tile_s4, "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32")
INT_TILE(tile_b1, "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc")

/// f64: 8 x 8 x 4.
extern "C" __global__ void tile_f64(const double *a, const double *b,
                                    double *d) {
  int g = threadIdx.x / 4, t = threadIdx.x % 4;
  double x = a[g * 4 + t], y = b[g * 4 + t], v[2] = {1, 2};
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, "
               "{%3}, {%0,%1};"
               : "+d"(v[0]), "+d"(v[1])
               : "d"(x), "d"(y));
  d[g * 8 + 2 * t] = v[0];
  d[g * 8 + 2 * t + 1] = v[1];
}

/// f16 accumulators; fragments through ldmatrix.trans and movmatrix.
extern "C" __global__ void tile_f16(const __half *a, const __half *b,
                                    __half *d) {
  __shared__ __align__(16) __half sa[16][16], sb[16][8];
  int lane = threadIdx.x;
  for (int i = lane; i < 256; i += 32)
    sa[i / 16][i % 16] = a[i];
  for (int i = lane; i < 128; i += 32)
    sb[i / 8][i % 8] = b[i]; // B row by row: k, n
  __syncwarp();
  uint32_t x[4], y[2], v[2] = {0, 0};
  loadMatrices(x, shared(&sa[lane % 16][lane / 16 * 8]));
  asm volatile(
      "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
      : "=r"(y[0]), "=r"(y[1])
      : "r"(shared(&sb[lane % 16][0]))
      : "memory");
  // Twice transposed is as before.
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %0;" : "+r"(y[1]));
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %0;" : "+r"(y[1]));
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, "
               "{%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
               : "+r"(v[0]), "+r"(v[1])
               : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]),
                 "r"(y[1]));
  uint32_t *out = reinterpret_cast<uint32_t *>(d);
  out[lane / 4 * 4 + lane % 4] = v[0];
  out[(lane / 4 + 8) * 4 + lane % 4] = v[1];
}
