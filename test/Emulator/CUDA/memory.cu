//===- memory.cu - spaces, cache hints, parameters ---*- CUDA -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Constant and global variables, dynamic shared memory, structures as parameters,
// loads and stores with cache hints, local arrays.
//
//===----------------------------------------------------------------------===//
#include <cuda_runtime.h>

__constant__ float kWeights[8] = {0.5f, 1, 2, 4, 8, 16, 32, 64};
__constant__ short kShorts[4] = {-3, 7, -32768, 32767};
__device__ int counter = 41;
__device__ double table[3] = {1.5, -2.25, 1e300};
__device__ const char kText[] = "sixteen letters!";

extern "C" __global__ void constants(const int *index, float *out) {
  int i = threadIdx.x;
  out[i] = kWeights[index[i] & 7] + kShorts[i & 3] + kText[i & 15] +
           float(table[i % 2]);
}

extern "C" __global__ void globals(int *out) {
  int before = atomicAdd(&counter, 1);
  __shared__ int least;
  if (threadIdx.x == 0)
    least = 1 << 30;
  __syncthreads();
  atomicMin(&least, before);
  __syncthreads();
  out[threadIdx.x] = least;
}

struct Inner {
  short a;
  double b;
};
struct Parameters {
  int n;
  float scale[5];
  Inner inner;
  int *out;
  char tail;
};

extern "C" __global__ void structure(const Parameters p, char last) {
  int i = threadIdx.x;
  if (i < p.n)
    p.out[i] = int(p.scale[i % 5] * 2) + p.inner.a + int(p.inner.b) + p.tail +
               last;
}
extern "C" __global__ void grid_constant(const __grid_constant__ Parameters p) {
  const float *at = p.scale + threadIdx.x % 5;
  if (threadIdx.x < p.n)
    p.out[threadIdx.x] = int(*at * 4);
}

/// Reverses blocks of `n` through dynamic shared memory.
extern "C" __global__ void reverse(const int *in, int *out, int n) {
  extern __shared__ int buffer[];
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    buffer[i] = in[blockIdx.x * n + i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[blockIdx.x * n + i] = buffer[n - 1 - i];
}

extern "C" __global__ void hints(const int *a, const short *b,
                                 const signed char *c, int4 *out) {
  int i = threadIdx.x;
  int4 r;
  r.x = __ldg(a + i);
  r.y = __ldcs(b + i);
  r.z = __ldcg(c + i) + __ldca(c + i);
  r.w = __ldcv(a + i) + __ldlu(a + 32 + i);
  __stcs(out + 2 * i, r);
  r.x = -r.x;
  __stwt(out + 2 * i + 1, r);
}

extern "C" __global__ void vectors(const char4 *a, const short2 *b,
                                   const double2 *c, const longlong2 *d,
                                   long long *out) {
  int i = threadIdx.x;
  char4 x = a[i];
  short2 y = b[i];
  double2 z = c[i];
  longlong2 w = d[i];
  out[i] = x.x + x.y * 2 + x.z * 3 + x.w * 4 + y.x * 5 + y.y * 6 +
           (long long)(z.x * z.y) + w.x - w.y;
}

/// Sorts eight numbers a thread in local memory, by index.
extern "C" __global__ void local_sort(const int *in, int *out) {
  int a[8];
  for (int k = 0; k < 8; ++k)
    a[k] = in[threadIdx.x * 8 + k];
  for (int k = 1; k < 8; ++k) {
    int x = a[k], j = k;
    while (j > 0 && a[j - 1] > x) {
      a[j] = a[j - 1];
      --j;
    }
    a[j] = x;
  }
  for (int k = 0; k < 8; ++k)
    out[threadIdx.x * 8 + k] = a[k];
}

/// Generic pointers: the space is known only at run time.
__device__ __noinline__ int sumOf(const int *p, int n) {
  int s = 0;
  for (int k = 0; k < n; ++k)
    s += p[k];
  return s;
}
extern "C" __global__ void generic(const int *in, int *out) {
  __shared__ int shared[32];
  int local[4];
  for (int k = 0; k < 4; ++k)
    local[k] = in[threadIdx.x] * k;
  shared[threadIdx.x] = in[threadIdx.x] + 1;
  __syncthreads();
  const int *p = threadIdx.x % 3 == 0   ? in + threadIdx.x
                 : threadIdx.x % 3 == 1 ? shared + (threadIdx.x & 28)
                                        : local;
  out[threadIdx.x] = sumOf(p, 4);
}
