# ===- test_kernels.py - compiled once, from every thread ----------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
import threading

import fa
import numpy as np
import pytest
from oracle import random


def arrays(B=1, Hq=2, Hkv=1, Sq=9, Sk=20, D=24, dtype=np.float16):
    shapes = [(B, Hq, Sq, D), (B, Hkv, Sk, D), (B, Hkv, Sk, D)]
    return [random(shape, dtype, n) for n, shape in enumerate(shapes)]


def compiled_by(*args, **kwargs):
    before = fa.compile_count()
    fa.attention(*args, **kwargs)
    return fa.compile_count() - before


def test_other_extents_compile_nothing():
    clauses = {"causal": "bottom_right", "window": (5, -1)}
    assert compiled_by(*arrays(), **clauses) == 1
    for sizes in (
        {"Sq": 1, "Sk": 77},
        {"B": 3},
        {"Hq": 6, "Hkv": 2},
        {"Sq": 0},
        {"Sk": 0},
        {"Sq": 130, "Sk": 130},
    ):
        assert compiled_by(*arrays(**sizes), **clauses) == 0, sizes


def test_what_is_in_a_kernel():
    """Each of these is another kernel, and the second time the same."""
    variants = [
        ({"D": 40}, {}),
        ({"D": 40, "dtype": np.float32}, {}),
        ({"D": 40}, {"out_dtype": "f32"}),
        ({"D": 40}, {"return_lse": True}),
        ({"D": 40}, {"scale": 0.3}),
        ({"D": 40}, {"mask": np.ones((9, 20), bool)}),
        ({"D": 40}, {"mask": np.ones(20, bool)}),
        ({"D": 40}, {"target": "sm_90"}),
        ({"D": 40}, {"schedule": "tile_kv=32"}),
        ({"D": 40}, {"kv_lengths": [3]}),
    ]
    for sizes, clauses in variants:
        assert compiled_by(*arrays(**sizes), **clauses) == 1, clauses
    for sizes, clauses in variants:
        assert compiled_by(*arrays(**sizes), **clauses) == 0, clauses


def test_the_default_target_is_the_same_kernel():
    compiled_by(*arrays(D=56))
    assert compiled_by(*arrays(D=56), target="sm_80", device="emulator") == 0


def test_the_oldest_kernels_are_forgotten(monkeypatch):
    """Beyond a bound, for programs that sweep a number in a clause."""
    from fa import _kernels

    monkeypatch.setattr(_kernels, "CAPACITY", 2)
    kept, first, second = ({"scale": 0.5 + n} for n in range(3))
    assert compiled_by(*arrays(D=8), **first) == 1
    assert compiled_by(*arrays(D=8), **kept) == 1
    assert compiled_by(*arrays(D=8), **second) == 1
    assert compiled_by(*arrays(D=8), **kept) == 0
    assert compiled_by(*arrays(D=8), **first) == 1
    assert compiled_by(*arrays(D=8), **kept) == 0


def in_threads(count, body):
    errors = []

    def guarded(index):
        try:
            body(index)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors


def test_threads_compile_once():
    q, k, v = arrays(D=72)
    before, barrier, results = fa.compile_count(), threading.Barrier(4), {}

    def body(index):
        barrier.wait()
        results[index] = fa.attention(q, k, v, causal="top_left")

    in_threads(4, body)
    assert fa.compile_count() == before + 1
    assert all(np.array_equal(results[n], results[0]) for n in range(4))


def test_threads_do_not_meet():
    problems = [arrays(Sq=5 + n, Sk=10 * n + 1) for n in range(4)]
    expected = [fa.attention(*problem) for problem in problems]

    def body(index):
        for _ in range(5):
            assert np.array_equal(fa.attention(*problems[index]), expected[index])

    in_threads(4, body)


def test_the_library_runs_without_the_gil():
    """While one thread is in a launch, another gets on."""
    q, k, v = arrays(Hq=4, Hkv=4, Sq=1000, Sk=1000)
    done, ticks = threading.Event(), 0

    def body():
        fa.attention(q, k, v)
        done.set()

    thread = threading.Thread(target=body)
    thread.start()
    while not done.wait(0.001):
        ticks += 1
    thread.join()
    assert ticks > 3


def test_errors_in_threads_stay_in_them():
    q, k, v = arrays()
    wide = np.zeros((1, 1, 4, 300), np.float16)

    def body(index):
        for _ in range(20):
            if index % 2:
                fa.attention(q, k, v)
            else:
                with pytest.raises(ValueError, match="head dim"):
                    fa.attention(wide, wide, wide, scale=float(index + 1))

    in_threads(4, body)
