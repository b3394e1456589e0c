# ===- test_types.py - the annotations, as a type checker reads them -----=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""A strict program that uses the package has no error, one with mistakes has just
those, and the package itself has none."""

import os
import subprocess
import sys
from pathlib import Path

import fa
import pytest

pytest.importorskip("mypy", reason="mypy is not installed")

# An installed package is found as any other is: by the py.typed in it.
FOLDER = Path(fa.__file__).parents[1]
PLACE = {} if FOLDER.name == "site-packages" else {"MYPYPATH": str(FOLDER)}

RIGHT = """
from typing import Any

import fa
import fa.math as fm
import numpy as np
import numpy.typing as npt

q: npt.NDArray[np.float16] = np.zeros((1, 1, 3, 16), np.float16)
out, lse = fa.attention(q, q, q, causal=True, window=(1, 2), return_lse=True)
fa.attention(q, q, q, causal="top_left", kv_lengths=[3], out=q, scale=0.5)
merged, lse = fa.merge([(out, lse)], layout="bhsd")
exact = fa.reference.attention(q, q, q, return_bounds=True)


def score(s: fm.Value, b: fm.Value, h: fm.Value, i: fm.Value, j: fm.Value) -> fm.Value:
    near = fm.where((i >= j) & ~(h == 1), fm.maximum(s, -30), 0.5 * s)
    return fm.tanh(near / 30) * 30 - 0.1 * fm.abs(i - j)


fa.attention(q, q, q, score=score)
kernel: fa.Kernel = fa.compile("module {}", target="sm_80", schedule=None)
ptx: str = kernel.ptx
stages: dict[str, str] = kernel.stages
report: dict[str, Any] = kernel.report()
result = kernel.run(q, q, q, options=["threads=2"], trace_row=0)
names: list[str] = [device.name for device in fa.devices()]
count: int = fa.compile_count()
lines: list[str] = fa.CompileError("message").diagnostics
"""

WRONG = """
import fa
import numpy as np

q = np.zeros((1, 1, 3, 16), np.float16)
fa.attention(q, q)
fa.attention(q, q, q, causl=True)
fa.attention(q, q, q, window=3)
fa.merge(q, layout=3)
fa.compile(3)
fa.devices()[0].name = "other"
fa.Kernel.ptx.nothing
fa.math.exp("x")
"""


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """So that NumPy is read once."""
    return f"--cache-dir={tmp_path_factory.mktemp('mypy')}"


def check(*arguments):
    """What mypy says, a line for each error."""
    result = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-error-summary", *map(str, arguments)],
        env={**os.environ, **PLACE},
        capture_output=True,
        text=True,
    )
    assert not result.stderr, result.stderr
    return [line for line in result.stdout.splitlines() if "error:" in line]


def check_program(tmp_path, cache, text):
    file = tmp_path / "program.py"
    file.write_text(text)
    lines = check("--strict", "--follow-imports=silent", cache, file)
    return [int(line.split(":")[1]) for line in lines if file.name in line], lines


def test_a_right_program(tmp_path, cache):
    numbers, lines = check_program(tmp_path, cache, RIGHT)
    assert not numbers, "\n".join(lines)


def test_mistakes_are_found(tmp_path, cache):
    numbers, lines = check_program(tmp_path, cache, WRONG)
    first = 6  # the line after the array
    assert set(numbers) == set(range(first, first + 8)), "\n".join(lines)


@pytest.mark.skipif(not PLACE, reason="the sources are checked in their tree")
def test_the_package():
    options = "--no-site-packages", "--ignore-missing-imports", "--cache-dir=/dev/null"
    lines = check(*options, Path(fa.__file__).parent)
    assert not lines, "\n".join(lines)
