# ===- test_signature.py - names and defaults of the public functions ----=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""Programs are written against these; what is here may only grow."""

import dataclasses
import inspect
import subprocess
import sys

import fa
import pytest

ATTENTION = {
    "scale": None,
    "causal": False,
    "window": None,
    "prefix": None,
    "chunk": None,
    "softcap": None,
    "bias": None,
    "mask": None,
    "alibi_slopes": None,
    "sink": None,
    "q_offsets": None,
    "kv_offsets": None,
    "q_lengths": None,
    "kv_lengths": None,
    "segments": None,
    "page_table": None,
    "scales": None,
    "score": None,
    "visible": None,
    "dropout_p": 0.0,
    "seed": 0,
    "layout": "bhsd",
    "precision": "ieee",
    "empty_row": "zero",
    "out_dtype": None,
    "return_lse": False,
    "out": None,
    "target": None,
    "device": None,
    "schedule": None,
}


def parameters(function, kind):
    found = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in found if p.kind is kind}


def test_attention():
    keywords = parameters(fa.attention, inspect.Parameter.KEYWORD_ONLY)
    assert keywords == ATTENTION
    assert list(keywords) == list(ATTENTION)
    positional = parameters(fa.attention, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    assert list(positional) == ["q", "k", "v"]


def test_merge_and_compile():
    positional = inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert parameters(fa.merge, positional)["layout"] == "bhsd"
    compiled = parameters(fa.compile, positional)
    assert list(compiled) == ["text_or_path", "target", "schedule"]
    assert (compiled["target"], compiled["schedule"]) == ("sm_80", None)


def test_kernel_has_what_is_promised():
    for name in ("ptx", "stages", "manifest", "report", "save", "run"):
        assert hasattr(fa.Kernel, name), name


def test_unknown_keyword():
    with pytest.raises(TypeError, match="causl"):
        fa.attention(1, 2, 3, causl=True)
    with pytest.raises(TypeError, match="causl"):
        fa.reference.attention(1, 2, 3, causl=True)


def test_exceptions():
    assert issubclass(fa.CompileError, Exception)
    assert issubclass(fa.DeviceError, Exception)
    assert not issubclass(fa.DeviceError, ValueError)


def test_devices():
    devices = {device.name: device for device in fa.devices()}
    assert devices["emulator"].available and devices["emulator"].runs_ptx
    assert devices["emulator"].default_target == "sm_80"
    assert "race" in devices["emulator"].checkers
    assert not devices["cuda"].available and devices["cuda"].reason
    with pytest.raises(dataclasses.FrozenInstanceError):
        devices["emulator"].name = "other"


def test_everything_public_is_documented():
    for module in (fa, fa.math, fa.reference):
        assert module.__doc__, module
        for name in module.__all__:
            assert inspect.getdoc(getattr(module, name)), (module, name)
    for name, member in inspect.getmembers(fa.Kernel):
        if not name.startswith("_"):
            assert inspect.getdoc(member), name


def test_main():
    result = subprocess.run(
        [sys.executable, "-m", "fa"], capture_output=True, text=True, check=True
    )
    lines = result.stdout.splitlines()
    assert lines[0].startswith(f"fa {fa.__version__}, LLVM 22.")
    assert "sm_80" in lines[1]
    assert any("emulator" in line and "(default)" in line for line in lines)
    assert any("cuda" in line and "no: " in line for line in lines)


def test_versions_agree():
    tomllib = pytest.importorskip("tomllib")
    from pathlib import Path

    project = Path(__file__).parents[1] / "pyproject.toml"
    stated = tomllib.loads(project.read_text())["project"]["version"]
    assert stated == fa.__version__
