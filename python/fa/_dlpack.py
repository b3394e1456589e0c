# ===- _dlpack.py - somebody's array as a NumPy array, without a copy ----=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""Reads a DLPack capsule (dmlc/dlpack, include/dlpack/dlpack.h, version 1).

numpy.from_dlpack knows neither bfloat16 nor fp8 and hides why it refuses; this
reader knows the types of ml_dtypes, and arrays in the memory of a GPU.
"""

from __future__ import annotations

import ctypes
import sys
from typing import NamedTuple

import numpy as np

from fa._dtypes import NUMPY
from fa._errors import DeviceError

CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13
_PLACES = {4: "opencl", 7: "vulkan", 8: "metal", 10: "rocm"}
# Of DLPack's protocol: no waiting, and the legacy default stream.
_NO_WAIT, _DEFAULT_STREAM = -1, 1
# (type code, bits) of DLDataType.
_TYPES = {
    (0, 8): "i8",
    (0, 16): "i16",
    (0, 32): "i32",
    (0, 64): "i64",
    (1, 8): "u8",
    (1, 16): "u16",
    (1, 32): "u32",
    (1, 64): "u64",
    (2, 16): "f16",
    (2, 32): "f32",
    (2, 64): "f64",
    (4, 16): "bf16",
    (6, 8): "i1",
    (10, 8): "f8E4M3FN",
    (12, 8): "f8E5M2",
}
_READ_ONLY = 1


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _DLTensor),
    ]


_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype = ctypes.c_void_p
_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.restype = ctypes.c_int
_is_valid.argtypes = [ctypes.py_object, ctypes.c_char_p]


class _Memory:
    """Keeps a capsule for as long as an array looks at its memory. The capsule
    stays unconsumed, so its own destructor gives the memory back."""

    def __init__(self, capsule, interface: dict):
        self.capsule = capsule
        self.__array_interface__ = interface


class _Flags(NamedTuple):
    writeable: bool


class DeviceArray:
    """An array in the memory of a GPU, with those attributes of NumPy's that say
    how it lies there. `place` is the GPU's name among the devices."""

    def __init__(self, memory: _Memory, dtype: np.dtype, place: str):
        interface = memory.__array_interface__
        self.memory, self.dtype, self.place = memory, dtype, place
        self.__array_interface__ = interface
        self.shape = interface["shape"]
        self.strides = interface["strides"] or _dense(self.shape, dtype.itemsize)
        self.flags = _Flags(not interface["data"][1])
        self.ndim, self.itemsize = len(self.shape), dtype.itemsize


def _dense(shape: tuple, itemsize: int) -> tuple:
    strides = [itemsize] * len(shape)
    for d in range(len(shape) - 1, 0, -1):
        strides[d - 1] = strides[d] * max(1, shape[d])
    return tuple(strides)


def _place_of(value, name: str) -> str | None:
    """The name of the GPU that an array lies on; None for host memory."""
    kind, index = value.__dlpack_device__()
    kind = int(kind)
    if kind in (CPU, CUDA_HOST):
        return None
    if kind in (CUDA, CUDA_MANAGED):
        return f"cuda:{index}" if index else "cuda"
    place = _PLACES.get(kind, f"device type {kind}")
    raise DeviceError(
        f"{name} lies on {place}:{index}; accepted are arrays in host memory or on "
        "a GPU that CUDA knows"
    )


def _capsule(value, name: str, place: str | None):
    # Work of ours on a tensor of torch goes into the stream that it is used in,
    # all else into the default one.
    stream = {}
    if place is not None:
        stream["stream"] = _NO_WAIT if is_torch(value) else _DEFAULT_STREAM
    # DLPack has no word for it, and torch hands over the memory as it is.
    if is_torch(value) and value.is_neg():
        raise ValueError(
            f"{name} is a negated view, whose memory holds the other sign; accepted is "
            "what its resolve_neg() gives"
        )
    try:
        try:
            return value.__dlpack__(max_version=(1, 0), **stream)
        except TypeError:
            return value.__dlpack__(**stream)
    except (BufferError, RuntimeError) as error:
        raise ValueError(f"{name} gives no DLPack capsule: {error}") from None


def is_torch(value) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, getattr(torch, "Tensor", ()))


def _tensor(capsule):
    """The DLTensor in a capsule, and whether it is read-only."""
    if _is_valid(capsule, b"dltensor_versioned"):
        whole = _Versioned.from_address(_pointer(capsule, b"dltensor_versioned"))
        return whole.tensor, bool(whole.flags & _READ_ONLY)
    return _DLTensor.from_address(_pointer(capsule, b"dltensor")), False


def read(value, name: str) -> np.ndarray | DeviceArray:
    """A view of an object with __dlpack__; DeviceError, ValueError, TypeError."""
    place = _place_of(value, name)
    capsule = _capsule(value, name, place)
    tensor, is_read_only = _tensor(capsule)
    dtype = _TYPES.get((tensor.code, tensor.bits)) if tensor.lanes == 1 else None
    if dtype is None:
        raise TypeError(
            f"{name} has the DLPack type code {tensor.code} of {tensor.bits} bits "
            f"in {tensor.lanes} lanes, which fa does not know"
        )
    kind = NUMPY[dtype]
    shape = tuple(tensor.shape[d] for d in range(tensor.ndim))
    if place is None and 0 in shape:
        return np.empty(shape, kind)
    if not tensor.data and 0 not in shape:
        raise ValueError(
            f"{name} has shape {list(shape)} and no memory; accepted is an array whose "
            "memory is there"
        )
    strides = None
    if tensor.strides:
        strides = tuple(tensor.strides[d] * kind.itemsize for d in range(tensor.ndim))
    # NumPy's protocol has no word for bf16 and fp8: bits first, then a view.
    bits = kind if kind.kind in "biuf" and kind.isbuiltin == 1 else f"<u{kind.itemsize}"
    interface = {
        "version": 3,
        "shape": shape,
        "strides": strides,
        "typestr": np.dtype(bits).str,
        "data": ((tensor.data or 0) + tensor.byte_offset, is_read_only),
    }
    memory = _Memory(capsule, interface)
    if place is not None:
        return DeviceArray(memory, kind, place)
    return np.asarray(memory).view(kind)
