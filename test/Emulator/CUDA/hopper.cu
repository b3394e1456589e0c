//===- hopper.cu - products with wgmma, TMA and warp roles ---*- CUDA -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// sm_90a. C = A B^T in f16 with f32 sums; A is m x k, B is n x k, both row by
// row. hand_filled stores the tiles itself, tma_pipeline has one thread issue TMA
// loads for all, roles gives a warpgroup the loads and two the products.
//
//===----------------------------------------------------------------------===//
#include <cuda.h>
#include <cuda_fp16.h>
#include <cstdint>

__device__ uint32_t shared(const void *p) {
  return uint32_t(__cvta_generic_to_shared(p));
}

//===----------------------------------------------------------------------===//
// mbarriers, copies
//===----------------------------------------------------------------------===//

__device__ void initBarrier(uint32_t at, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at), "r"(count)
               : "memory");
}
__device__ void arrive(uint32_t at) {
  asm volatile("{ .reg .b64 state;\n"
               "mbarrier.arrive.shared::cta.b64 state, [%0]; }" ::"r"(at)
               : "memory");
}
__device__ void expectBytes(uint32_t at, int bytes) {
  asm volatile("{ .reg .b64 state;\n"
               "mbarrier.arrive.expect_tx.shared::cta.b64 state, [%0], %1; "
               "}" ::"r"(at),
               "r"(bytes)
               : "memory");
}
__device__ void waitParity(uint32_t at, int parity) {
  asm volatile("{\n.reg .pred p;\n"
               "AGAIN:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
               "@p bra DONE;\n"
               "bra AGAIN;\n"
               "DONE:\n}" ::"r"(at),
               "r"(parity)
               : "memory");
}
__device__ void loadBox(uint32_t to, const CUtensorMap *map, int x, int y,
                        uint32_t barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::"
               "complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
               "l"(map), "r"(x), "r"(y), "r"(barrier)
               : "memory");
}
__device__ void storeBox(const CUtensorMap *map, int x, int y, uint32_t from) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, "
               "{%1, %2}], [%3];" ::"l"(map),
               "r"(x), "r"(y), "r"(from)
               : "memory");
}
__device__ void fenceAsync() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

//===----------------------------------------------------------------------===//
// wgmma: 64 x 64 x 16, both tiles K-major with the 128-byte swizzle
//===----------------------------------------------------------------------===//

/// A tile of rows of 128 bytes: 8 rows are 1024 bytes.
__device__ uint64_t descriptor(uint32_t at) {
  return uint64_t(at >> 4) | 1ull << 16 | 64ull << 32 | 1ull << 62;
}
__device__ void wgmmaFence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ void wgmmaCommit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int N> __device__ void wgmmaWait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}
#define D8(n)                                                                  \
  "+f"(d[n]), "+f"(d[n + 1]), "+f"(d[n + 2]), "+f"(d[n + 3]), "+f"(d[n + 4]),  \
      "+f"(d[n + 5]), "+f"(d[n + 6]), "+f"(d[n + 7])
