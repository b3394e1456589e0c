//===- reductions.cu - sums and scans over warps and blocks ---*- CUDA -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shuffles, redux, trees in shared memory, scans, and a grid's sum by atomics.
//
//===----------------------------------------------------------------------===//
#include <climits>
#include <cuda_runtime.h>

__device__ float warpSum(float x) {
  for (int d = 16; d; d /= 2)
    x += __shfl_xor_sync(~0u, x, d);
  return x;
}

/// One sum a warp, of 32 consecutive numbers.
extern "C" __global__ void warp_sums(const float *in, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float s = warpSum(in[i]);
  if (threadIdx.x % 32 == 0)
    out[i / 32] = s;
}

/// Sum, smallest, largest and all bits of 32 integers.
extern "C" __global__ void warp_redux(const int *in, int *out) {
  int x = in[threadIdx.x];
  int warp = threadIdx.x / 32;
#if __CUDA_ARCH__ >= 800
  int sum = __reduce_add_sync(~0u, x), least = __reduce_min_sync(~0u, x),
      most = __reduce_max_sync(~0u, x);
  unsigned all = __reduce_or_sync(~0u, unsigned(x));
#endif
  if (threadIdx.x % 32 == 0) {
    out[warp * 4] = sum;
    out[warp * 4 + 1] = least;
    out[warp * 4 + 2] = most;
    out[warp * 4 + 3] = int(all);
  }
}

/// Sum of n numbers: strided loop, tree in shared memory, one atomic a block.
extern "C" __global__ void grid_sum(const float *in, int n, float *total) {
  __shared__ float part[256];
  float s = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    s += in[i];
  part[threadIdx.x] = s;
  __syncthreads();
  for (int half = blockDim.x / 2; half >= 32; half /= 2) {
    if (threadIdx.x < half)
      part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x < 32) {
    s = warpSum(part[threadIdx.x]);
    if (threadIdx.x == 0)
      atomicAdd(total, s);
  }
}

/// Largest number and its place, the first one of equals.
extern "C" __global__ void block_argmax(const int *in, int n, int *out) {
  __shared__ long long best[8];
  long long mine = LLONG_MIN;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    long long key = (long long)in[i] << 32 | unsigned(~i);
    mine = key > mine ? key : mine;
  }
  for (int d = 16; d; d /= 2) {
    long long other = __shfl_down_sync(~0u, mine, d);
    mine = other > mine ? other : mine;
  }
  if (threadIdx.x % 32 == 0)
    best[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < blockDim.x / 32; ++w)
      mine = best[w] > mine ? best[w] : mine;
    out[0] = int(mine >> 32);
    out[1] = ~int(unsigned(mine));
  }
}

/// Inclusive sums inside each block of 256.
extern "C" __global__ void block_scan(const int *in, int *out) {
  __shared__ int sums[8];
  int i = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x % 32,
      warp = threadIdx.x / 32;
  int x = in[i];
  for (int d = 1; d < 32; d *= 2) {
    int y = __shfl_up_sync(~0u, x, d);
    if (lane >= d)
      x += y;
  }
  if (lane == 31)
    sums[warp] = x;
  __syncthreads();
  if (warp == 0) {
    int s = lane < 8 ? sums[lane] : 0;
    for (int d = 1; d < 8; d *= 2) {
      int y = __shfl_up_sync(~0u, s, d);
      if (lane >= d)
        s += y;
    }
    if (lane < 8)
      sums[lane] = s;
  }
  __syncthreads();
  out[i] = x + (warp ? sums[warp - 1] : 0);
}

/// Exclusive sums of 512 numbers by the up-sweep and down-sweep of a tree.
extern "C" __global__ void tree_scan(const int *in, int *out) {
  __shared__ int t[512];
  int k = threadIdx.x;
  t[2 * k] = in[2 * k];
  t[2 * k + 1] = in[2 * k + 1];
  int step = 1;
  for (int d = 256; d; d /= 2) {
    __syncthreads();
    if (k < d)
      t[step * (2 * k + 2) - 1] += t[step * (2 * k + 1) - 1];
    step *= 2;
  }
  if (k == 0)
    t[511] = 0;
  for (int d = 1; d < 512; d *= 2) {
    step /= 2;
    __syncthreads();
    if (k < d) {
      int a = step * (2 * k + 1) - 1, b = step * (2 * k + 2) - 1;
      int x = t[a];
      t[a] = t[b];
      t[b] += x;
    }
  }
  __syncthreads();
  out[2 * k] = t[2 * k];
  out[2 * k + 1] = t[2 * k + 1];
}
