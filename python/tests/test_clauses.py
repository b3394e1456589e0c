# ===- test_clauses.py - clauses that the compiler learns one after another -=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""Each is right, or refused with the compiler's word for it and the argument's
name; left out in silence is neither. `REFUSED` says which, so that a clause that
works cannot become one that is refused, and one that is learnt leaves the list."""

import fa
import ml_dtypes
import numpy as np
import oracle
import pytest
from oracle import random

FP8 = ml_dtypes.float8_e4m3fn


def rows(*shape):
    return random(shape, np.float32, seed=5)


def causal_later(b, h, i, j):
    return (i >= j) | (h == 1)


def halved(s, b, h, i, j):
    return s * 0.5 - (i - j) / 8


SEGMENTS = np.arange(8)[None] // 3, np.arange(12)[None] // 4
CLAUSES = {
    "softcap": {"softcap": 1.5},
    "bias": {"bias": rows(4, 8, 12).astype(np.float16)},
    "alibi_slopes": {"alibi_slopes": rows(4)},
    "sink": {"sink": rows(4)},
    "segments": {"segments": SEGMENTS},
    "score": {"score": halved},
    "visible": {"visible": causal_later},
    "empty_row": {
        "empty_row": "uniform",
        "mask": np.arange(8)[:, None] > np.zeros(12),
    },
}
REFUSED = {
    *("q_offsets", "page_table", "precision", "q"),
}
COMBINED = {
    "softcap": {"softcap": 1.5, "causal": "bottom_right", "kv_lengths": [9]},
    "bias": {"bias": rows(8, 12).astype(np.float16), "mask": np.arange(12) % 3 > 0},
    "alibi_slopes": {"alibi_slopes": rows(4), "causal": "top_left"},
    "sink": {"sink": rows(4), "kv_lengths": [0]},
    "segments": {"segments": SEGMENTS, "causal": "bottom_right"},
}


def arrays(dtype=np.float16):
    shapes = [(1, 4, 8, 16), (1, 2, 12, 16), (1, 2, 12, 16)]
    return [random(shape, dtype, n) for n, shape in enumerate(shapes)]


def check_refused(argument, arguments):
    with pytest.raises(ValueError, match="not supported yet") as error:
        fa.attention(**arguments)
    assert str(error.value).startswith(f"{argument}: ")


@pytest.mark.parametrize("table", [CLAUSES, COMBINED], ids=["alone", "combined"])
@pytest.mark.parametrize("argument", CLAUSES)
def test_right_or_refused(table, argument):
    if argument not in table:
        pytest.skip("alone only")
    clauses = table[argument]
    q, k, v = arrays()
    if argument in REFUSED:
        return check_refused(argument, {"q": q, "k": k, "v": v, **clauses})
    out, lse = fa.attention(q, k, v, return_lse=True, **clauses)
    expected, expected_lse = oracle.attention(q, k, v, **clauses)
    plain, _ = oracle.attention(q, k, v)
    assert abs(expected - plain).max() > 0.01  # the clause matters
    limits = fa.reference.attention(
        q, k, v, return_lse=True, return_bounds=True, **clauses
    )
    oracle.check_near(out, expected, limits[2])
    oracle.check_near(lse, expected_lse, limits[3])


def packed():
    shapes = [(8, 4, 16), (12, 2, 16), (12, 2, 16)]
    q, k, v = (random(shape, np.float16, n) for n, shape in enumerate(shapes))
    return {"q": q, "k": k, "v": v, "q_offsets": [0, 3, 8], "kv_offsets": [0, 6, 12]}


def paged():
    pages = random((3, 2, 16, 16), np.float16)
    return {"k": pages, "v": pages, "page_table": [[2, 0]], "kv_lengths": [20]}


FORMS = {
    "q_offsets": packed(),
    "page_table": paged(),
    "dropout_p": {"dropout_p": 0.1, "seed": 3},
    "precision": {**dict(zip("qkv", arrays(np.float32))), "precision": "tf32"},
    "q": dict(zip("qkv", arrays(FP8))),
}


@pytest.mark.parametrize("argument", FORMS)
def test_form_is_right_or_refused(argument):
    arguments = {**dict(zip("qkv", arrays())), **FORMS[argument]}
    if argument in REFUSED:
        return check_refused(argument, arguments)
    out = fa.attention(**arguments)
    expected, bound = fa.reference.attention(**arguments, return_bounds=True)
    oracle.check_near(out, expected, bound)


def test_the_oracle_knows_regions():
    q, k, v = arrays()
    clauses = {"score": halved, "visible": causal_later, "kv_lengths": [9]}
    out = fa.reference.attention(q, k, v, **clauses)
    expected, _ = oracle.attention(q, k, v, **clauses)
    np.testing.assert_allclose(out, expected, atol=1e-6)
