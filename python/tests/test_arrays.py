# ===- test_arrays.py - arrays of every make, in and out -----------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
import gc
import sys
import weakref

import fa
import numpy as np
import oracle
import pytest
from fa import _dlpack
from oracle import BF16, random

SHAPE = (1, 2, 18, 16)


@pytest.fixture
def qkv():
    return [random(SHAPE, np.float16, seed=n) for n in range(3)]


class Exporter:
    """An array of a library that has DLPack and nothing else."""

    def __init__(self, array, device=(1, 0)):
        self.array, self.device = array, device

    def __dlpack__(self, **options):
        if "max_version" in options:
            raise TypeError("an older protocol")
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.device


def strided(array):
    """The same numbers in memory of many makes."""
    b, h, s, d = array.shape
    wide = np.full((b, h, 2 * s + 1, d + 3), np.nan, array.dtype)
    wide[:, :, 1::2, 1 : d + 1] = array
    unaligned = np.empty(array.nbytes + 1, np.uint8)[1:].view(array.dtype)
    unaligned = unaligned.reshape(array.shape)
    unaligned[...] = array
    record = np.zeros(array.shape, np.dtype([("x", array.dtype), ("pad", np.uint8)]))
    record["x"] = array
    read_only = array.copy()
    read_only.flags.writeable = False
    return {
        "every second row": wide[:, :, 1::2, 1 : d + 1],
        "Fortran": np.asfortranarray(array),
        "rows backwards": np.ascontiguousarray(array[:, :, ::-1])[:, :, ::-1],
        "all backwards": np.ascontiguousarray(array[::-1, ::-1, ::-1, ::-1])[
            ::-1, ::-1, ::-1, ::-1
        ],
        "swapped axes": np.ascontiguousarray(array.swapaxes(1, 3)).swapaxes(1, 3),
        "read-only": read_only,
        "odd address": unaligned,
        "odd strides": record["x"],
        "other byte order": array.astype(array.dtype.newbyteorder()),
        "subclass": array.view(np.matrix.__base__),
        "DLPack": Exporter(array),
    }


@pytest.mark.parametrize("make", strided(np.zeros(SHAPE, np.float16)))
@pytest.mark.parametrize("which", [0, 1, 2])
def test_strides(qkv, make, which):
    expected = fa.attention(*qkv)
    qkv[which] = strided(qkv[which])[make]
    assert np.array_equal(fa.attention(*qkv), expected)


def test_broadcast_operands(qkv):
    """Strides of 0: one head's keys for all."""
    q, k, v = qkv
    key = np.broadcast_to(k[:, :1], SHAPE)
    expected = fa.attention(q, key.copy(), v)
    assert np.array_equal(fa.attention(q, key, v), expected)


def test_strided_mask(qkv):
    mask = np.random.default_rng(3).random((18, 36)) < 0.5
    mask = mask[::-1, ::2]
    expected = fa.attention(*qkv, mask=mask.copy())
    assert np.array_equal(fa.attention(*qkv, mask=mask), expected)


def test_wrong_rank_of_zero(qkv):
    with pytest.raises(ValueError, match=r"q has shape \[\]; accepted are 4 dim"):
        fa.attention(np.float16(1), *qkv[1:])


def test_out_is_filled_and_returned(qkv):
    expected, expected_lse = fa.attention(*qkv, return_lse=True)
    out = np.full(SHAPE, 7, np.float16)
    assert fa.attention(*qkv, out=out) is out
    assert np.array_equal(out, expected)
    out, lse = np.empty(SHAPE, np.float16), np.empty(SHAPE[:3], np.float32)
    pair = fa.attention(*qkv, return_lse=True, out=(out, lse))
    assert pair[0] is out and pair[1] is lse
    assert np.array_equal(out, expected) and np.array_equal(lse, expected_lse)


def test_out_decides_the_type(qkv):
    out = np.empty(SHAPE, np.float32)
    fa.attention(*qkv, out=out)
    assert np.array_equal(out, fa.attention(*qkv, out_dtype="f32"))


def test_out_with_strides_touches_nothing_else(qkv):
    whole = np.full((1, 2, 37, 20), 7, np.float16)
    out = whole[:, :, 35:0:-2, 2:18]
    fa.attention(*qkv, out=out)
    assert np.array_equal(out, fa.attention(*qkv))
    rest = np.ones(whole.shape, bool)
    rest[:, :, 35:0:-2, 2:18] = False
    assert (whole[rest] == 7).all()


@pytest.mark.parametrize("which", [0, 1, 2])
def test_out_must_not_overlap(qkv, which):
    memory = np.zeros(2 * qkv[0].size, np.float16)
    qkv[which] = memory[: qkv[0].size].reshape(SHAPE)
    before = memory.copy()
    out = memory[32 : 32 + qkv[0].size].reshape(SHAPE)
    with pytest.raises(ValueError, match="out.*overlap.*"):
        fa.attention(*qkv, out=out)
    with pytest.raises(ValueError, match="out.*overlap.*"):
        fa.attention(*qkv, out=qkv[which])
    assert np.array_equal(memory, before)


