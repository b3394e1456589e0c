# ===- test_tutorial.py - the cells of docs/tutorial/attention.md --------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""Runs the Python cells of the page in one namespace and compares what they print
with the text block after each, as utils/run-readme.py does for shell commands.
Cells that draw are skipped where matplotlib is missing."""

import contextlib
import importlib.util
import io
import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "tutorial" / "attention.md"
CELL = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```$)?", re.M | re.S)


def first_missing(expected, output):
    path = ROOT / "utils" / "run-readme.py"
    spec = importlib.util.spec_from_file_location("run_readme", path)
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules["run_readme"] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module.first_missing(expected, output)


def test_cells(monkeypatch, tmp_path):
    text = PAGE.read_text()
    # The page names files from the root of the repository.
    monkeypatch.chdir(ROOT)
    picture = tmp_path / "state.svg"
    names, count = {"__name__": "tutorial"}, 0
    for match in CELL.finditer(text):
        code, expected = match.groups()
        line = text.count("\n", 0, match.start()) + 2
        is_drawing = "import matplotlib" in code
        if is_drawing and importlib.util.find_spec("matplotlib") is None:
            continue
        code = code.replace('"build/tutorial-state.svg"', repr(os.fspath(picture)))
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile("\n" * (line - 1) + code, str(PAGE), "exec"), names)
        missing = first_missing((expected or "").splitlines(), output.getvalue())
        assert missing is None, f"{PAGE}:{line}: lacks {missing!r}\n{output.getvalue()}"
        count += 1
    assert count > 8
    if importlib.util.find_spec("matplotlib") is None:
        pytest.skip("matplotlib is not installed: all but the picture was run")
    assert picture.read_text().startswith("<?xml")
