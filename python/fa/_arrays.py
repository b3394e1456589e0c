# ===- _arrays.py - arguments as NumPy arrays, and arrays for the library -=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""Everything that comes in becomes a NumPy view here; nothing is copied unless
NumPy's strides are no whole number of elements or its bytes are swapped."""

from __future__ import annotations

import numpy as np

from fa import _dlpack
from fa._dtypes import CODE, NAME
from fa._library import ffi, lib

ARRAYS = "a NumPy array or an object with __dlpack__"


def kind_of(value) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix(
        "builtins."
    )


def view(value, name: str) -> np.ndarray:
    """An array argument as a NumPy array over the same memory."""
    if type(value) is np.ndarray or isinstance(value, np.generic):
        return np.asarray(value)
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(
            f"{name} is a masked array; accepted is {ARRAYS} (give `mask` instead)"
        )
    if isinstance(value, np.ndarray):
        return np.asarray(value)
    if hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__"):
        return _dlpack.to_numpy(value, name)
    raise TypeError(f"{name} is a {kind_of(value)}; accepted is {ARRAYS}")


def readable(array: np.ndarray) -> np.ndarray:
    """The array in the machine's byte order with whole strides."""
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    itemsize = array.itemsize
    for stride in array.strides:
        if stride % itemsize:
            return array.copy()
    return array


def whole_numbers(value, name: str) -> np.ndarray:
    """An integer argument as int32, from any integers that fit."""
    if isinstance(value, (list, tuple)):
        value = np.asarray(value)
    array = view(value, name)
    if array.dtype == np.int32:
        return readable(array)
    if array.dtype.kind not in "iu":
        raise TypeError(
            f"{name} has dtype {array.dtype.name}; accepted are integers (int32)"
        )
    if array.size and (array.max() > 2**31 - 1 or array.min() < -(2**31)):
        raise ValueError(f"{name} holds numbers that do not fit in int32")
    return array.astype(np.int32)


def single_floats(value, name: str) -> np.ndarray:
    """A float argument as float32; a wider one must be converted by its owner."""
    array = view(value, name)
    if array.dtype != np.float32:
        raise TypeError(f"{name} has dtype {array.dtype.name}; accepted is float32")
    return readable(array)


class Arrays:
    """fa_array[] over NumPy arrays, with all that it points to."""

    def __init__(self, arrays):
        self.kept = kept = [arrays]
        self.count = len(arrays)
        self.pointer = ffi.new("fa_array[]", self.count) if arrays else ffi.NULL
        for index, array in enumerate(arrays):
            entry = self.pointer[index]
            itemsize = array.itemsize
            shape = ffi.new("int64_t[]", array.shape)
            strides = ffi.new("int64_t[]", [s // itemsize for s in array.strides])
            kept += (shape, strides)
            entry.data = ffi.cast("void *", array.__array_interface__["data"][0])
            entry.dtype = CODE[NAME[array.dtype]]
            entry.memory = lib.FA_MEMORY_HOST
            entry.rank = array.ndim
            entry.shape, entry.strides = shape, strides


def check_known(array: np.ndarray, name: str) -> None:
    if array.dtype not in NAME:
        raise TypeError(
            f"{name} has dtype {array.dtype.name}, which fa does not know; accepted "
            f"are {', '.join(sorted(d.name for d in NAME))}"
        )


def writable(value, name: str, shape: tuple, dtype: np.dtype | None) -> np.ndarray:
    """An array argument that a result is written into."""
    array = view(value, name)
    if array.shape != shape:
        raise ValueError(
            f"{name} has shape {list(array.shape)}; accepted is {list(shape)}"
        )
    if dtype is not None and array.dtype != dtype:
        raise TypeError(
            f"{name} has dtype {array.dtype.name}; accepted is {dtype.name}"
        )
    if not array.flags.writeable:
        raise ValueError(f"{name} is read-only; accepted is a writable array")
    if any(stride % array.itemsize for stride in array.strides):
        raise ValueError(
            f"{name} has strides of {list(array.strides)} bytes; accepted are "
            f"multiples of its {array.itemsize}-byte elements"
        )
    return array