def test_out_must_not_overlap_itself(qkv):
    out = np.lib.stride_tricks.as_strided(
        np.zeros(SHAPE[2:], np.float16), SHAPE, (0, 0, 32, 2)
    )
    with pytest.raises(ValueError, match="out"):
        fa.attention(*qkv, out=out)


def test_bfloat16_comes_back(qkv):
    q, k, v = (x.astype(BF16) for x in qkv)
    out = fa.attention(q, k, v)
    assert out.dtype == BF16
    limits = fa.reference.attention(q, k, v, return_bounds=True)
    oracle.check_near(out, oracle.attention(q, k, v)[0], limits[1])


def test_dlpack_is_not_copied():
    array = random((3, 4))
    view = _dlpack.read(Exporter(array), "q")
    assert np.shares_memory(view, array)
    watched = weakref.ref(array)
    del array
    gc.collect()
    assert watched() is not None and view[0, 0] == view[0, 0]
    del view
    gc.collect()
    assert watched() is None


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.uint16, np.float64, np.bool_])
def test_dlpack_types(kind):
    array = np.arange(6).reshape(2, 3).astype(kind)[:, ::-1]
    view = _dlpack.read(Exporter(array), "q")
    assert view.dtype == array.dtype and np.array_equal(view, array)
    assert view.strides == array.strides


class Versioned(Exporter):
    """One that knows version 1 of the protocol."""

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)


def test_dlpack_tells_of_read_only_memory(qkv):
    out = np.zeros(SHAPE, np.float16)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="out is read-only; accepted is a writable"):
        fa.attention(*qkv, out=Versioned(out))
    # As an input it is as good as another; the older protocol has no word for it.
    expected = fa.attention(*qkv)
    qkv[0].flags.writeable = False
    assert np.array_equal(fa.attention(Versioned(qkv[0]), *qkv[1:]), expected)
    with pytest.raises(ValueError, match="q gives no DLPack capsule: .*readonly"):
        fa.attention(Exporter(qkv[0]), *qkv[1:])


def test_dlpack_of_nothing(qkv):
    none = Exporter(np.zeros((1, 2, 0, 16), np.float16))
    assert (fa.attention(qkv[0], none, none) == 0).all()


class WithoutMemory(Exporter):
    """Has given its memory back, and keeps its shape."""

    def __dlpack__(self, **options):
        capsule = super().__dlpack__(**options)
        _dlpack._tensor(capsule)[0].data = None
        return capsule


@pytest.mark.parametrize("device", [(1, 0), (2, 0)])
def test_dlpack_without_memory(qkv, device):
    gone = WithoutMemory(np.ones(SHAPE, np.float16), device)
    words = r"{} has shape \[1, 2, 18, 16\] and no memory; accepted is an array whose"
    with pytest.raises(ValueError, match=words.format("v")):
        fa.attention(*qkv[:2], gone)
    with pytest.raises(ValueError, match=words.format("out")):
        fa.attention(*qkv, out=gone)
    empty = WithoutMemory(np.zeros((1, 2, 0, 16), np.float16), device)
    assert _dlpack.read(empty, "q").shape == (1, 2, 0, 16)


def test_dlpack_type_that_nobody_knows(qkv):
    values = Exporter(np.zeros(SHAPE, np.complex64))
    words = "v has the DLPack type code 5 of 64 bits in 1 lanes, which fa does not know"
    with pytest.raises(TypeError, match=words):
        fa.attention(*qkv[:2], values)


def test_results_come_back_in_the_library_of_the_query(qkv):
    """By its from_dlpack, where the array API names one."""

    class Library:
        from_dlpack = list

    class Member(Exporter):
        def __array_namespace__(self):
            return Library

    out = fa.attention(Member(qkv[0]), *qkv[1:])
    assert isinstance(out, list)
    assert np.array_equal(out, fa.attention(*qkv))
    # DLPack has no word for NumPy's bfloat16.
    out = fa.attention(Member(qkv[0]), *qkv[1:], out_dtype="bfloat16")
    assert isinstance(out, np.ndarray) and out.dtype == BF16


def test_dlpack_device(qkv):
    """test_device_memory.py has what goes well."""
    there = [Exporter(array, device=(2, 1)) for array in qkv]
    words = "k lies on cuda:1 and q in host memory; the arrays of a call lie in one"
    with pytest.raises(ValueError, match=words):
        fa.attention(qkv[0], there[1], qkv[2])
    with pytest.raises(fa.DeviceError, match="q lies on cuda:1, which is not avail"):
        fa.attention(*there)
    there[0].device = 10, 0
    with pytest.raises(
        fa.DeviceError, match="q lies on rocm:0; accepted are arrays in"
    ):
        fa.attention(*there)


def test_inputs_are_not_kept(qkv):
    before = [sys.getrefcount(array) for array in qkv]
    for _ in range(3):
        fa.attention(*qkv)
    gc.collect()
    assert [sys.getrefcount(array) for array in qkv] == before
