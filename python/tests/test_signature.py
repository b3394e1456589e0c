# ===- test_signature.py - names and defaults of the public functions ----=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""Programs are written against these; what is here may only grow."""

import dataclasses
import inspect
import re
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


FLOATS = ("float16", "bfloat16", "float32")
# What the entry of an argument must say: shape, type, unit, range or words.
SAYS = {
    "q": ("[B, Hq, Sq, D]", *FLOATS),
    "k": ("[B, Hkv, Sk, D]", "of the type of q"),
    "v": ("[B, Hkv, Sk, Dv]", "of the type of q"),
    "scale": ("factor", "finite number", "1/sqrt(D)"),
    "causal": ("False", '"top_left"', '"bottom_right"', "True"),
    "window": ("(left, right)", "whole numbers of keys", "-1"),
    "prefix": ("whole number of keys",),
    "chunk": ("whole number", "keys"),
    "softcap": ("cap of the scores", "unit", "None"),
    "bias": (*FLOATS, "broadcast", "[B, Hq, Sq, Sk]"),
    "mask": ("bool", "True = visible", "broadcast", "[B, Hq, Sq, Sk]"),
    "alibi_slopes": ("[Hq]", "float32", "scores per key of distance"),
    "sink": ("[Hq]", "float32", "natural units"),
    "q_offsets": ("[B + 1]", "integers", "[Tq, Hq, D]"),
    "kv_offsets": ("[B + 1]", "integers", "[Tk, Hkv, D]"),
    "q_lengths": ("[B]", "integers", "how many queries"),
    "kv_lengths": ("[B]", "integers", "how many queries and keys"),
    "segments": ("[B, Sq]", "[B, Sk]", "integers"),
    "page_table": ("[B, pages of a sequence]", "integers", "page_size, D]"),
    "scales": ("[B, Hkv]", "float32", "fp8"),
    "score": ("(s, b, h, i, j)", "text of a region"),
    "visible": ("(b, h, i, j)", "text of a region"),
    "dropout_p": ("probability", "from 0 to 1"),
    "seed": ("64-bit whole number",),
    "layout": ('"bhsd"', '"bshd"'),
    "precision": ('"ieee"', '"tf32x3"', '"tf32"'),
    "empty_row": ('"zero"', '"nan"', '"uniform"'),
    "out_dtype": FLOATS,
    "return_lse": ("bool", "float32", "[B, Hq, Sq]"),
    "out": ("[B, Hq, Sq, Dv]", "lse", "overlap"),
    "target": ('"sm_80"',),
    "device": ('"auto"', "fa.devices()"),
    "schedule": ("text", '"tile_q=64,stages=3"'),
}
DETAILS = {
    fa.attention: {
        **SAYS,
        "prefix": ("0 to", "2**31 - 1", "causal"),
        "chunk": ("1 to 2**30", "(i + offset) // chunk == j // chunk"),
        "window": (*SAYS["window"], "-left <= j - i - offset <= right", "2**31 - 1"),
        "softcap": (*SAYS["softcap"], "softcap * tanh(score / softcap)", "above 0"),
        "alibi_slopes": (*SAYS["alibi_slopes"], "|i + offset - j|"),
        "dropout_p": (*SAYS["dropout_p"], "Philox4x32-10", "1 - dropout_p"),
        "seed": ("-2**63 to 2**63 - 1",),
        "q_lengths": ("[B]", "integers", "0 to Sq", "0 to Sk"),
        "kv_lengths": ("[B]", "integers", "0 to Sq", "0 to Sk"),
        "scale": (*SAYS["scale"], "float32 array of one element"),
    },
    fa.merge: {
        "parts": ("[B, Hq, Sq, Dv]", "[B, Hq, Sq], float32", *FLOATS, "host memory"),
        "layout": SAYS["layout"],
    },
    fa.reference.attention: {
        "q": (*SAYS["q"], "host memory"),
        "k": SAYS["k"],
        "v": SAYS["v"],
        "return_lse": ("bool", "[B, Hq, Sq]"),
        "return_bounds": ("bool", "|kernel - float64|", "units"),
        "clauses": [
            name
            for name in ATTENTION
            if name not in ("return_lse", "out", "target", "device", "schedule")
        ],
    },
    fa.compile: {
        "text_or_path": ("text", "file's name", "os.PathLike"),
        "target": SAYS["target"],
        "schedule": ("#fa.schedule", "None"),
        "trace_state": ("bool", "m, l and u"),
    },
    fa.Kernel.save: {"path": ("file's name", "os.PathLike", "NAME.ptx", "folder")},
    fa.Kernel.run: {
        "arrays": ("DLPack", "host memory", "scalar"),
        "entry": ("name of the function",),
        "out": ("type and shape", "tuple"),
        "device": SAYS["device"],
        "options": ("list of texts", "fa-run"),
        "counters": ("bool", "bytes"),
        "check": ("bool", "oracle"),
        "trace_row": ("whole number from 0", "natural units", "trace_state"),
    },
    fa.Kernel.report: {},
    fa.devices: {},
}


def entries(function, names):
    """{argument: what the docstring says of it}: a name, or several, before the words
    or on a line of its own; what is indented below belongs to it."""
    found, open_ones = {}, []
    for line in inspect.getdoc(function).splitlines():
        head = re.match(r"(\w+(?:, \w+)*)(?: {2,}(.*))?$", line)
        if head and set(head[1].split(", ")) <= set(names):
            open_ones = head[1].split(", ")
            found.update(dict.fromkeys(open_ones, head[2] or ""))
        elif not line.startswith(" "):
            open_ones = []
        for name in open_ones:
            if line.startswith(" "):
                found[name] = f"{found[name]} {line.strip()}".strip()
    return found


def check_entries(function, details):
    names = [name for name in inspect.signature(function).parameters if name != "self"]
    assert set(names) == set(details)
    found = entries(function, names)
    for name in names:
        assert name in found, f"{name} has no entry"
        for words in details[name]:
            assert words in found[name], f"{name}: {words!r} is not in {found[name]!r}"


@pytest.mark.parametrize("function", DETAILS, ids=lambda one: one.__qualname__)
def test_every_argument_is_described(function):
    check_entries(function, DETAILS[function])
    text = inspect.getdoc(function)
    assert "Source: " in text
    assert "Raises " in text or not DETAILS[function]
    assert "Return" in text or function is fa.Kernel.save


def test_every_argument_of_torch_is_described():
    pytest.importorskip("torch")
    from fa.torch import attention

    names = inspect.signature(attention).parameters
    check_entries(attention, {name: SAYS[name] for name in names})
    assert "Source: " in attention.__doc__ and "Raises " in attention.__doc__


def test_every_function_of_arguments_is_among_these():
    public = [getattr(fa, name) for name in fa.__all__]
    public += [fa.reference.attention]
    public += [one for name, one in vars(fa.Kernel).items() if name[0] != "_"]
    with_arguments = {
        one
        for one in public
        if inspect.isfunction(one) and set(inspect.signature(one).parameters) - {"self"}
    }
    assert with_arguments <= set(DETAILS)


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
