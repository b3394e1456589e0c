# ===- test_semantics.py - the examples of docs/Semantics.md -------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
#
# Each number that the page gives, from a kernel and from the oracle.
import math

import fa
import numpy as np
import pytest

BOTH = pytest.mark.parametrize("attention", [fa.attention, fa.reference.attention])


def column(*numbers):
    """Rows of one head, of one element each."""
    return np.array(numbers, np.float32).reshape(1, 1, -1, 1)


@BOTH
@pytest.mark.parametrize(
    "x, clauses, expected",
    [
        (6, {"scale": 0.5}, 3),
        (4, {"softcap": 2.0}, 2 * math.tanh(2)),
        (4, {"score": lambda s, b, h, i, j: s * 0.5}, 2),
        (4, {"bias": np.full((1, 1), 0.25, np.float32)}, 4.25),
    ],
    ids=["scale", "softcap", "score", "bias"],
)
def test_score(attention, x, clauses, expected):
    # The log-sum-exp of one key is its score.
    q, k = column(x / 2), column(2)
    _, lse = attention(q, k, k, return_lse=True, **{"scale": 1.0} | clauses)
    assert lse.item() == pytest.approx(expected, rel=1e-6)


@BOTH
def test_alibi(attention):
    # Row 3 sees key 1 alone, at a score of 5.
    only = np.arange(4) == 1
    q, k = column(1, 1, 1, 1), column(0, 5, 0, 0)
    _, lse = attention(
        q,
        k,
        k,
        scale=1.0,
        alibi_slopes=np.array([0.5], np.float32),
        mask=np.broadcast_to(only, (4, 4)).copy(),
        return_lse=True,
    )
    assert lse[0, 0, 3] == pytest.approx(4, rel=1e-6)


@BOTH
@pytest.mark.parametrize(
    "clauses, seen",
    [
        ({"causal": "top_left"}, [0, 1, 2]),
        ({"window": (1, 0)}, [1, 2]),
        ({"chunk": 2}, [2, 3]),
        ({"visible": lambda b, h, i, j: i >= j}, [0, 1, 2]),
        (
            {"segments": (np.array([[0, 0, 1, 1]]), np.array([[0, 1, 1, 0]]))},
            [1, 2],
        ),
        ({"kv_lengths": np.array([2])}, [0, 1]),
    ],
    ids=["causal", "window", "chunk", "visible", "segments", "lengths"],
)
def test_keys_that_row_2_sees(attention, clauses, seen):
    q, v = np.ones((1, 1, 4, 4), np.float32), np.eye(4, dtype=np.float32)
    out = attention(q, q, v.reshape(1, 1, 4, 4), scale=0.0, **clauses)
    assert list(np.flatnonzero(out[0, 0, 2])) == seen


@BOTH
def test_dropout(attention):
    # 6627e8d5 of 2^32.
    one = column(1)
    assert attention(one, one, one, dropout_p=0.39904, seed=0).item() > 1
    assert attention(one, one, one, dropout_p=0.39905, seed=0).item() == 0
