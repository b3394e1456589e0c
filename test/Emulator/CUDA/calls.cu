//===- calls.cu - functions, recursion, tables ---*- CUDA -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Calls, recursion, function pointers, switch tables, virtual functions.
//
//===----------------------------------------------------------------------===//
#include <cuda_runtime.h>

__device__ __noinline__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
extern "C" __global__ void recursion(int *out) {
  out[threadIdx.x] = fibonacci(threadIdx.x % 12);
}

__device__ int twice(int x) { return 2 * x; }
__device__ int square(int x) { return x * x; }
__device__ int negate(int x) { return -x; }
__device__ int (*const kFunctions[3])(int) = {twice, square, negate};
extern "C" __global__ void pointers(const int *which, int *out) {
  int (*f)(int) = kFunctions[which[threadIdx.x]];
  out[threadIdx.x] = f(threadIdx.x);
}

/// A table of ten cases that differ enough not to become arithmetic.
extern "C" __global__ void cases(const int *op, int *out) {
  int x = threadIdx.x + 1, r;
  switch (op[threadIdx.x]) {
  case 0:
    r = x * 7;
    break;
  case 1:
    r = x ^ 0x5A5A;
    break;
  case 2:
    r = __popc(x) + 100;
    break;
  case 3:
    r = __brev(x);
    break;
  case 4:
    r = x % 7;
    break;
  case 5:
    r = x << 5 | 3;
    break;
  case 6:
    r = __clz(x);
    break;
  case 7:
    r = x / 3 - 9;
    break;
  case 8:
    r = min(x, 11);
    break;
  case 9:
    r = __float_as_int(float(x));
    break;
  default:
    r = -1;
  }
  out[threadIdx.x] = r;
}

struct Triple {
  int a;
  double b;
  char c[5];
};
__device__ __noinline__ Triple make(int x, Triple t, const char *tail) {
  t.a += x;
  t.b *= x;
  for (int k = 0; k < 5; ++k)
    t.c[k] = char(tail[k] + x);
  return t;
}
extern "C" __global__ void structures(double *out) {
  Triple t = {1, 0.5, {}};
  char tail[5] = {1, 2, 3, 4, 5};
  t = make(threadIdx.x, t, tail);
  t = make(2, t, t.c);
  double s = t.a + t.b;
  for (char c : t.c)
    s += c;
  out[threadIdx.x] = s;
}

struct Shape {
  __device__ virtual float area() const = 0;
};
struct Square : Shape {
  float side;
  __device__ Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};
struct Disc : Shape {
  float radius;
  __device__ Disc(float r) : radius(r) {}
  __device__ float area() const override { return 3 * radius * radius; }
};
extern "C" __global__ void virtuals(float *out) {
  Square square(threadIdx.x);
  Disc disc(threadIdx.x);
  const Shape *shape = &square;
  if (threadIdx.x % 2)
    shape = &disc;
  out[threadIdx.x] = shape->area();
}

/// Loops that lanes leave at different times, from inside a nested loop.
extern "C" __global__ void collatz(int *out) {
  int steps = 0;
  for (int limit = 1; limit <= 64; limit *= 2) {
    unsigned x = threadIdx.x + 1;
    for (int k = 0; k < limit; ++k) {
      if (x == 1)
        goto done;
      x = x & 1 ? 3 * x + 1 : x / 2;
      ++steps;
    }
  }
done:
  out[threadIdx.x] = steps;
}
