//===- small-loop.cu - the kernel behind small-loop.sass --------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------===//
//
// A loop with a little of everything that sass-loop.py counts: two tensor-core
// products, a matrix load, an exponential, a shuffle, a branch that only some
// iterations take, and an inner loop without products. Made by
//   nvcc -arch=sm_80 -cubin small-loop.cu -o k.cubin; cuobjdump -sass k.cubin
// without the lines that hold only encodings.
#include <cstdint>

extern "C" __global__ void small_loop(const float *in, float *out, int n,
                                      int rare) {
  __shared__ __align__(16) uint16_t tile[16 * 64];
  float acc[4] = {0, 0, 0, 0};
  uint32_t b0 = threadIdx.x, b1 = threadIdx.x + 1;
  uint32_t address = (uint32_t)__cvta_generic_to_shared(tile);
  float top = in[threadIdx.x];
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    uint32_t a[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                 : "r"(address + (i & 3) * 256 + threadIdx.x * 16));
    for (int k = 0; k < 2; ++k)
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                   "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                   : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0),
                     "r"(b1 + k));
    top = fmaxf(top, acc[0]);
    top = fmaxf(top, __shfl_xor_sync(~0u, top, 1));
    float p;
    asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(p) : "f"(acc[1] - top));
    acc[2] = fmaf(acc[2], p, acc[3]);
    if (i == rare) {
      for (int k = 0; k < 16; ++k)
        tile[threadIdx.x * 16 + k] = (uint16_t)(i * k);
      __syncthreads();
    }
  }
#pragma unroll 1
  for (int i = 0; i < n; ++i)
    acc[3] = fmaf(acc[3], acc[2], top);
  for (int k = 0; k < 4; ++k)
    out[threadIdx.x * 4 + k] = acc[k];
}
