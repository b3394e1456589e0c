# ===- test_math.py - functions of symbols become regions ----------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""A region here is right when the compiler takes it and a kernel of it runs."""

import math

import fa
import numpy as np
import pytest
from fa.math import trace_region

Q = np.zeros((1, 1, 4, 16), np.float16)


def accept(name, function):
    """The text that a function gives, once a kernel of it has run."""
    fa.attention(Q, Q, Q, **{name: function})
    return trace_region(function, name)


SCORES = {
    "identity": lambda s, b, h, i, j: s,
    "constant": lambda s, b, h, i, j: 1,
    "softcap": lambda s, b, h, i, j: 30 * fa.math.tanh(s / 30),
    "alibi": lambda s, b, h, i, j: s - 0.5 * fa.math.abs(i - j),
    "functions": lambda s, b, h, i, j: (
        fa.math.exp(s) + fa.math.log(abs(s)) + fa.math.sqrt(s) + fa.math.floor(s)
    ),
    "extremes": lambda s, b, h, i, j: (
        fa.math.minimum(s, 3) + fa.math.maximum(i, j) + fa.math.minimum(4, h)
    ),
    "integers": lambda s, b, h, i, j: s + (i + 1) * 2 // (j - 7) % 5 - -b,
    "reversed": lambda s, b, h, i, j: 1 - (2 / (s + 3)) + 7 // (i + 1) + 9 % (j + 1),
    "division": lambda s, b, h, i, j: s + i / (j + 1) + s // 2 + s % 3,
    "where": lambda s, b, h, i, j: fa.math.where((i > j) | (h == 0), s, -1e30),
    "numpy": lambda s, b, h, i, j: np.float32(2) * s + np.int64(3),
    "infinity": lambda s, b, h, i, j: fa.math.where(i < j, -math.inf, s),
}
VISIBLE = {
    "causal": lambda b, h, i, j: i >= j,
    "constant": lambda b, h, i, j: True,
    "logic": lambda b, h, i, j: ~((i < j) & (h != 1)) | (b <= 0) ^ (i == j),
    "selected": lambda b, h, i, j: fa.math.where(h < 2, i >= j, i > j),
}


@pytest.mark.parametrize("name", SCORES)
def test_score(name):
    text = accept("score", SCORES[name])
    assert text.startswith("{\n^bb0(%s: f32, %b: index,") and "fa.yield" in text


@pytest.mark.parametrize("name", VISIBLE)
def test_visible(name):
    assert ": i1\n}" in accept("visible", VISIBLE[name])


def test_text_of_a_region():
    text = trace_region(lambda s, b, h, i, j: s * 2 + i, "score")
    assert text == (
        "{\n^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):\n"
        "  %v0 = arith.constant 2 : index\n"
        "  %v1 = arith.index_cast %v0 : index to i64\n"
        "  %v2 = arith.sitofp %v1 : i64 to f32\n"
        "  %v3 = arith.mulf %s, %v2 : f32\n"
        "  %v4 = arith.index_cast %i : index to i64\n"
        "  %v5 = arith.sitofp %v4 : i64 to f32\n"
        "  %v6 = arith.addf %v3, %v5 : f32\n"
        "  fa.yield %v6 : f32\n}"
    )


def test_plain_numbers_stay_plain():
    assert fa.math.exp(0.0) == 1 and fa.math.abs(-3) == 3
    assert fa.math.minimum(2, 3) == 2 and fa.math.where(True, 4, 5) == 4


MISTAKES = [
    ("score", lambda s, b, h, i, j: s if i > j else 0, "use fa.math.where"),
    ("score", lambda s, b, h, i, j: s + (i > j), "truth value is no number"),
    ("score", lambda s, b, h, i, j: s + "x", "a str cannot be part of a region"),
    ("score", lambda s, b, h, i, j: None, "a NoneType cannot be part"),
    ("visible", lambda b, h, i, j: i - j, "visible gives a number; accepted is"),
    ("visible", lambda b, h, i, j: i & j, "join truth values"),
    ("score", lambda s, b, h, i, j: fa.math.where(s, 1, 2), "not a truth value"),
    ("score", lambda s: s, "positional argument"),
]


@pytest.mark.parametrize("number", range(len(MISTAKES)))
def test_mistake(number):
    name, function, words = MISTAKES[number]
    with pytest.raises(TypeError, match=words):
        fa.attention(Q, Q, Q, **{name: function})
