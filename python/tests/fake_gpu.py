# ===- fake_gpu.py - arrays on a GPU that is none ------------------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""A program beside fa on the fake CUDA driver (unittests/Runtime/CUDA): memory and
streams of its own. A kernel in a stream runs when somebody waits for it."""

import ctypes
import os

import numpy as np
from fa._dlpack import _TYPES, _DLTensor, _Versioned
from fa._dtypes import NAME

CODES = {name: code for code, name in _TYPES.items()}


class Setup(ctypes.Structure):
    """FakeSetup of FakeDriver.h."""

    _fields_ = [("fail", ctypes.c_char_p)] + [
        (name, ctypes.c_int) for name in ("gpus", "major", "minor")
    ]


class Machine:
    """Some GPUs, each with its primary context."""

    def __init__(self, gpus):
        self.library = ctypes.CDLL(os.environ["FA_CUDA_DRIVER"])
        setup = Setup(b"", gpus, 9, 0)
        self.library.fakeCudaReset(ctypes.byref(setup))
        self.call("cuInit", 0)
        self.contexts = []
        for ordinal in range(gpus):
            device, context = ctypes.c_int(), ctypes.c_void_p()
            self.call("cuDeviceGet", ctypes.byref(device), ordinal)
            self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
            self.contexts.append(context)

    def call(self, name, *arguments):
        if result := getattr(self.library, name)(*arguments):
            raise RuntimeError(f"{name} gave {result}")

    def within(self, ordinal, name, *arguments):
        """Calls a function while the context of a GPU is current."""
        self.call("cuCtxPushCurrent_v2", self.contexts[ordinal])
        try:
            self.call(name, *arguments)
        finally:
            self.call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))

    def text(self, name):
        function = getattr(self.library, name)
        function.restype = ctypes.c_char_p
        return function().decode()

    def said(self):
        """What was said to the driver since the last time."""
        log = self.text("fakeCudaLog")
        begin, self.seen = getattr(self, "seen", 0), len(log)
        return log[begin:]

    def stream(self, ordinal=0):
        made = ctypes.c_void_p()
        self.within(ordinal, "cuStreamCreate", ctypes.byref(made), 0)
        return made.value

    def allocate(self, nbytes, ordinal=0):
        address = ctypes.c_uint64()
        size = ctypes.c_size_t(max(1, nbytes))
        self.within(ordinal, "cuMemAlloc_v2", ctypes.byref(address), size)
        return address.value

    def upload(self, array, ordinal=0):
        """A copy of an array on a GPU, with its strides where they are dense."""
        array = np.ascontiguousarray(array)
        address = self.allocate(array.nbytes, ordinal)
        if array.nbytes:
            source = array.ctypes.data_as(ctypes.c_void_p)
            size = ctypes.c_size_t(array.nbytes)
            place = ctypes.c_uint64(address)
            self.within(ordinal, "cuMemcpyHtoD_v2", place, source, size)
        return Tensor(address, array.shape, array.dtype, ordinal)

    def download(self, tensor):
        array = np.empty(tensor.shape, tensor.dtype)
        target = array.ctypes.data_as(ctypes.c_void_p)
        size = ctypes.c_size_t(array.nbytes)
        place = ctypes.c_uint64(tensor.address)
        self.within(tensor.ordinal, "cuMemcpyDtoH_v2", target, place, size)
        return array


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Tensor:
    """An array on a GPU that has DLPack and nothing else."""

    def __init__(self, address, shape, dtype, ordinal, strides=None):
        self.address, self.shape, self.strides = address, tuple(shape), strides
        self.dtype, self.ordinal, self.streams = np.dtype(dtype), ordinal, []

    def view(self, shape, strides, offset=0):
        """Other elements of the same memory; strides and offset in elements."""
        address = self.address + offset * self.dtype.itemsize
        return Tensor(address, shape, self.dtype, self.ordinal, strides)

    def __dlpack_device__(self):
        return 2, self.ordinal

    def __dlpack__(self, *, stream=None, max_version=None):
        self.streams.append(stream)
        code, bits = CODES[NAME[self.dtype]]
        numbers = ctypes.c_int64 * len(self.shape)
        strides = self.strides and numbers(*self.strides)
        tensor = _DLTensor(
            *(self.address, 2, self.ordinal, len(self.shape), code, bits, 1),
            *(numbers(*self.shape), strides, 0),
        )
        # The capsule points into this object.
        self.kept = _Versioned(1, 0, None, None, 0, tensor)
        return _new_capsule(ctypes.addressof(self.kept), b"dltensor_versioned", None)
