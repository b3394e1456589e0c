//===- atomics.cu - atomic operations ---*- CUDA -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All kinds, types and scopes. What the result depends on no order is compared.
//
//===----------------------------------------------------------------------===//
#include <cuda/atomic>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void integers(int *s32, unsigned *u32,
                                    unsigned long long *u64, long long *s64) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&s32[0], t - 100);
  atomicMin(&s32[1], 50 - t);
  atomicMax(&s32[2], t * 3 - 7);
  atomicSub(&s32[3], t);
  atomicAnd(&u32[0], ~(1u << t % 32));
  atomicOr(&u32[1], 1u << t % 31);
  atomicXor(&u32[2], unsigned(t) * 2654435761u);
  atomicMin(&u32[3], 1000u - t);
  atomicMax(&u32[4], unsigned(t));
  atomicInc(&u32[5], 6);
  atomicDec(&u32[6], 9);
  atomicAdd(&u64[0], (unsigned long long)t << 35);
  atomicMin(&u64[1], ~0ull - t);
  atomicMax(&u64[2], (unsigned long long)t << 40);
  atomicOr(&u64[3], 1ull << t % 64);
  atomicXor(&u64[4], 0x9E3779B97F4A7C15ull * t);
  atomicMin(&s64[0], (long long)t * -77777777777ll);
  atomicMax(&s64[1], (long long)t * 77777777777ll);
}

extern "C" __global__ void floats(float *f, double *d, __half2 *h,
                                  __nv_bfloat162 *b, __half *h1) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&f[t % 3], 0.25f * (t % 8));
  atomicAdd(&d[t % 5], 0.125 * t);
  atomicAdd(&h[0], __floats2half2_rn(t % 4, -(t % 2)));
  atomicAdd(&b[0], __floats2bfloat162_rn(t % 2, -1));
  atomicAdd(&h1[0], __float2half(t % 2));
}

/// Old values: every number is handed out once.
extern "C" __global__ void tickets(unsigned *next, unsigned *taken,
                                   unsigned *last, unsigned *chain) {
  unsigned mine = atomicAdd(next, 1u);
  taken[mine] = 1;
  // A chain through all threads: each finds what another has left.
  chain[mine] = atomicExch(last, mine + 1);
}

/// A float maximum and a product by compare-and-swap.
extern "C" __global__ void swaps(const float *in, unsigned *most,
                                 unsigned long long *product) {
  float x = in[threadIdx.x];
  unsigned seen = *(volatile unsigned *)most;
  while (__uint_as_float(seen) < x) {
    unsigned now = atomicCAS(most, seen, __float_as_uint(x));
    if (now == seen)
      break;
    seen = now;
  }
  unsigned long long old = atomicAdd(product, 0ull), assumed;
  do {
    assumed = old;
    old = atomicCAS(product, assumed, assumed * (2 * threadIdx.x + 1));
  } while (old != assumed);
  unsigned short *half = reinterpret_cast<unsigned short *>(most + 1);
  unsigned short h = *(volatile unsigned short *)half, was;
  do {
    was = h;
    h = atomicCAS(half, was, (unsigned short)(was + 3));
  } while (h != was);
}

/// cuda::atomic and cuda::atomic_ref: orders and scopes by name.
extern "C" __global__ void references(int *x, unsigned long long *y) {
  cuda::atomic_ref<int, cuda::thread_scope_device> a(x[0]);
  a.fetch_add(2, cuda::memory_order_relaxed);
  cuda::atomic_ref<int, cuda::thread_scope_block> b(x[1 + blockIdx.x]);
  b.fetch_max(int(threadIdx.x), cuda::memory_order_acq_rel);
  cuda::atomic_ref<unsigned long long, cuda::thread_scope_system> c(y[0]);
  c.fetch_add(3);
  a.fetch_sub(1, cuda::memory_order_release);
  if (a.load(cuda::memory_order_acquire) < 0)
    c.store(0, cuda::memory_order_release);
}

/// The last block to finish adds up what all have left.
extern "C" __global__ void last_block(const int *in, int *part, unsigned *done,
                                      int *out) {
  __shared__ int sum;
  __shared__ bool isLast;
  if (threadIdx.x == 0)
    sum = 0;
  __syncthreads();
  atomicAdd(&sum, in[blockIdx.x * blockDim.x + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) {
    *(volatile int *)&part[blockIdx.x] = sum;
    __threadfence();
    isLast = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (isLast && threadIdx.x == 0) {
    __threadfence();
    int s = 0;
    for (int b = 0; b < gridDim.x; ++b)
      s += *(volatile int *)&part[b];
    *out = s;
  }
}
