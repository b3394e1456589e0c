# ===- __init__.py - attention from NumPy and PyTorch in one line --------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""Attention as a FlashAttention kernel, compiled to PTX and run without a GPU.

    import fa
    out = fa.attention(q, k, v, causal=True)

attention, merge     on NumPy arrays and on anything with DLPack
reference.attention  the same in float64: what kernels are compared with
compile              MLIR text to PTX, stage by stage
math                 what `score` and `visible` are written with
devices              what this machine can run them on
torch                the operator fa::attention (needs PyTorch)

Everything here stands on the C API (include/fa-c/FA.h).
"""

from __future__ import annotations

from fa import math, reference
from fa._attention import attention
from fa._devices import Device, devices
from fa._errors import CompileError, DeviceError
from fa._kernel import Kernel, compile
from fa._kernels import compile_count
from fa._library import lib as _lib
from fa._library import text as _text
from fa._merge import merge

__version__ = _text(_lib.fa_version())

__all__ = [
    "CompileError",
    "Device",
    "DeviceError",
    "Kernel",
    "attention",
    "compile",
    "compile_count",
    "devices",
    "math",
    "merge",
    "reference",
]


def __getattr__(name: str):
    # On demand, so that fa alone never imports PyTorch.
    if name == "torch":
        import importlib

        return importlib.import_module("fa.torch")
    raise AttributeError(f"module 'fa' has no attribute {name!r}")
