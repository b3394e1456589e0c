# ===- kernels.py - kernels in Triton --------------------------------------===#
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------===#
"""A product and an attention forward pass, compiled by Triton (compile.py)."""

import triton
import triton.language as tl


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """C (f32) = A (M x K) B (K x N), all row by row; any extents."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        inside = depth + k < K
        x = tl.load(
            a + rows[:, None] * K + (depth + k)[None, :],
            mask=(rows < M)[:, None] & inside[None, :],
            other=0.0,
        )
        y = tl.load(
            b + (depth + k)[:, None] * N + columns[None, :],
            mask=inside[:, None] & (columns < N)[None, :],
            other=0.0,
        )
        sums = tl.dot(x, y, sums)
    where = c + rows[:, None] * N + columns[None, :]
    tl.store(where, sums, mask=(rows < M)[:, None] & (columns < N)[None, :])


@triton.jit
def attention(
    q, k, v, out, lse, S, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr
):
    """One head a program row: q, k, v and out are [heads, S, D]."""
    start = tl.program_id(0) * BM
    base = tl.program_id(1) * S * D
    rows = start + tl.arange(0, BM)
    dims = tl.arange(0, D)
    keys = tl.arange(0, BN)
    x = tl.load(
        q + base + rows[:, None] * D + dims[None, :],
        mask=(rows < S)[:, None],
        other=0.0,
    )
    most = tl.full((BM,), float("-inf"), dtype=tl.float32)
    total = tl.zeros((BM,), dtype=tl.float32)
    sums = tl.zeros((BM, D), dtype=tl.float32)
    for j in range(0, tl.minimum(start + BM, S), BN):
        at = j + keys
        y = tl.load(
            k + base + at[None, :] * D + dims[:, None],
            mask=(at < S)[None, :],
            other=0.0,
        )
        scores = tl.dot(x, y) * (scale * 1.4426950408889634)
        scores = tl.where(rows[:, None] >= at[None, :], scores, float("-inf"))
        new = tl.maximum(most, tl.max(scores, 1))
        p = tl.exp2(scores - new[:, None])
        keep = tl.exp2(most - new)
        total = total * keep + tl.sum(p, 1)
        z = tl.load(
            v + base + at[:, None] * D + dims[None, :],
            mask=(at < S)[:, None],
            other=0.0,
        )
        sums = tl.dot(p.to(tl.float16), z, sums * keep[:, None])
        most = new
    tl.store(
        out + base + rows[:, None] * D + dims[None, :],
        (sums / total[:, None]).to(tl.float16),
        mask=(rows < S)[:, None],
    )
    tl.store(lse + tl.program_id(1) * S + rows, most + tl.log2(total), mask=rows < S)