__device__ void multiply(float (&d)[32], uint64_t a, uint64_t b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,"
      "%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, %32, %33, 1, 1, 1, 0, "
      "0;"
      : D8(0), D8(8), D8(16), D8(24)
      : "l"(a), "l"(b));
}
/// A from registers: the rows of this warp, 16 along K.
__device__ void multiplyRegisters(float (&d)[32], const uint32_t (&a)[4],
                                  uint64_t b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,"
      "%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, {%32,%33,%34,%35}, "
      "%36, 1, 1, 1, 0;"
      : D8(0), D8(8), D8(16), D8(24)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
/// Stores 64 x 64 sums of a warpgroup.
__device__ void storeSums(const float (&d)[32], float *c, int n) {
  int t = threadIdx.x % 128, row = t / 32 * 16 + t % 32 / 4;
  for (int i = 0; i < 32; ++i)
    c[(row + 8 * (i >> 1 & 1)) * n + 8 * (i >> 2) + t % 4 * 2 + (i & 1)] = d[i];
}

constexpr int kBytes = 64 * 128; // of a tile of 64 rows, 64 numbers

/// Rows of 64 numbers by 16-byte stores, swizzled by hand.
__device__ void fill(char *tile, const __half *from, int k) {
  for (int i = threadIdx.x; i < 64 * 8; i += 128) {
    int row = i / 8, c = i % 8;
    *reinterpret_cast<int4 *>(tile + row * 128 + (c ^ row % 8) * 16) =
        *reinterpret_cast<const int4 *>(from + row * k + c * 8);
  }
}

extern "C" __global__ void __launch_bounds__(128)
    hand_filled(const __half *a, const __half *b, float *c, int n, int k) {
  extern __shared__ __align__(1024) char tiles[];
  a += blockIdx.y * 64 * k;
  b += blockIdx.x * 64 * k;
  float d[32] = {};
  for (int k0 = 0; k0 < k; k0 += 64) {
    fill(tiles, a + k0, k);
    fill(tiles + kBytes, b + k0, k);
    fenceAsync();
    __syncthreads();
    uint64_t x = descriptor(shared(tiles)),
             y = descriptor(shared(tiles + kBytes));
    wgmmaFence();
    for (int j = 0; j < 4; ++j) // 32 bytes along K
      multiply(d, x + 2 * j, y + 2 * j);
    wgmmaCommit();
    wgmmaWait<0>();
    __syncthreads();
  }
  storeSums(d, c + blockIdx.y * 64 * n + blockIdx.x * 64, n);
}

/// A through registers, by ldmatrix from the swizzled tile; one product stays
/// under way while the next one is issued.
extern "C" __global__ void __launch_bounds__(128)
    register_a(const __half *a, const __half *b, float *c, int n, int k) {
  extern __shared__ __align__(1024) char tiles[];
  a += blockIdx.y * 64 * k;
  b += blockIdx.x * 64 * k;
  float d[32] = {};
  int t = threadIdx.x;
  for (int k0 = 0; k0 < k; k0 += 64) {
    fill(tiles, a + k0, k);
    fill(tiles + kBytes, b + k0, k);
    fenceAsync();
    __syncthreads();
    uint64_t y = descriptor(shared(tiles + kBytes));
    uint32_t x[4][4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      int row = t / 32 * 16 + t % 16, chunk = 2 * j + t % 32 / 16;
      asm volatile(
          "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
          : "=r"(x[j][0]), "=r"(x[j][1]), "=r"(x[j][2]), "=r"(x[j][3])
          : "r"(shared(tiles + row * 128 + (chunk ^ row % 8) * 16))
          : "memory");
    }
    wgmmaFence();
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      multiplyRegisters(d, x[j], y + 2 * j);
      wgmmaCommit();
    }
    wgmmaWait<1>();
    wgmmaWait<0>();
    __syncthreads();
  }
  storeSums(d, c + blockIdx.y * 64 * n + blockIdx.x * 64, n);
}

//===----------------------------------------------------------------------===//
// TMA
//===----------------------------------------------------------------------===//

constexpr int kStages = 3;

