//===- tiles.cu - transposes, histograms, stencils ---*- CUDA -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared tiles with padding, vectors of several widths, atomics in shared memory.
//
//===----------------------------------------------------------------------===//
#include <cuda_runtime.h>

template <typename T>
__device__ void transposeTile(const T *in, T *out, int rows, int columns) {
  __shared__ T tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < columns && y + j < rows)
      tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * columns + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < rows && y + j < columns)
      out[(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
}
extern "C" __global__ void transpose_f32(const float *in, float *out, int rows,
                                         int columns) {
  transposeTile(in, out, rows, columns);
}
extern "C" __global__ void transpose_f64(const double *in, double *out,
                                         int rows, int columns) {
  transposeTile(in, out, rows, columns);
}
extern "C" __global__ void transpose_u8(const unsigned char *in,
                                        unsigned char *out, int rows,
                                        int columns) {
  transposeTile(in, out, rows, columns);
}

/// 64 bins: in shared memory first, then in global memory.
extern "C" __global__ void histogram(const unsigned char *in, int n,
                                     unsigned *bins) {
  __shared__ unsigned own[64];
  if (threadIdx.x < 64)
    own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    atomicAdd(&own[in[i] / 4], 1u);
  __syncthreads();
  if (threadIdx.x < 64)
    atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

/// Numbers that pass go to the front, in order inside a block; lanes count by
/// ballot, warps by an atomic of one lane.
extern "C" __global__ void compact(const int *in, int n, int *out,
                                   int *count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int x = i < n ? in[i] : 0;
  bool passes = x > 0;
  unsigned ballot = __ballot_sync(~0u, passes);
  int lane = threadIdx.x % 32, base = 0;
  if (lane == 0)
    base = atomicAdd(count, __popc(ballot));
  base = __shfl_sync(~0u, base, 0);
  if (passes)
    out[base + __popc(ballot & ((1u << lane) - 1))] = x;
}

/// Nine-point mean with a halo; borders repeat.
extern "C" __global__ void stencil(const float *in, float *out, int h, int w) {
  __shared__ float tile[18][18];
  int x0 = blockIdx.x * 16 - 1, y0 = blockIdx.y * 16 - 1;
  for (int i = threadIdx.y * 16 + threadIdx.x; i < 18 * 18; i += 256) {
    int x = min(max(x0 + i % 18, 0), w - 1), y = min(max(y0 + i / 18, 0), h - 1);
    tile[i / 18][i % 18] = in[y * w + x];
  }
  __syncthreads();
  float s = 0;
#pragma unroll
  for (int dy = 0; dy < 3; ++dy)
#pragma unroll
    for (int dx = 0; dx < 3; ++dx)
      s += tile[threadIdx.y + dy][threadIdx.x + dx];
  int x = x0 + 1 + threadIdx.x, y = y0 + 1 + threadIdx.y;
  if (x < w && y < h)
    out[y * w + x] = s * (1.0f / 9);
}

/// y = a x + y in vectors of four, and what is left one by one.
extern "C" __global__ void axpy_vectors(float a, const float4 *x, float4 *y,
                                        int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 4) {
    float4 u = x[i], v = y[i];
    y[i] = make_float4(a * u.x + v.x, a * u.y + v.y, a * u.z + v.z,
                       a * u.w + v.w);
  }
  if (i < n % 4) {
    const float *xs = reinterpret_cast<const float *>(x);
    float *ys = reinterpret_cast<float *>(y);
    int k = n / 4 * 4 + i;
    ys[k] = a * xs[k] + ys[k];
  }
}
