//===- output.cu - printf, assert, trap ---*- CUDA -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a kernel says while it runs, and how it stops.
//
//===----------------------------------------------------------------------===//
#include <cassert>
#include <cstdio>

extern "C" __global__ void hello(const char *name, int n, double x) {
  if (threadIdx.x < n)
    printf("thread %d of %u: %s %5.2f %c %%\n", threadIdx.x, blockDim.x, name,
           x * threadIdx.x, 'a' + threadIdx.x);
  if (threadIdx.x == 0)
    printf("%lld %llx %p %08x %-4d|%+d %e\n", -1234567890123ll,
           0xFEDCBA9876543210ull, (void *)0x10, 0xBEEF, 7, 7, x);
}

extern "C" __global__ void guard(const int *in, int limit) {
  assert(in[threadIdx.x] < limit && "too large");
}

extern "C" __global__ void traps(int when) {
  if (blockIdx.x == when)
    __trap();
}
