# ===- test_plans.py - calls that are like one before ---------------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""Such a call is not looked at again, so what would be found must not differ."""

import fa
import numpy as np
import pytest
from fa import _arguments, _plans
from oracle import random


@pytest.fixture
def qkv():
    shapes = [(1, 4, 8, 16), (1, 2, 12, 16), (1, 2, 12, 16)]
    return [random(shape, np.float16, n) for n, shape in enumerate(shapes)]


@pytest.fixture
def looks(monkeypatch):
    """How often arguments were looked at."""
    read, seen = _arguments.read, []

    def counting(*args, **kwargs):
        seen.append(1)
        return read(*args, **kwargs)

    monkeypatch.setattr(_arguments, "read", counting)
    monkeypatch.setattr(_plans, "_plans", {})
    return seen


LIKE = {
    "plain": {},
    "lse": {"return_lse": True},
    "scale": {"scale": 0.25},
    "masks": {"causal": "top_left", "window": (3, -1), "prefix": 2},
    "mask": {"mask": np.arange(12) % 3 > 0},
    "bias": {"bias": random((4, 8, 12), np.float32)},
    "alibi": {"alibi_slopes": random((4,), np.float32)},
    "sink": {"sink": random((4,), np.float32)},
    "lengths": {
        "q_lengths": np.array([5], np.int32),
        "kv_lengths": np.array([7], np.int32),
    },
    "words": {"empty_row": "nan", "out_dtype": "float32", "device": "emulator"},
    "texts": {"visible": "{ ^bb0(%b: index, %h: index, %i: index, %j: index):\n"
              "  %v = arith.cmpi sge, %i, %j : index\n  fa.yield %v : i1 }"},
}  # fmt: skip


@pytest.mark.parametrize("name", LIKE)
def test_the_second_is_not_looked_at(qkv, looks, name):
    clauses = LIKE[name]
    first = fa.attention(*qkv, **clauses)
    other = [random(array.shape, array.dtype, n + 9) for n, array in enumerate(qkv)]
    made = fa.attention(*other, **clauses)
    assert len(looks) == 1
    # It has the numbers of its own arrays, in arrays of its own.
    limits = fa.reference.attention(*other, return_bounds=True, **without(clauses))
    found = made[0] if clauses.get("return_lse") else made
    assert (abs(found - limits[0]) <= limits[1])[np.isfinite(limits[0])].all()
    again = fa.attention(*qkv, **clauses)
    pairs = zip(first, again) if isinstance(first, tuple) else [(first, again)]
    for one, two in pairs:
        assert one is not two and np.array_equal(one, two, equal_nan=True)


def without(clauses):
    """Those that say what is computed."""
    return {k: v for k, v in clauses.items() if k not in ("device", "return_lse")}


def test_out(qkv, looks):
    out = np.empty((1, 4, 8, 16), np.float16)
    for _ in range(3):
        assert fa.attention(*qkv, out=out) is out
    assert len(looks) == 1
    assert np.array_equal(out, fa.attention(*qkv))
    locked = out.copy()
    locked.flags.writeable = False
    with pytest.raises(ValueError, match="out is read-only"):
        fa.attention(*qkv, out=locked)
    wide = np.ones((1, 4, 8, 16), np.float16)
    for _ in range(2):
        fa.attention(wide, wide, wide, out=out)
    with pytest.raises(ValueError, match="the result out overlaps query"):
        fa.attention(wide, wide, wide, out=wide)
    assert (wide == 1).all()


UNLIKE = {
    "shape": ({}, lambda q, k, v: ((q[:, :, :5], k, v), {})),
    "strides": ({}, lambda q, k, v: ((q[:, :, ::-1], k, v), {})),
    "type": ({}, lambda *qkv: ([x.astype(np.float32) for x in qkv], {})),
    "byte order": ({}, lambda *qkv: ([x.astype(">f2") for x in qkv], {})),
    "numpy's bool": ({"causal": False}, lambda *qkv: (qkv, {"causal": np.False_})),
    "lengths of a list": (
        {"kv_lengths": np.array([7], np.int32)},
        lambda *qkv: (qkv, {"kv_lengths": [7]}),
    ),
    "lse": ({}, lambda *qkv: (qkv, {"return_lse": True})),
}


@pytest.mark.parametrize("name", UNLIKE)
def test_another_is_looked_at(qkv, looks, name):
    clauses, change = UNLIKE[name]
    fa.attention(*qkv, **clauses)
    arrays, changed = change(*qkv)
    fa.attention(*arrays, **{**clauses, **changed})
    assert len(looks) == 2


@pytest.mark.parametrize(
    ("right", "wrong", "error"),
    [
        ({"scale": 1.0}, {"scale": True}, TypeError),
        ({"causal": False}, {"causal": 0}, TypeError),
        ({"window": (1, 2)}, {"window": (1.0, 2)}, TypeError),
        ({"window": (1, 0)}, {"window": (True, False)}, TypeError),
        ({"chunk": 1}, {"chunk": True}, TypeError),
        ({"chunk": 1}, {"chunk": 1.0}, TypeError),
        ({"dropout_p": 0.0}, {"dropout_p": False}, TypeError),
        ({"seed": 1}, {"seed": 1.0}, TypeError),
    ],
)
def test_what_python_takes_for_equal(qkv, looks, right, wrong, error):
    fa.attention(*qkv, **right)
    with pytest.raises(error):
        fa.attention(*qkv, **wrong)
    assert len(looks) == 2


def test_values_that_may_change(qkv, looks):
    """Have no plan: arrays and functions that mean something else the next time."""
    factor = [2.0]

    def score(s, b, h, i, j):
        return s * factor[0]

    scale = np.array(0.5, np.float32)
    first = fa.attention(*qkv, score=score), fa.attention(*qkv, scale=scale)
    factor[0], scale[...] = 0.125, 0.125
    second = fa.attention(*qkv, score=score), fa.attention(*qkv, scale=scale)
    assert not any(np.array_equal(a, b) for a, b in zip(first, second))
    seeds = [fa.attention(*qkv, dropout_p=0.5, seed=n) for n in (1, 2)]
    assert not np.array_equal(*seeds)
    scale[...] = np.nan
    with pytest.raises(ValueError, match="scale is nan"):
        fa.attention(*qkv, scale=scale)


def test_a_failure_leaves_the_plan(qkv, looks, monkeypatch):
    """What a launch raises is raised, and the next call is as before."""
    expected = fa.attention(*qkv)
    (plan,) = _plans._plans.values()
    fa.attention(*qkv)
    (launch,) = plan.idle

    def fail(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(launch, "run", fail)
    with pytest.raises(KeyboardInterrupt):
        fa.attention(*qkv)
    assert plan.idle == []
    assert np.array_equal(fa.attention(*qkv), expected)
    assert len(looks) == 1


def test_plans_are_bounded(qkv, monkeypatch):
    monkeypatch.setattr(_plans, "CAPACITY", 3)
    before = len(_plans._plans)
    q, k, v = qkv
    for rows in range(1, 8):
        fa.attention(q[:, :, :rows], k, v, scale=0.125)
    assert len(_plans._plans) <= before + 3
