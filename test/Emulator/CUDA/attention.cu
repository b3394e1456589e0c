//===- attention.cu - attention with roles for the warpgroups ---*- CUDA
//-*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// sm_90a, D = 64, f16. A block has 128 rows of Q. The last warpgroup loads K
// and V by TMA, two stages of 128 keys; the two others have 64 rows each: S = Q
// K^T by wgmma with both operands in shared memory, softmax in registers, O +=
// P V with P from registers and V N-major. They take turns at S by named
// barriers. O goes through stmatrix and a TMA store.
//
//===----------------------------------------------------------------------===//
#include <cstdint>
#include <cuda.h>
#include <cuda_fp16.h>

__device__ uint32_t shared(const void *p) {
  return uint32_t(__cvta_generic_to_shared(p));
}

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
__device__ void loadBox(uint32_t to, const CUtensorMap *map, int row,
                        uint32_t barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::"
               "complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
               "l"(map), "r"(0), "r"(row), "r"(barrier)
               : "memory");
}
__device__ void storeBox(const CUtensorMap *map, int row, uint32_t from) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, "
               "{%1, %2}], [%3];" ::"l"(map),
               "r"(0), "r"(row), "r"(from)
               : "memory");
}

//===----------------------------------------------------------------------===//
// wgmma
//===----------------------------------------------------------------------===//

/// Rows of 128 bytes with the 128-byte swizzle: 8 rows are 1024 bytes. K-major
/// it is Q or K, N-major V.
__device__ uint64_t descriptor(uint32_t at) {
  return uint64_t(at >> 4) | 1ull << 16 | 64ull << 32 | 1ull << 62;
}
#define D8(d, n)                                                               \
  "+f"(d[n]), "+f"(d[n + 1]), "+f"(d[n + 2]), "+f"(d[n + 3]), "+f"(d[n + 4]),  \
      "+f"(d[n + 5]), "+f"(d[n + 6]), "+f"(d[n + 7])

/// s = Q K^T for 16 of D, or s += it.
__device__ void multiplyScores(float (&s)[64], uint64_t q, uint64_t k,
                               int accumulates) {
  asm volatile(
      "{ .reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,"
      "%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,"
      "%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,"
      "%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, %64, %65, p, 1, 1, 0, 0; }"
      : D8(s, 0), D8(s, 8), D8(s, 16), D8(s, 24), D8(s, 32), D8(s, 40),
        D8(s, 48), D8(s, 56)
      : "l"(q), "l"(k), "r"(accumulates));
}
/// o += P V for 16 keys, P from registers.
__device__ void multiplyValues(float (&o)[32], const uint32_t *p, uint64_t v) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,"
      "%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, {%32,%33,%34,%35}, "
      "%36, 1, 1, 1, 1;"
      : D8(o, 0), D8(o, 8), D8(o, 16), D8(o, 24)
      : "r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3]), "l"(v));
}
__device__ void wgmmaFence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ void wgmmaFinish() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

constexpr int kKeys = 128, kStages = 2;
constexpr int kTile = kKeys * 128;  // bytes of K or V
constexpr int kRowsTile = 64 * 128; // bytes of a warpgroup's Q or O

