//===- warps.cu - shuffles, votes, cooperative groups ---*- CUDA -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lanes together: every shuffle with widths, votes, matches, groups of
// cooperative_groups.
//
//===----------------------------------------------------------------------===//
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

extern "C" __global__ void shuffles(const int *in, int *out) {
  int x = in[threadIdx.x], *o = out + threadIdx.x;
  o[0] = __shfl_sync(~0u, x, 5);
  o[32] = __shfl_sync(~0u, x, threadIdx.x / 2, 8);
  o[64] = __shfl_up_sync(~0u, x, 3, 16);
  o[96] = __shfl_down_sync(~0u, x, 2, 4);
  o[128] = __shfl_xor_sync(~0u, x, 9);
  double d = __shfl_xor_sync(~0u, x * 0.5, 1);
  o[160] = int(d * 2);
  o[192] = int(__shfl_down_sync(~0u, (long long)x << 33, 1) >> 33);
}

extern "C" __global__ void votes(const int *in, unsigned *out) {
  int x = in[threadIdx.x];
  unsigned *o = out + threadIdx.x;
  o[0] = __ballot_sync(~0u, x & 1);
  o[32] = __all_sync(~0u, x > -100) * 2 + __any_sync(~0u, x > 1000);
  o[64] = __match_any_sync(~0u, x & 3);
  int same;
  o[96] = __match_all_sync(~0u, x >> 20, &same) * 2 + same;
  // Half a warp apart from the other.
  if (threadIdx.x < 16)
    o[128] = __ballot_sync(0xFFFF, x & 2);
  else
    o[128] = __activemask() != 0;
  __syncwarp();
  o[160] = __match_any_sync(~0u, (unsigned long long)(x & 1) << 40);
}

extern "C" __global__ void tiles(const int *in, int *out) {
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<8>(block);
  int x = in[block.thread_rank()];
  int sum = cg::reduce(tile, x, cg::plus<int>());
  int most = cg::reduce(tile, x, cg::greater<int>());
  int before = cg::exclusive_scan(tile, x);
  int first = tile.shfl(x, 0), rank = tile.thread_rank(),
      group = tile.meta_group_rank();
  auto pair = cg::tiled_partition<2>(tile);
  int other = pair.shfl_xor(x, 1);
  int *o = out + block.thread_rank();
  int n = block.size();
  o[0] = sum;
  o[n] = most;
  o[2 * n] = before;
  o[3 * n] = first * 3 + rank;
  o[4 * n] = group + (tile.any(x > 40) ? 1000 : 0);
  o[5 * n] = other;
  block.sync();
}

extern "C" __global__ void coalesced(const int *in, int *out) {
  int x = in[threadIdx.x];
  out[threadIdx.x] = -1;
  if (x % 3 == 0) {
    cg::coalesced_group g = cg::coalesced_threads();
    int rank = g.thread_rank(), last = g.shfl(x, g.size() - 1);
    out[threadIdx.x] = rank * 1000 + g.size() * 10000 + last;
  }
  cg::coalesced_group all = cg::coalesced_threads();
  auto alike = cg::labeled_partition(all, x % 4);
  out[32 + threadIdx.x] = cg::reduce(alike, x, cg::plus<int>());
  auto two = cg::binary_partition(all, x % 2 == 0);
  out[64 + threadIdx.x] = two.size() * 100 + two.thread_rank();
}
