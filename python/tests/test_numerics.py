# ===- test_numerics.py - every clause beside the definition -------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
import fa
import numpy as np
import oracle
import pytest
from oracle import BF16, random

# name: shapes (B, Hq, Hkv, Sq, Sk, D, Dv), type, clauses; why it is here
CASES = {
    "plain": ((1, 2, 2, 40, 70, 64, 64), np.float16, {}),
    "bf16": ((1, 2, 1, 33, 65, 32, 32), BF16, {}),
    "f32": ((2, 2, 1, 17, 35, 32, 32), np.float32, {}),
    "one of each": ((1, 1, 1, 1, 1, 16, 16), np.float32, {}),
    "odd head dims": ((1, 2, 2, 9, 20, 3, 5), np.float32, {}),
    "head dim 1": ((1, 1, 1, 5, 7, 1, 1), np.float16, {}),
    "head dim 128": ((1, 1, 1, 20, 40, 128, 128), np.float16, {}),
    "values narrower": ((1, 2, 1, 20, 40, 64, 24), np.float16, {}),
    "scale": ((1, 1, 1, 20, 40, 32, 32), np.float16, {"scale": 0.5}),
    "scale 0": ((1, 1, 1, 20, 40, 32, 32), np.float16, {"scale": 0.0}),
    "scale negative": ((1, 1, 1, 20, 40, 32, 32), np.float16, {"scale": -0.25}),
    "top left": ((1, 2, 1, 20, 40, 32, 32), np.float16, {"causal": "top_left"}),
    "bottom right": ((1, 2, 1, 20, 40, 32, 32), np.float16, {"causal": "bottom_right"}),
    "causal": ((1, 2, 1, 40, 40, 32, 32), np.float32, {"causal": True}),
    # The first queries see no key.
    "more queries": ((1, 1, 1, 40, 20, 16, 16), np.float16, {"causal": "bottom_right"}),
    "empty rows nan": (
        (1, 1, 1, 40, 20, 16, 16),
        np.float16,
        {"causal": "bottom_right", "empty_row": "nan"},
    ),
    "window": ((1, 1, 1, 40, 60, 16, 16), np.float16, {"window": (7, 3)}),
    "window left open": (
        (1, 1, 1, 40, 60, 16, 16),
        np.float16,
        {"window": (-1, 0), "causal": "top_left"},
    ),
    "prefix": (
        (1, 1, 1, 40, 40, 16, 16),
        np.float16,
        {"causal": True, "prefix": 9},
    ),
    "chunk": ((1, 1, 1, 40, 60, 16, 16), np.float16, {"chunk": 16}),
    "chunk top left": (
        (1, 1, 1, 40, 60, 16, 16),
        np.float16,
        {"chunk": 16, "causal": "top_left"},
    ),
    "all masks": (
        (2, 2, 1, 50, 70, 16, 16),
        np.float16,
        {"causal": "bottom_right", "window": (20, -1), "chunk": 32, "prefix": 4},
    ),
    "lengths": (
        (3, 2, 1, 20, 40, 16, 16),
        np.float16,
        {"q_lengths": [20, 7, 0], "kv_lengths": [40, 0, 13]},
    ),
    "lengths causal": (
        (2, 1, 1, 20, 40, 16, 16),
        np.float16,
        {"kv_lengths": [31, 5], "causal": "bottom_right"},
    ),
    "bshd": ((2, 4, 2, 20, 40, 16, 16), np.float16, {"layout": "bshd"}),
    "no keys": ((1, 2, 1, 5, 0, 16, 16), np.float16, {}),
    "no queries": ((1, 2, 1, 0, 5, 16, 16), np.float16, {}),
    "no batch": ((0, 2, 1, 5, 5, 16, 16), np.float16, {}),
}


def arrays(sizes, dtype, layout="bhsd"):
    B, Hq, Hkv, Sq, Sk, D, Dv = sizes
    shapes = [(B, Hq, Sq, D), (B, Hkv, Sk, D), (B, Hkv, Sk, Dv)]
    made = [random(shape, dtype, seed=n) for n, shape in enumerate(shapes)]
    if layout == "bshd":
        made = [np.ascontiguousarray(x.swapaxes(1, 2)) for x in made]
    return made


def check(q, k, v, clauses, **more):
    """fa.attention beside the definition, by the one rule for how near is right;
    the oracle, which gives that rule, must agree with the definition too."""
    out, lse = fa.attention(q, k, v, return_lse=True, **clauses, **more)
    expected, expected_lse = oracle.attention(q, k, v, **clauses)
    dtype = more.get("out_dtype")
    reference = fa.reference.attention(
        q, k, v, return_lse=True, return_bounds=True, out_dtype=dtype, **clauses
    )
    oracle.check_near(reference[0], expected, 1e-9 * (1 + np.abs(expected)))
    oracle.check_near(reference[1], expected_lse, 1e-9 * (1 + np.abs(expected_lse)))
    oracle.check_near(out, expected, reference[2])
    oracle.check_near(lse, expected_lse, reference[3])
    return out, lse


