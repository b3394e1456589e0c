# ===- test_imports.py - beside other libraries, in every order ----------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""Other libraries may bring an LLVM of their own, before or after ours. Each order
is a process; PyTorch and Triton take part where they are installed."""

import importlib.util
import itertools
import subprocess
import sys

import pytest

NAMES = ["fa", "numpy"]
NAMES += [name for name in ("torch", "triton") if importlib.util.find_spec(name)]
WORK = """
import numpy as np
q = np.ones((1, 1, 3, 16), np.float16)
assert np.array_equal(fa.attention(q, q, q), q)
"""
# Both compilers at work in one process.
OTHERS = {
    "torch": "assert torch.ones(3).sum().item() == 3\n",
    "triton": "triton._C.libtriton.ir.context()\n",
}


@pytest.mark.parametrize("order", itertools.permutations(NAMES), ids="-".join)
def test_order(order):
    code = "".join(f"import {name}\n" for name in order) + WORK
    code += "".join(OTHERS.get(name, "") for name in order) + WORK
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr


def test_which_took_part():
    missing = sorted({"torch", "triton"} - set(NAMES))
    if missing:
        pytest.skip(f"without {' and '.join(missing)}, not installed here")