/// Two tiles a stage; the barrier of a stage counts its bytes.
extern "C" __global__ void __launch_bounds__(128)
    tma_pipeline(const __grid_constant__ CUtensorMap a,
                 const __grid_constant__ CUtensorMap b, float *c, int n,
                 int k) {
  extern __shared__ __align__(1024) char tiles[];
  __shared__ __align__(8) uint64_t full[kStages];
  bool isFirst = threadIdx.x == 0;
  if (isFirst) {
    for (int s = 0; s < kStages; ++s)
      initBarrier(shared(&full[s]), 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    fenceAsync();
  }
  __syncthreads();
  int steps = k / 64;
  auto start = [&](int step) {
    int s = step % kStages;
    uint32_t to = shared(tiles + s * 2 * kBytes), at = shared(&full[s]);
    expectBytes(at, 2 * kBytes);
    loadBox(to, &a, step * 64, blockIdx.y * 64, at);
    loadBox(to + kBytes, &b, step * 64, blockIdx.x * 64, at);
  };
  if (isFirst)
    for (int step = 0; step < kStages - 1 && step < steps; ++step)
      start(step);
  float d[32] = {};
  for (int step = 0; step < steps; ++step) {
    int s = step % kStages;
    waitParity(shared(&full[s]), step / kStages & 1);
    uint32_t at = shared(tiles + s * 2 * kBytes);
    uint64_t x = descriptor(at), y = descriptor(at + kBytes);
    wgmmaFence();
    for (int j = 0; j < 4; ++j)
      multiply(d, x + 2 * j, y + 2 * j);
    wgmmaCommit();
    wgmmaWait<0>();
    __syncthreads(); // everybody is done with this stage
    if (isFirst && step + kStages - 1 < steps)
      start(step + kStages - 1);
  }
  storeSums(d, c + blockIdx.y * 64 * n + blockIdx.x * 64, n);
}

/// 128 x 64 a block. The last warpgroup loads; the two others multiply 64 rows
/// each and leave their sums, as f16, to a TMA store.
extern "C" __global__ void __maxnreg__(168)
    roles(const __grid_constant__ CUtensorMap a,
          const __grid_constant__ CUtensorMap b,
          const __grid_constant__ CUtensorMap c, int k) {
  extern __shared__ __align__(1024) char tiles[];
  __shared__ __align__(8) uint64_t full[kStages], empty[kStages];
  constexpr int kStage = 3 * kBytes; // A twice 64 rows, B
  int group = threadIdx.x / 128, steps = k / 64;
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      initBarrier(shared(&full[s]), 1);
      initBarrier(shared(&empty[s]), 2);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    fenceAsync();
  }
  __syncthreads();
  if (group == 2) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 256)
      for (int step = 0; step < steps; ++step) {
        int s = step % kStages;
        waitParity(shared(&empty[s]), step / kStages & 1 ^ 1);
        uint32_t to = shared(tiles + s * kStage), at = shared(&full[s]);
        expectBytes(at, kStage);
        loadBox(to, &a, step * 64, blockIdx.y * 128, at);
        loadBox(to + kBytes, &a, step * 64, blockIdx.y * 128 + 64, at);
        loadBox(to + 2 * kBytes, &b, step * 64, blockIdx.x * 64, at);
      }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  float d[32] = {};
  for (int step = 0; step < steps; ++step) {
    int s = step % kStages;
    waitParity(shared(&full[s]), step / kStages & 1);
    uint32_t at = shared(tiles + s * kStage);
    uint64_t x = descriptor(at + group * kBytes),
             y = descriptor(at + 2 * kBytes);
    wgmmaFence();
    for (int j = 0; j < 4; ++j)
      multiply(d, x + 2 * j, y + 2 * j);
    wgmmaCommit();
    wgmmaWait<0>();
    // A named barrier of the group, then one arrival for it.
    asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory");
    if (threadIdx.x % 128 == 0)
      arrive(shared(&empty[s]));
  }
  // 64 rows of 128 bytes behind the stages, by stmatrix with the swizzle.
  char *out = tiles + kStages * kStage + group * kBytes;
  int t = threadIdx.x % 128, row = t / 32 * 16 + t % 16;
  for (int j = 0; j < 4; ++j) {
    uint32_t v[4];
    for (int q = 0; q < 4; ++q) {
      __half2 h = __floats2half2_rn(d[8 * j + 2 * q], d[8 * j + 2 * q + 1]);
      v[q] = *reinterpret_cast<uint32_t *>(&h);
    }
    int chunk = 2 * j + t % 32 / 16;
    asm volatile(
        "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(
            shared(out + row * 128 + (chunk ^ row % 8) * 16)),
        "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3])
        : "memory");
  }
  fenceAsync();
  asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory");
  if (t == 0) {
    storeBox(&c, blockIdx.x * 64, blockIdx.y * 128 + group * 64, shared(out));
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}
