# ===- test_compile.py - text to a kernel, looked at and run -------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
import json
import re
import subprocess
import sys

import fa
import numpy as np
import oracle
import pytest
from oracle import random

TEXT = """
func.func @decode(%q: tensor<?x4x?x16xf16>, %k: tensor<?x2x?x16xf16>,
                  %v: tensor<?x2x?x16xf16>, %s: f32)
    -> (tensor<?x4x?x16xf16>, tensor<?x4x?xf32>) {
  %o, %lse = fa.attention %q, %k, %v scale(%s : f32) masks [#fa.causal<bottom_right>]
       : tensor<?x4x?x16xf16>, tensor<?x2x?x16xf16>, tensor<?x2x?x16xf16>
         -> tensor<?x4x?x16xf16>, tensor<?x4x?xf32>
  return %o, %lse : tensor<?x4x?x16xf16>, tensor<?x4x?xf32>
}
"""
STAGES = [
    "0-input.mlir",
    "1-tile.mlir",
    "2-map.mlir",
    "3-distribute.mlir",
    "4-lower.mlir",
    "5-kernel.ptx",
]


@pytest.fixture(scope="module")
def kernel():
    return fa.compile(TEXT)


def arrays():
    shapes = [(1, 4, 5, 16), (1, 2, 33, 16), (1, 2, 33, 16)]
    return [random(shape, np.float16, n) for n, shape in enumerate(shapes)]


def test_what_a_kernel_shows(kernel):
    assert ".target sm_80" in kernel.ptx and "mma.sync" in kernel.ptx
    assert list(kernel.stages) == STAGES
    op = re.compile(r"^ +%.* = fa.attention", re.MULTILINE)
    assert op.search(kernel.stages["0-input.mlir"])
    assert not op.search(kernel.stages["1-tile.mlir"])
    assert "gpu.launch_func" in kernel.stages["2-map.mlir"]
    assert kernel.stages["5-kernel.ptx"] == kernel.ptx
    assert kernel.target == "sm_80" and "fa.attention" in kernel.source
    assert kernel.manifest["format"] == 1
    assert [entry["name"] for entry in kernel.manifest["entries"]] == ["decode"]
    assert repr(kernel) == "<fa.Kernel decode for sm_80>"
    assert kernel.warnings == [] == kernel.report()["warnings"]


def test_run(kernel):
    q, k, v = arrays()
    out, lse = kernel.run(q, k, v, 0.25)
    clauses = {"scale": 0.25, "causal": "bottom_right"}
    expected, expected_lse = oracle.attention(q, k, v, **clauses)
    limits = fa.reference.attention(
        q, k, v, return_lse=True, return_bounds=True, **clauses
    )
    oracle.check_near(out, expected, limits[2])
    oracle.check_near(lse, expected_lse, limits[3])
    places = np.empty_like(out), np.empty_like(lse)
    given = kernel.run(q, k, v, np.float32(0.25), out=places)
    assert given[0] is places[0] and given[1] is places[1]
    assert np.array_equal(places[0], out) and np.array_equal(places[1], lse)


def test_report(kernel):
    other = fa.compile(TEXT)
    assert other.report()["run"] is None
    other.run(*arrays(), 0.25, check=True, counters=True, options=["sanitize=all"])
    report = other.report()
    assert report["target"] == "sm_80" and report["entries"][0]["name"] == "decode"
    assert "decode" in json.dumps(report["run"])
    assert report["run"]["device"] == "emulator"
    assert len(report["run"]["checks"]) == 2
    assert all(check["ok"] for check in report["run"]["checks"])
    assert report["run"]["counters"]["global"]["loaded_bytes"] > 0


def test_trace():
    traced = fa.compile(TEXT, trace_state=True)
    traced.run(*arrays(), 0.25, trace_row=3)
    trace = traced.report()["run"]["trace"]
    assert trace and trace[0]["block"] == 0


def test_path_target_schedule(tmp_path):
    path = tmp_path / "decode.mlir"
    path.write_text(TEXT)
    for name in (path, str(path)):
        kernel = fa.compile(name, target="sm_90", schedule="tile_q=64,tile_kv=32")
        assert ".target sm_90" in kernel.ptx
        assert kernel.manifest["target"] == "sm_90"


def test_save(kernel, tmp_path):
    kernel.save(tmp_path / "decode.fapkg")
    saved = json.loads((tmp_path / "decode.fapkg" / "manifest.json").read_text())
    assert saved["entries"] == kernel.manifest["entries"]
    assert (tmp_path / "decode.fapkg" / "kernel.ptx").read_text() == kernel.ptx
    kernel.save(str(tmp_path / "decode.ptx"))
    assert (tmp_path / "decode.ptx").read_text() == kernel.ptx
    assert (tmp_path / "decode.json").is_file()
    with pytest.raises(TypeError, match="path is a int"):
        kernel.save(3)
    with pytest.raises(ValueError):
        kernel.save(tmp_path / "missing" / "folder" / "decode.ptx")


