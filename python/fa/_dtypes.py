# ===- _dtypes.py - element types of NumPy, ml_dtypes, torch and MLIR ----=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""Types are known by their MLIR names here: "f16", "bf16", "f32", "i1", ..."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from fa._library import lib

# MLIR's name -> NumPy's type and the code in the C API.
_TABLE = {
    "f16": (np.float16, lib.FA_F16),
    "bf16": (ml_dtypes.bfloat16, lib.FA_BF16),
    "f32": (np.float32, lib.FA_F32),
    "f64": (np.float64, lib.FA_F64),
    "f8E4M3FN": (ml_dtypes.float8_e4m3fn, lib.FA_F8E4M3FN),
    "f8E5M2": (ml_dtypes.float8_e5m2, lib.FA_F8E5M2),
    "i1": (np.bool_, lib.FA_I1),
    "i8": (np.int8, lib.FA_I8),
    "u8": (np.uint8, lib.FA_U8),
    "i16": (np.int16, lib.FA_I16),
    "u16": (np.uint16, lib.FA_U16),
    "i32": (np.int32, lib.FA_I32),
    "u32": (np.uint32, lib.FA_U32),
    "i64": (np.int64, lib.FA_I64),
    "u64": (np.uint64, lib.FA_U64),
}
NUMPY = {name: np.dtype(kind) for name, (kind, _) in _TABLE.items()}
CODE = {name: code for name, (_, code) in _TABLE.items()}
NAME_OF_CODE = {code: name for name, code in CODE.items()}
NAME = {dtype: name for name, dtype in NUMPY.items()}

OPERANDS = ("f16", "bf16", "f32", "f8E4M3FN", "f8E5M2")
RESULTS = ("f16", "bf16", "f32")
_BY_WORD = {**{d.name: n for n, d in NUMPY.items()}, **{n: n for n in NUMPY}}


def words(names) -> str:
    """Types as NumPy calls them, for messages."""
    return ", ".join(NUMPY[name].name for name in names)


def _dtype_of_class(kind: type) -> np.dtype | None:
    try:
        return np.dtype(kind)
    except (TypeError, ValueError):  # the latter since NumPy 2.4
        return None


def parse_out_dtype(value) -> str | None:
    """`out_dtype` of a user: a word, a NumPy or ml_dtypes type, a torch.dtype."""
    if value is None:
        return None
    if isinstance(value, np.dtype):
        name = NAME.get(value)
    else:
        name = _BY_WORD.get(str(value).removeprefix("torch."))
        if name is None and isinstance(value, type):
            name = NAME.get(_dtype_of_class(value))
    if name not in RESULTS:
        raise ValueError(
            f"out_dtype is {value!r}; accepted are {words(RESULTS)} as words, "
            "NumPy or torch types, or None"
        )
    return name