@pytest.mark.parametrize("name", CASES)
def test_case(name):
    sizes, dtype, clauses = CASES[name]
    q, k, v = arrays(sizes, dtype, clauses.get("layout", "bhsd"))
    out, lse = check(q, k, v, clauses)
    assert out.dtype == q.dtype and lse.dtype == np.float32


@pytest.mark.parametrize(
    "shape",
    [(45,), (20, 45), (2, 20, 45), (3, 2, 20, 45), (1, 1, 20, 45), (3, 1, 1, 45), (1,)],
)
def test_mask(shape):
    q, k, v = arrays((3, 2, 1, 20, 45, 16, 16), np.float16)
    mask = np.random.default_rng(7).random(shape) < 0.6
    check(q, k, v, {"mask": mask})


def test_mask_hides_nan():
    """What nobody sees may be anything."""
    q, k, v = arrays((1, 1, 1, 8, 20, 16, 16), np.float16)
    mask = np.ones(20, bool)
    mask[11] = False
    expected = fa.attention(q, k, v, mask=mask)
    k[:, :, 11] = np.nan
    assert np.array_equal(fa.attention(q, k, v, mask=mask), expected)


@pytest.mark.parametrize("dtype", [np.float16, BF16, np.float32])
@pytest.mark.parametrize("out", ["float16", "bfloat16", "float32"])
def test_out_dtype(dtype, out):
    q, k, v = arrays((1, 1, 1, 20, 30, 16, 16), dtype)
    result, _ = check(q, k, v, {}, out_dtype=out)
    assert result.dtype.name == out


def test_lengths_come_in_any_integers():
    q, k, v = arrays((2, 1, 1, 9, 30, 16, 16), np.float16)
    expected = fa.attention(q, k, v, kv_lengths=np.array([5, 30], np.int32))
    for lengths in ([5, 30], (5, 30), np.array([5, 30]), np.array([5, 30], np.uint8)):
        assert np.array_equal(fa.attention(q, k, v, kv_lengths=lengths), expected)


def test_scale_as_an_operand():
    q, k, v = arrays((1, 1, 1, 20, 40, 32, 32), np.float16)
    before = None
    for value in (0.25, 0.5, -0.125, 0.0):
        scale = np.asarray(value, np.float32)  # 0-d
        out, lse = fa.attention(q, k, v, scale=scale, return_lse=True)
        expected, expected_lse = oracle.attention(q, k, v, scale=value)
        limits = fa.reference.attention(
            q, k, v, scale=scale, return_lse=True, return_bounds=True
        )
        oracle.check_near(out, expected, limits[2])
        oracle.check_near(lse, expected_lse, limits[3])
        # A number at run time compiles nothing.
        assert before in (None, fa.compile_count())
        before = fa.compile_count()


def test_targets_and_schedules():
    q, k, v = arrays((1, 1, 1, 40, 90, 32, 32), np.float16)
    for target in ("sm_80", "sm_90"):
        for schedule in (None, "tile_q=64,tile_kv=32,stages=3"):
            check(q, k, v, {"causal": "top_left"}, target=target, schedule=schedule)


@pytest.mark.parametrize("layout", ["bhsd", "bshd"])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_merge(layout, dtype):
    """Attention over parts of the keys, merged, is attention over all."""
    q, k, v = arrays((2, 2, 1, 9, 60, 16, 16), dtype, layout)
    axis = 1 if layout == "bshd" else 2
    parts = []
    for begin, end in ((0, 13), (13, 13), (13, 60)):
        keys = [x.take(np.arange(begin, end), axis) for x in (k, v)]
        parts.append(fa.attention(q, *keys, layout=layout, return_lse=True))
    out, lse = fa.merge(parts, layout=layout)
    expected, expected_lse = oracle.attention(q, k, v, layout=layout)
    limits = fa.reference.attention(
        q, k, v, layout=layout, return_lse=True, return_bounds=True
    )
    assert out.dtype == dtype and lse.dtype == np.float32
    # The parts were rounded, and the sum is once more.
    oracle.check_near(out, expected, 2 * limits[2])
    oracle.check_near(lse, expected_lse, 2 * limits[3])


def test_merge_of_nothing():
    out, lse = np.zeros((1, 1, 2, 4), np.float16), np.full((1, 1, 2), -np.inf)
    out[0, 0, 1], lse[0, 0, 1] = np.nan, 0
    empty = np.full_like(out, np.nan), np.full((1, 1, 2), -np.inf, np.float32)
    merged, merged_lse = fa.merge([(out, lse.astype(np.float32)), empty])
    assert (merged[0, 0, 0] == 0).all() and np.isneginf(merged_lse[0, 0, 0])
    assert np.isnan(merged[0, 0, 1]).all() and merged_lse[0, 0, 1] == 0
