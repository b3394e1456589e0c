# ===- test_properties.py - no argument crashes the interpreter ----------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""Arguments drawn at random: right ones give the right numbers, others one of the
documented exceptions, and the process lives."""

import fa
import numpy as np
import oracle
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracle import BF16, random

BOUNDED = settings(
    max_examples=60,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 200),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(["top_left", "bottom_right", "bshd", "nan", "f16", "sm_90"]),
    st.tuples(st.integers(-3, 9), st.integers(-3, 9)),
    st.lists(st.integers(-3, 9), max_size=4),
    st.builds(
        lambda shape, kind: np.zeros(shape, kind),
        st.lists(st.integers(0, 4), max_size=5),
        st.sampled_from(["f2", "f4", "f8", "i4", "i8", "?", "c8", "O", "U3"]),
    ),
    st.sampled_from([object(), b"x", fa, {}, range(3)]),
)
# Not `out`, whose memory the test would have to give up; `device` costs devices.
NAMES = st.sampled_from(
    "q k v scale causal window prefix chunk softcap bias mask alibi_slopes sink "
    "q_offsets kv_offsets q_lengths kv_lengths segments page_table scales score "
    "visible dropout_p seed layout precision empty_row out_dtype return_lse out "
    "target device schedule".split()
)


@BOUNDED
@given(st.dictionaries(NAMES, ANYTHING, min_size=1, max_size=3))
def test_any_arguments(changes):
    arguments = {name: np.ones((1, 1, 3, 16), np.float16) for name in "qkv"}
    arguments.update(changes)
    try:
        result = fa.attention(**arguments)
    except (TypeError, ValueError, fa.DeviceError) as error:
        assert str(error)
    else:
        result = result[0] if isinstance(result, tuple) else result
        assert result.ndim == 4


@st.composite
def problems(draw):
    """Small right ones; few types and head dims, so that kernels are shared."""
    sizes = [draw(st.integers(1, 2)), draw(st.integers(1, 2))]
    group = draw(st.integers(1, 2))
    Sq, Sk = draw(st.integers(0, 20)), draw(st.integers(0, 40))
    B, Hkv = sizes
    dtype = draw(st.sampled_from([np.float16, BF16, np.float32]))
    seed = draw(st.integers(0, 99))
    q = random((B, Hkv * group, Sq, 16), dtype, seed)
    k = random((B, Hkv, Sk, 16), dtype, seed + 1)
    v = random((B, Hkv, Sk, 16), dtype, seed + 2)
    clauses = {}
    if draw(st.booleans()):
        clauses["causal"] = draw(st.sampled_from(["top_left", "bottom_right"]))
    if draw(st.booleans()):
        lengths = st.lists(st.integers(0, Sk), min_size=B, max_size=B)
        clauses["kv_lengths"] = draw(lengths)
    if draw(st.booleans()):
        clauses["mask"] = np.random.default_rng(seed).random((Sq, Sk)) < 0.7
    return q, k, v, clauses


@BOUNDED
@given(problems())
def test_right_arguments(problem):
    q, k, v, clauses = problem
    out, lse = fa.attention(q, k, v, return_lse=True, **clauses)
    expected, expected_lse = oracle.attention(q, k, v, **clauses)
    limits = fa.reference.attention(
        q, k, v, return_lse=True, return_bounds=True, **clauses
    )
    oracle.check_near(out, expected, limits[2])
    oracle.check_near(lse, expected_lse, limits[3])
