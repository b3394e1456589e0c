# ===- _arrays.py - arguments as NumPy arrays, and arrays for the library -=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""Everything that comes in becomes a NumPy view here; nothing is copied unless
NumPy's strides are no whole number of elements, its bytes are swapped, or its
integers are no int32."""

from __future__ import annotations

import numpy as np

from fa import _dlpack
from fa._checks import kind_of
from fa._dlpack import DeviceArray
from fa._dtypes import CODE, NAME
from fa._errors import DeviceError
from fa._library import ffi, lib

ARRAYS = "a NumPy array or an object with __dlpack__"


def view(value, name: str) -> np.ndarray:
    """An array argument in host memory as a NumPy array over the same memory."""
    array = anywhere(value, name)
    if isinstance(array, DeviceArray):
        raise DeviceError(
            f"{name} lies on {array.place}; accepted are arrays in host memory"
        )
    return array


def anywhere(value, name: str) -> np.ndarray | DeviceArray:
    """An array argument, of a GPU too, over the same memory."""
    if type(value) is np.ndarray or isinstance(value, np.generic):
        return np.asarray(value)
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(
            f"{name} is a masked array; accepted is {ARRAYS} (give `mask` instead)"
        )
    if isinstance(value, np.ndarray):
        return np.asarray(value)
    if hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__"):
        return _dlpack.read(value, name)
    raise TypeError(f"{name} is a {kind_of(value)}; accepted is {ARRAYS}")


def place_of(array) -> str | None:
    """The name of the GPU that an array lies on; None in host memory."""
    return array.place if isinstance(array, DeviceArray) else None


def check_place(array, name: str, place: str | None) -> None:
    """Where `array` must lie is where q does."""
    if (found := place_of(array)) != place:
        here, there = (f"on {p}" if p else "in host memory" for p in (found, place))
        raise ValueError(
            f"{name} lies {here} and q {there}; the arrays of a call lie in one place"
        )


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
    array = anywhere(value, name)
    if array.dtype == np.int32:
        return readable(array)
    if isinstance(array, DeviceArray):
        raise TypeError(
            f"{name} has dtype {array.dtype.name}; accepted on {array.place} is int32"
        )
    if array.dtype.kind not in "iu":
        raise TypeError(
            f"{name} has dtype {array.dtype.name}; accepted are integers (int32)"
        )
    if array.size and (array.max() > 2**31 - 1 or array.min() < -(2**31)):
        raise ValueError(f"{name} holds numbers that do not fit in int32")
    return array.astype(np.int32)


def single_floats(value, name: str) -> np.ndarray:
    """A float argument as float32; a wider one must be converted by its owner."""
    array = anywhere(value, name)
    if array.dtype != np.float32:
        raise TypeError(f"{name} has dtype {array.dtype.name}; accepted is float32")
    return readable(array)


_ARRAYS, _NUMBERS = ffi.typeof("fa_array[]"), ffi.typeof("int64_t[]")
_ADDRESS = ffi.typeof("void *")
_HOST, _DEVICE = lib.FA_MEMORY_HOST, lib.FA_MEMORY_DEVICE
_CODE_OF = {dtype: CODE[name] for dtype, name in NAME.items()}


def _address(array):
    return ffi.cast(_ADDRESS, array.__array_interface__["data"][0])


class Arrays:
    """fa_array[] over arrays, which must live as long as it is used, with the
    numbers that it points to."""

    def __init__(self, arrays):
        # Shape and strides of each, one behind the other.
        numbers, entries = [], []
        for array in arrays:
            numbers += array.shape
            itemsize = array.itemsize
            numbers += [stride // itemsize for stride in array.strides]
        place = self.numbers = ffi.new(_NUMBERS, numbers)
        for array in arrays:
            memory = _DEVICE if isinstance(array, DeviceArray) else _HOST
            code, rank = _CODE_OF[array.dtype], array.ndim
            strides = place + rank
            entries.append((_address(array), code, memory, rank, place, strides))
            place = strides + rank
        self.count = len(arrays)
        self.pointer = ffi.new(_ARRAYS, entries) if arrays else ffi.NULL
        self.entries = None

    def point_to(self, arrays) -> None:
        """Other arrays of the same types, shapes and strides."""
        if self.entries is None:
            self.entries = [self.pointer[n] for n in range(self.count)]
        for entry, array in zip(self.entries, arrays):
            entry.data = _address(array)


def check_known(array: np.ndarray, name: str) -> None:
    if array.dtype not in NAME:
        raise TypeError(
            f"{name} has dtype {array.dtype.name}, which fa does not know; accepted "
            f"are {', '.join(sorted(d.name for d in NAME))}"
        )


def writable(value, name: str, shape: tuple, dtype: np.dtype | None):
    """An array argument that a result is written into."""
    array = anywhere(value, name)
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
