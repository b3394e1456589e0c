# ===- test_leaks.py - ten thousand calls in constant memory -------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
import gc

import fa
import numpy as np
import pytest

WARM, CALLS, SLACK_KIB = 1000, 10_000, 4096


def resident_kib():
    with open("/proc/self/status") as status:
        return next(int(x.split()[1]) for x in status if x.startswith("VmRSS"))


def call():
    q = np.ones((1, 1, 16, 16), np.float16)
    fa.attention(q, q, q)


def failing_call():
    q = np.ones((1, 1, 16, 16), np.float16)
    out = np.empty((1, 1, 16, 16), np.float16)[:, :, ::-1]
    try:
        fa.attention(out, q, q, out=out)
    except ValueError:
        return
    raise AssertionError("an overlap was accepted")


@pytest.mark.parametrize("body", [call, failing_call])
def test_no_leak(body):
    for _ in range(WARM):
        body()
    gc.collect()
    before, objects = resident_kib(), len(gc.get_objects())
    for _ in range(CALLS):
        body()
    gc.collect()
    assert resident_kib() - before < SLACK_KIB
    assert len(gc.get_objects()) - objects < 100
