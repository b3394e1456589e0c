# ===- test_leaks.py - ten thousand calls in constant memory -------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""What malloc and the interpreter have given and not got back is counted to the byte
and to the block: after the first calls, in which caches fill, it stays as it was."""

import ctypes
import gc
import sys

import fa
import numpy as np
import pytest
from fa import _kernels

# How often, and how often before it is measured.
CALLS, WARM = 10_000, 1000
COMPILES, WARM_COMPILES = 100, 60
# Measured: at most 100 bytes and 22 blocks, however often; 1 KiB where LLVM's own
# pools still grow.
SLACK_BYTES, SLACK_BLOCKS, SLACK_KIB = 4096, 100, 4096


class MallInfo(ctypes.Structure):
    """struct mallinfo2 of malloc.h."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    ]


def allocated_bytes():
    """What malloc has given and not got back; Python's small objects are elsewhere."""
    mallinfo2 = ctypes.CDLL(None).mallinfo2
    mallinfo2.restype = MallInfo
    info = mallinfo2()
    return info.uordblks + info.hblkhd


def resident_kib():
    with open("/proc/self/status") as status:
        return next(int(x.split()[1]) for x in status if x.startswith("VmRSS"))


def call(n):
    q = np.ones((1, 1, 16, 16), np.float16)
    fa.attention(q, q, q)


def failing_call(n):
    q = np.ones((1, 1, 16, 16), np.float16)
    out = np.empty((1, 1, 16, 16), np.float16)[:, :, ::-1]
    with pytest.raises(ValueError):
        fa.attention(out, q, q, out=out)


TEXT = """func.func @f(%q: tensor<1x1x?x16xf16>) -> tensor<1x1x?x16xf16> {{
  %o = fa.attention %q, %q, %q scale({})
     : tensor<1x1x?x16xf16>, tensor<1x1x?x16xf16>, tensor<1x1x?x16xf16>
    -> tensor<1x1x?x16xf16>
  return %o : tensor<1x1x?x16xf16>
}}"""


def compilation(n):
    assert fa.compile(TEXT.format(f"{n + 1}.0")).ptx


def new_kernel(n):
    """One that is forgotten when another takes its place."""
    q = np.ones((1, 1, 16, 16), np.float16)
    before = fa.compile_count()
    fa.attention(q, q, q, scale=n + 1)
    assert fa.compile_count() == before + 1


def failing_compilation(n):
    with pytest.raises(fa.CompileError):
        fa.compile(TEXT.format("banana"))
    with pytest.raises(fa.CompileError):
        fa.compile(TEXT.format("1.0"), schedule="tile_q=7")


OFTEN = [call, failing_call]
SELDOM = [compilation, new_kernel, failing_compilation]


@pytest.mark.parametrize("body", OFTEN + SELDOM, ids=lambda one: one.__name__)
def test_no_leak(body, monkeypatch):
    monkeypatch.setattr(_kernels, "CAPACITY", 4)
    calls, warm = (CALLS, WARM) if body in OFTEN else (COMPILES, WARM_COMPILES)
    for n in range(warm):
        body(n)
    gc.collect()
    resident, objects = resident_kib(), len(gc.get_objects())
    given, blocks = allocated_bytes(), sys.getallocatedblocks()
    for n in range(warm, warm + calls):
        body(n)
    gc.collect()
    assert allocated_bytes() - given < SLACK_BYTES
    assert sys.getallocatedblocks() - blocks < SLACK_BLOCKS
    assert resident_kib() - resident < SLACK_KIB
    assert len(gc.get_objects()) - objects < 100
