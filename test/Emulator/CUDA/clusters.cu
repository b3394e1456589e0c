//===- clusters.cu - blocks that share their memory ---*- CUDA -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Distributed shared memory, the barrier of a cluster, ranks; sm_90 on.
//
//===----------------------------------------------------------------------===//
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

/// Every block reads the numbers of the next one in its cluster.
extern "C" __global__ void __cluster_dims__(4, 1, 1)
    rotate_blocks(const int *in, int *out) {
  __shared__ int own[64];
  cg::cluster_group cluster = cg::this_cluster();
  own[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
  cluster.sync();
  unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
  int *other = cluster.map_shared_rank(own, next);
  int x = other[threadIdx.x];
  cluster.sync();
  out[blockIdx.x * 64 + threadIdx.x] = x;
}

/// A histogram whose bins are spread over the blocks of a cluster.
extern "C" __global__ void spread_histogram(const int *in, int n, int *bins,
                                            int perBlock) {
  extern __shared__ int mine[];
  cg::cluster_group cluster = cg::this_cluster();
  for (int i = threadIdx.x; i < perBlock; i += blockDim.x)
    mine[i] = 0;
  cluster.sync();
  int first = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = first; i < n; i += gridDim.x * blockDim.x) {
    int bin = in[i];
    int *there = cluster.map_shared_rank(mine, bin / perBlock);
    atomicAdd(there + bin % perBlock, 1);
  }
  cluster.sync();
  for (int i = threadIdx.x; i < perBlock; i += blockDim.x)
    atomicAdd(bins + cluster.block_rank() * perBlock + i, mine[i]);
}

/// Block 0 of each cluster adds up what the others leave with it.
extern "C" __global__ void __cluster_dims__(2, 1, 1)
    cluster_sum(const float *in, float *out) {
  __shared__ float part[2];
  cg::cluster_group cluster = cg::this_cluster();
  float x = in[blockIdx.x * 32 + threadIdx.x];
  cluster.sync(); // the other block has started
  for (int d = 16; d; d /= 2)
    x += __shfl_xor_sync(~0u, x, d);
  if (threadIdx.x == 0)
    *cluster.map_shared_rank(&part[cluster.block_rank()], 0) = x;
  cluster.barrier_wait(cluster.barrier_arrive());
  if (cluster.block_rank() == 0 && threadIdx.x == 0)
    out[blockIdx.x / 2] = part[0] + part[1];
}