def test_diagnostics():
    with pytest.raises(fa.CompileError) as caught:
        fa.compile(TEXT.replace("%k, %v scale", "%k scale"))
    assert caught.value.diagnostics and "error" in caught.value.diagnostics[0]
    assert ":5:" in str(caught.value)
    with pytest.raises(fa.CompileError, match="head dim.*not supported yet"):
        fa.compile(TEXT.replace("x16xf16", "x300xf16"))


MISTAKES = [
    (dict(text_or_path=3), TypeError, "text_or_path is a int; accepted is MLIR text"),
    (
        dict(text_or_path="nowhere.mlir"),
        FileNotFoundError,
        "text_or_path is 'nowhere.mlir', which is no file",
    ),
    (dict(text_or_path=TEXT, target="sm_1"), ValueError, "sm_1"),
    (dict(text_or_path=TEXT, target=80), TypeError, "target is a int"),
    (dict(text_or_path=TEXT, schedule="tile_q=7"), fa.CompileError, "tile_q"),
    (dict(text_or_path=TEXT, schedule=7), TypeError, "schedule is a int"),
    (dict(text_or_path=TEXT + "\0"), ValueError, "text_or_path holds a NUL"),
    (dict(text_or_path=b"fa."), TypeError, "text_or_path is a bytes"),
    (dict(text_or_path="\n"), ValueError, "attention"),
]


@pytest.mark.parametrize("number", range(len(MISTAKES)))
def test_mistake(number):
    arguments, exception, words = MISTAKES[number]
    with pytest.raises(exception) as caught:
        fa.compile(**arguments)
    assert words in str(caught.value)


def test_run_mistakes(kernel):
    q, k, v = arrays()
    with pytest.raises(TypeError, match="got 3 arrays; accepted are 4: query, key"):
        kernel.run(q, k, v)
    with pytest.raises(ValueError, match="query has dtype f32; accepted is f16"):
        kernel.run(q.astype(np.float32), k, v, 0.25)
    with pytest.raises(TypeError, match="key is a list"):
        kernel.run(q, [1], v, 0.25)
    with pytest.raises(ValueError, match="key"):
        kernel.run(q, k[:, :1], v, 0.25)
    with pytest.raises(ValueError, match="trace"):
        kernel.run(q, k, v, 0.25, trace_row=0)
    with pytest.raises(ValueError, match="out is 1 arrays; accepted are 2"):
        kernel.run(q, k, v, 0.25, out=np.empty_like(q))
    with pytest.raises(ValueError, match="unknown"):
        kernel.run(q, k, v, 0.25, options=["colour=blue"])
    with pytest.raises(ValueError, match="nobody"):
        kernel.run(q, k, v, 0.25, entry="nobody")


RUN_MISTAKES = [
    ({"entry": 3}, TypeError, "entry is a int; accepted is text"),
    ({"entry": "decode\0"}, ValueError, "entry holds a NUL"),
    ({"device": 3}, TypeError, "device is a int; accepted is text"),
    ({"device": "abacus"}, ValueError, "abacus"),
    ({"options": "sanitize=all"}, TypeError, "options is a str; accepted is a list"),
    ({"options": 3}, TypeError, "options is a int; accepted is a list of texts"),
    ({"options": [3]}, TypeError, "options is a int; accepted is text"),
    ({"trace_row": 1.5}, TypeError, "trace_row is 1.5; accepted is a row"),
    ({"trace_row": -1}, ValueError, "trace_row is -1; accepted is a row"),
    ({"trace_row": 2**64}, ValueError, "trace_row is 18446744073709551616; accepted"),
]


@pytest.mark.parametrize("number", range(len(RUN_MISTAKES)))
def test_run_mistake(kernel, number):
    arguments, exception, words = RUN_MISTAKES[number]
    with pytest.raises(exception) as caught:
        kernel.run(*arrays(), 0.25, **arguments)
    assert words in str(caught.value)


def test_unknown_dtype(kernel):
    q, k, v = arrays()
    with pytest.raises(TypeError, match="query has dtype complex64, which fa does not"):
        kernel.run(q.astype(np.complex64), k, v, 0.25)


def test_instruction_limit(kernel):
    out = np.full((1, 4, 5, 16), 7, np.float16)
    lse = np.full((1, 4, 5), 7, np.float32)
    options = ["max-instructions=100"]
    with pytest.raises(fa.DeviceError, match="100"):
        kernel.run(*arrays(), 0.25, out=(out, lse), options=options)
    assert (out == 7).all() and (lse == 7).all()
    kernel.run(*arrays(), 0.25)


def test_saved_package_runs_elsewhere(kernel, tmp_path):
    """What another process compiles is the same, byte for byte."""
    code = f"import fa\nfa.compile({TEXT!r}).save({str(tmp_path / 'again.ptx')!r})"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert (tmp_path / "again.ptx").read_text() == kernel.ptx