__device__ float quadMax(float x) {
  x = fmaxf(x, __shfl_xor_sync(~0u, x, 1));
  return fmaxf(x, __shfl_xor_sync(~0u, x, 2));
}
__device__ float quadSum(float x) {
  x += __shfl_xor_sync(~0u, x, 1);
  return x + __shfl_xor_sync(~0u, x, 2);
}
__device__ float power(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

struct Barriers {
  uint64_t query, full[kStages][2], empty[kStages][2]; // [K, V]
};

__device__ void load(const CUtensorMap *q, const CUtensorMap *k,
                     const CUtensorMap *v, char *tiles, Barriers &b,
                     int blocks) {
  uint32_t to = shared(tiles), at = shared(&b.query);
  expectBytes(at, 2 * kRowsTile);
  for (int g = 0; g < 2; ++g)
    loadBox(to + g * kRowsTile, q, blockIdx.x * 128 + g * 64, at);
  for (int n = 0; n < blocks; ++n) {
    int s = n % kStages, parity = n / kStages & 1 ^ 1;
    for (int isV = 0; isV < 2; ++isV) {
      waitParity(shared(&b.empty[s][isV]), parity);
      at = shared(&b.full[s][isV]);
      expectBytes(at, kTile);
      loadBox(to + 2 * kRowsTile + (2 * s + isV) * kTile, isV ? v : k,
              n * kKeys, at);
    }
  }
}

/// `scale` includes log2(e); rows of Q, K, V and O are 64 halves.
extern "C" __global__ void __maxnreg__(168)
    attention(const __grid_constant__ CUtensorMap q,
              const __grid_constant__ CUtensorMap k,
              const __grid_constant__ CUtensorMap v,
              const __grid_constant__ CUtensorMap out, int blocks,
              float scale) {
  extern __shared__ __align__(1024) char tiles[];
  __shared__ __align__(8) Barriers b;
  int group = threadIdx.x / 128;
  if (threadIdx.x == 0) {
    initBarrier(shared(&b.query), 1);
    for (int s = 0; s < kStages; ++s)
      for (int isV = 0; isV < 2; ++isV) {
        initBarrier(shared(&b.full[s][isV]), 1);
        initBarrier(shared(&b.empty[s][isV]), 2);
      }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  if (group == 2) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    if (threadIdx.x == 256)
      load(&q, &k, &v, tiles, b, blocks);
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
  char *mine = tiles + group * kRowsTile;
  int t = threadIdx.x % 128;
  float o[32] = {}, m[2] = {-INFINITY, -INFINITY}, l[2] = {};
  uint64_t rows = descriptor(shared(mine));
  if (group == 1) // the first turn is the other's
    asm volatile("bar.arrive 1, 256;" ::: "memory");
  waitParity(shared(&b.query), 0);
  for (int n = 0; n < blocks; ++n) {
    int s = n % kStages, parity = n / kStages & 1;
    uint32_t at = shared(tiles + 2 * kRowsTile + 2 * s * kTile);
    float x[64];
    waitParity(shared(&b.full[s][0]), parity);
    asm volatile("bar.sync %0, 256;" ::"r"(1 + group) : "memory");
    wgmmaFence();
    for (int j = 0; j < 4; ++j)
      multiplyScores(x, rows + 2 * j, descriptor(at) + 2 * j, j > 0);
    wgmmaFinish();
    if (n + 1 < blocks || group == 0)
      asm volatile("bar.arrive %0, 256;" ::"r"(2 - group) : "memory");
    if (t == 0)
      arrive(shared(&b.empty[s][0]));
    uint32_t p[32];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float most = m[h];
#pragma unroll
      for (int i = 0; i < 32; ++i)
        most = fmaxf(most, x[4 * (i / 2) + 2 * h + i % 2] * scale);
      most = quadMax(most);
      float shrink = power(m[h] - most), sum = 0;
      m[h] = most;
#pragma unroll
      for (int i = 0; i < 16; ++i) {
        float y = power(x[4 * i + 2 * h] * scale - most),
              z = power(x[4 * i + 2 * h + 1] * scale - most);
        sum += y + z;
        __half2 both = __floats2half2_rn(y, z);
        p[2 * i + h] = *reinterpret_cast<uint32_t *>(&both);
      }
      l[h] = l[h] * shrink + sum;
#pragma unroll
      for (int i = 0; i < 16; ++i)
        o[4 * (i / 2) + 2 * h + i % 2] *= shrink;
    }
    waitParity(shared(&b.full[s][1]), parity);
    wgmmaFence();
#pragma unroll
    for (int j = 0; j < 8; ++j)
      multiplyValues(o, p + 4 * j, descriptor(at + kTile + j * 2048));
    wgmmaFinish();
    if (t == 0)
      arrive(shared(&b.empty[s][1]));
  }
  float inverse[2] = {1 / quadSum(l[0]), 1 / quadSum(l[1])};
  int row = t / 32 * 16 + t % 16;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    uint32_t w[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      __half2 both = __floats2half2_rn(o[8 * j + 2 * i] * inverse[i % 2],
                                       o[8 * j + 2 * i + 1] * inverse[i % 2]);
      w[i] = *reinterpret_cast<uint32_t *>(&both);
    }
    int chunk = 2 * j + t % 32 / 16;
    asm volatile(
        "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(
            shared(mine + row * 128 + (chunk ^ row % 8) * 16)),
        "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3])
        : "memory");
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  asm volatile("bar.sync %0, 128;" ::"r"(3 + group) : "memory");
  if (t == 0) {
    storeBox(&out, blockIdx.x * 128 + group * 64, shared(mine));
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}
