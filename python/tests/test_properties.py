# ===- test_properties.py - no argument crashes the interpreter ----------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""Arguments drawn at random: right ones give the right numbers, others one of the
documented exceptions, and the process lives. All but the last need no compiler: they
also run on a library that was built without one and with sanitizers."""

from pathlib import Path

import fa
import numpy as np
import oracle
import pytest
from fa._devices import facts
from fa._errors import check, new_error
from fa._library import encoded, ffi, lib
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
SEMANTIC = (
    "q k v scale causal window prefix chunk softcap bias mask alibi_slopes sink "
    "q_offsets kv_offsets q_lengths kv_lengths segments page_table scales score "
    "visible dropout_p seed layout precision empty_row out_dtype return_lse"
).split()
NAMES = st.sampled_from([*SEMANTIC, "out", "target", "device", "schedule"])
REFUSALS = (TypeError, ValueError, fa.DeviceError)


@BOUNDED
@given(st.dictionaries(NAMES, ANYTHING, min_size=1, max_size=3))
def test_any_arguments(changes):
    arguments = {name: np.ones((1, 1, 3, 16), np.float16) for name in "qkv"}
    arguments.update(changes)
    try:
        result = fa.attention(**arguments)
    except REFUSALS as error:
        assert str(error)
    else:
        result = result[0] if isinstance(result, tuple) else result
        assert result.ndim == 4


@BOUNDED
@given(st.dictionaries(st.sampled_from(SEMANTIC), ANYTHING, min_size=1, max_size=3))
def test_any_arguments_of_the_oracle(changes):
    arguments = {name: np.ones((1, 1, 3, 16), np.float16) for name in "qkv"}
    arguments.update(changes)
    try:
        result = fa.reference.attention(**arguments)
    except REFUSALS as error:
        assert str(error)
    else:
        result = result[0] if isinstance(result, tuple) else result
        assert result.dtype == np.float64 and result.shape[-1] == 16


@pytest.fixture(scope="module")
def one_key():
    """A kernel of one key, from a package."""
    inputs = Path(__file__).parents[2] / "test" / "Runner" / "Inputs"
    place, error = ffi.new("fa_kernel **"), new_error()
    path = encoded(str(inputs / "one-key.fapkg"), "path")
    check(lib.fa_kernel_load(path, place, error), error)
    return fa.Kernel(place[0])


@st.composite
def queries(draw):
    """float16 [1, 1, Sq, 1] in memory of any make."""
    length, step = draw(st.integers(1, 40)), draw(st.sampled_from([-3, -1, 0, 1, 2]))
    memory = random((1, 1, 240, 1), np.float16, draw(st.integers(0, 9)))
    start = memory[:, :, 120:]  # with room for 40 steps either way
    strides = (0, 0, step * memory.itemsize, memory.itemsize)
    return np.lib.stride_tricks.as_strided(start, (1, 1, length, 1), strides)


@BOUNDED
@given(queries(), st.sampled_from([1, -1, 2]))
def test_right_arrays_of_a_kernel(one_key, query, step):
    length = query.shape[2]
    key, value = np.array([0.75, -2.5], np.float16).reshape(2, 1, 1, 1, 1)
    whole = np.full((1, 1, 100, 1), 7, np.float16)
    out = whole[:, :, ::step][:, :, :length]
    lse = np.empty((1, 1, length), np.float32)
    one_key.run(query, key, value, out=(out, lse))
    assert (out == -2.5).all() and (whole == 7).sum() == whole.size - length
    oracle.check_near(lse, 0.375 * query[..., 0].astype(np.float64), 1e-5)


@BOUNDED
@given(st.lists(ANYTHING, max_size=4), st.booleans())
def test_any_arrays_of_a_kernel(one_key, arrays, completes):
    key = np.ones((1, 1, 1, 1), np.float16)
    if completes:
        arrays = [*arrays, key, key, key][:3]
    try:
        out, lse = one_key.run(*arrays)
    except REFUSALS as error:
        assert str(error)
    else:
        assert out.shape[:3] == lse.shape


OPTIONS = st.dictionaries(
    st.sampled_from(["entry", "device", "options", "check", "trace_row", "counters"]),
    st.one_of(
        ANYTHING,
        st.lists(
            st.sampled_from(
                ["sanitize=all", "threads=2", "order=reverse", "threads", "", "=", "--"]
            ),
            max_size=3,
        ),
    ),
    max_size=3,
)


@BOUNDED
@given(OPTIONS)
def test_any_options_of_a_run(one_key, options):
    key = np.ones((1, 1, 1, 1), np.float16)
    try:
        out, _ = one_key.run(key, key, key, **options)
    except REFUSALS as error:
        assert str(error)
    else:
        assert (out == 1).all()


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


@pytest.mark.skipif(not facts()["targets"], reason="built without a compiler")
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
