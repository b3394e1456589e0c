# ===- _results.py - results in the form of the inputs -------------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""A torch tensor in gives a torch tensor out; others come back as NumPy arrays,
or by their own library's from_dlpack where NumPy's type can travel so."""

from __future__ import annotations

import sys

import numpy as np

from fa import _dlpack
from fa._dlpack import is_torch
from fa._dtypes import NAME

_TORCH = {
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "f64": "float64",
}


def make(shape: tuple, dtype: np.dtype, like):
    """A new array for a result: what the user gets, and NumPy's view of it."""
    if is_torch(like):
        torch = sys.modules["torch"]
        dtype = getattr(torch, _TORCH[NAME[dtype]])
        tensor = torch.empty(shape, dtype=dtype, device=like.device)
        return tensor, _dlpack.read(tensor, "out")
    array = np.empty(shape, dtype)
    return array, array


def finish(made, like):
    """What `make` gave, once it is filled, in the library of `like`."""
    if isinstance(like, np.ndarray) or is_torch(like):
        return made
    namespace = getattr(like, "__array_namespace__", None)
    convert = namespace and getattr(namespace(), "from_dlpack", None)
    if convert is None or made.dtype.isbuiltin != 1:
        return made
    return convert(made)


def stream_of(like) -> dict:
    """Where work on arrays on a GPU goes: into the stream that torch uses now, or
    into the default one, whose end is waited for."""
    if not is_torch(like):
        return {"want_run": True}
    current = sys.modules["torch"].cuda.current_stream(like.device)
    return {"stream": current.cuda_stream}
