# ===- test_errors.py - what is refused, and in which words --------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""Every refusal names the argument, what was found and what is accepted."""

import fa
import ml_dtypes
import numpy as np
import pytest
from fa._errors import Failure
from fa._library import lib

Q = np.zeros((1, 4, 8, 16), np.float16)
K = np.zeros((1, 2, 12, 16), np.float16)


def zeros(*shape, dtype=np.float16):
    return np.zeros(shape, dtype)


class NoType:
    dtype = 3


RECORD = np.dtype([("x", np.float16), ("pad", np.uint8)])
EIGHT_BIT = {name: zeros(1, 2, 12, 16, dtype=ml_dtypes.float8_e4m3fn) for name in "qkv"}
WIDE = {
    "q": zeros(1, 4, 8, 16, dtype=np.float32),
    "k": zeros(1, 2, 12, 16, dtype=np.float32),
    "v": zeros(1, 2, 12, 16, dtype=np.float32),
}
INDICES = "{ ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):\n "
ONES = np.ones((1, 2), np.float32)
PAGES, EMPTY_PAGES = zeros(3, 2, 16, 16), zeros(3, 2, 0, 16)
PACKED = {
    "q": zeros(8, 4, 16),
    "k": zeros(12, 2, 16),
    "v": zeros(12, 2, 16),
    "q_offsets": [0, 8],
    "kv_offsets": [0, 12],
}
# arguments that replace the right ones, the exception, its text
MISTAKES = [
    ({"q": [[1.0]]}, TypeError, "q is a list; accepted is a NumPy array or an object"),
    ({"k": None}, TypeError, "k is a NoneType; accepted is a NumPy array"),
    ({"v": "x"}, TypeError, "v is a str; accepted is a NumPy array"),
    ({"q": np.ma.zeros((1, 4, 8, 16))}, TypeError, "q is a masked array"),
    (
        {"q": zeros(1, 4, 8, 16, dtype=np.float64)},
        TypeError,
        "q has dtype float64; accepted are float16, bfloat16, float32, float8",
    ),
    (
        {"q": zeros(1, 4, 8, 16, dtype=object)},
        TypeError,
        "q has dtype object; accepted are float16",
    ),
    (
        {"k": zeros(1, 2, 12, 16, dtype=np.float32)},
        TypeError,
        "k has dtype float32; accepted is that of q, float16",
    ),
    (
        {"v": zeros(1, 2, 12, 16, dtype=ml_dtypes.bfloat16)},
        TypeError,
        "v has dtype bfloat16; accepted is that of q, float16",
    ),
    (
        {"q": zeros(4, 8, 16)},
        ValueError,
        "q has shape [4, 8, 16]; accepted are 4 dimensions [B, Hq, Sq, D]",
    ),
    (
        {"k": zeros(12, 16)},
        ValueError,
        "k has shape [12, 16]; accepted are 4 dimensions [B, Hkv, Sk, D]",
    ),
    (
        {"q": zeros(4, 8, 16), "layout": "bshd"},
        ValueError,
        "accepted are 4 dimensions [B, Sq, Hq, D]",
    ),
    (
        {"k": zeros(2, 2, 12, 16)},
        ValueError,
        "k has shape [2, 2, 12, 16]; accepted is [1, 2, 12, 16] [B, Hkv, Sk, D]",
    ),
    (
        {"k": zeros(1, 2, 12, 8)},
        ValueError,
        "k has shape [1, 2, 12, 8]; accepted is [1, 2, 12, 16]",
    ),
    (
        {"v": zeros(1, 2, 11, 16)},
        ValueError,
        "v has shape [1, 2, 11, 16]; accepted is [1, 2, 12, 16] [B, Hkv, Sk, Dv]",
    ),
    (
        {"k": zeros(1, 3, 12, 16), "v": zeros(1, 3, 12, 16)},
        ValueError,
        "q has 4 heads and k has 3; accepted is a positive multiple of the heads of k",
    ),
    (
        {"k": zeros(1, 0, 12, 16), "v": zeros(1, 0, 12, 16)},
        ValueError,
        "q has 4 heads and k has 0",
    ),
    (
        {"q": zeros(1, 0, 8, 16)},
        ValueError,
        "q has 0 heads and k has 2; accepted is a positive multiple",
    ),
    (
        {name: zeros(1, 0, 8, 16) for name in "qkv"},
        ValueError,
        "q has 0 heads and k has 0",
    ),
    (
        {"q": zeros(1, 4, 8, 0), "k": zeros(1, 2, 12, 0)},
        ValueError,
        "q has shape [1, 4, 8, 0]; its head dimension must be at least 1",
    ),
    ({"v": zeros(1, 2, 12, 0)}, ValueError, "v has shape [1, 2, 12, 0]; its head dim"),
    (
        {"q": zeros(1, 4, 8, 300), "k": zeros(1, 2, 12, 300)},
        ValueError,
        "q: head dim D = 300 is not supported yet, supported are those from 1 to 256",
    ),
    (
        {"v": zeros(1, 2, 12, 257)},
        ValueError,
        "v: head dim Dv = 257 is not supported yet",
    ),
    ({"scale": float("nan")}, ValueError, "scale is nan; accepted is a finite number"),
    ({"scale": float("inf")}, ValueError, "scale is inf; accepted is a finite number"),
    ({"scale": "1"}, TypeError, "scale is '1'; accepted is a finite number"),
    ({"scale": True}, TypeError, "scale is True; accepted is a finite number"),
    ({"scale": -(10**400)}, ValueError, "scale is beyond float64; accepted is a fin"),
    ({"scale": 1e39}, ValueError, "scale"),
    (
        {"scale": zeros(2, dtype=np.float32)},
        TypeError,
        "scale has dtype float32 and shape [2]; accepted is a finite number, or",
    ),
    (
        {"scale": np.asarray(np.nan, np.float32)},
        ValueError,
        "scale is nan; accepted is",
    ),
    (
        {"causal": True},
        ValueError,
        "causal is True, which is ambiguous where q and k have different lengths; "
        "accepted there are 'top_left' and 'bottom_right'",
    ),
    (
        {"causal": True, "q": zeros(1, 4, 12, 16), "kv_lengths": [3]},
        ValueError,
        "causal is True, which is ambiguous with lengths, offsets or pages",
    ),
    (
        {"causal": "left"},
        ValueError,
        "causal is 'left'; accepted are False, True, 'top_left' and 'bottom_right'",
    ),
    ({"causal": 1}, TypeError, "causal is 1; accepted are False, True"),
    ({"window": 7}, TypeError, "window is 7; accepted is a pair (left, right)"),
    ({"window": (1, 2, 3)}, ValueError, "window is (1, 2, 3); accepted is a pair"),
    ({"window": (-2, 0)}, ValueError, "window is -2; accepted is a pair"),
    ({"window": (1.5, 0)}, TypeError, "window is 1.5; accepted is a pair"),
    ({"prefix": 4}, ValueError, "prefix is 4 without causal; it needs causal"),
    (
        {"prefix": -1, "causal": "top_left"},
        ValueError,
        "prefix is -1; accepted is a whole number of keys, at least 0",
    ),
    ({"chunk": 0}, ValueError, "chunk is 0; accepted is a whole number of keys"),
    ({"chunk": True}, TypeError, "chunk is True; accepted is a whole number"),
    ({"chunk": 2**63}, ValueError, "chunk is 9223372036854775808; accepted is"),
    (
        {"chunk": 2**30 + 1},
        ValueError,
        "the size of the chunk is 1073741825; accepted are 1 to 1073741824",
    ),
    ({"chunk": 2**62}, ValueError, "chunk is 4611686018427387904; accepted are 1 to"),
    (
        {"window": (2**31, 0)},
        ValueError,
        "the left side of the window is 2147483648; accepted are -1 (unbounded), 0 to "
        "2147483647",
    ),
    ({"window": (0, 2**62)}, ValueError, "right side of the window is 46116860184273"),
    (
        {"prefix": 2**31, "causal": "top_left"},
        ValueError,
        "the prefix is 2147483648; accepted are 0 to 2147483647",
    ),
    ({"prefix": 2**62, "causal": "top_left"}, ValueError, "the prefix is 46116860184"),
    (
        {"softcap": 0.0},
        ValueError,
        "softcap is 0.0; accepted is a finite number above 0, or None for off",
    ),
    ({"softcap": -3.0}, ValueError, "softcap is -3.0; accepted is"),
    ({"softcap": float("nan")}, ValueError, "softcap is nan; accepted is"),
    ({"softcap": 1e39}, ValueError, "softcap is 1e+39; accepted is"),
    ({"softcap": 1e-39}, ValueError, "like its reciprocal, finite in f32"),
    (
        {"mask": zeros(8, 12)},
        TypeError,
        "mask has dtype float16; accepted is bool (a mask of floats is a bias)",
    ),
    (
        {"mask": zeros(8, 11, dtype=bool)},
        ValueError,
        "mask has shape [8, 11]; accepted is what broadcasts to [1, 4, 8, 12]",
    ),
    (
        {"mask": np.asarray(True)},
        ValueError,
        "mask has shape []; accepted are 1 to 4 dimensions",
    ),
    ({"mask": zeros(1, 1, 1, 8, 12, dtype=bool)}, ValueError, "mask has shape [1, 1"),
    ({"bias": zeros(8, 11)}, ValueError, "bias has shape [8, 11]; accepted is what"),
    ({"bias": zeros(8, 12, dtype=int)}, TypeError, "bias has dtype int64; accepted"),
    (
        {"kv_lengths": [1, 2]},
        ValueError,
        "kv_lengths has shape [2]; accepted is [1] [B]",
    ),
    (
        {"kv_lengths": np.ones(1, np.float32)},
        TypeError,
        "kv_lengths has dtype float32; accepted are integers (int32)",
    ),
    (
        {"q_lengths": np.array([2**40])},
        ValueError,
        "q_lengths holds numbers that do not fit in int32",
    ),
    ({"kv_lengths": [13]}, ValueError, "kv_lengths[0] is 13, outside 0..12"),
    ({"q_lengths": [-1]}, ValueError, "q_lengths[0] is -1, outside 0..8"),
    ({"segments": zeros(1, 8)}, TypeError, "segments is a numpy.ndarray; accepted is"),
    (
        {"segments": (zeros(1, 8), zeros(1, 12), zeros(1))},
        TypeError,
        "segments is 3 of them; accepted is a tuple of 2 arrays",
    ),
    (
        {"segments": (zeros(1, 8, dtype=int), zeros(1, 11, dtype=int))},
        ValueError,
        "segments has shape [1, 11]; accepted is [1, 12] [B, Sk]",
    ),
    (
        {"segments": (zeros(1, 8), zeros(1, 12))},
        TypeError,
        "segments has dtype float16; accepted are integers (int32)",
    ),
    (
        {"alibi_slopes": zeros(3, dtype=np.float32)},
        ValueError,
        "alibi_slopes has shape [3]; accepted is [4] [Hq]",
    ),
    (
        {"sink": zeros(4)},
        TypeError,
        "sink has dtype float16; accepted is float32",
    ),
    ({"scales": ()}, ValueError, "scales is given with q of float16; only fp8"),
    (
        {**EIGHT_BIT, "scales": (ONES, ONES)},
        TypeError,
        "scales is 2 of them; accepted is a tuple of 3 arrays",
    ),
    (
        {**EIGHT_BIT, "scales": (ONES, ONES, ONES[0])},
        ValueError,
        "scales has shape [2]; accepted are 2 dimensions [B, Hkv]",
    ),
    (
        {**EIGHT_BIT, "scales": (ONES, ONES, zeros(1, 2))},
        TypeError,
        "scales has dtype float16; accepted is float32",
    ),
    (
        {"q_offsets": [0, 1]},
        ValueError,
        "q_offsets is given alone or beside page_table; kv_offsets and q_offsets go to",
    ),
    (
        {**PACKED, "q_offsets": [[0, 8]]},
        ValueError,
        "q_offsets has shape [1, 2]; accepted are 1 dimensions [B + 1]",
    ),
    (
        {**PACKED, "q": zeros(1, 8, 4, 16)},
        ValueError,
        "q has shape [1, 8, 4, 16]; accepted are 3 dimensions [Tq, Hq, D]",
    ),
    (
        {**PACKED, "k": zeros(1, 12, 2, 16)},
        ValueError,
        "k has shape [1, 12, 2, 16]; accepted are 3 dimensions [Tk, Hkv, D]",
    ),
    (
        {**PACKED, "kv_lengths": [[12]]},
        ValueError,
        "kv_lengths has shape [1, 1]; accepted are 1 dimensions [B]",
    ),
    (
        {**PACKED, "mask": zeros(8, 12, dtype=bool)},
        ValueError,
        "mask is given with packed or paged keys; it must be None",
    ),
    (
        {**PACKED, "bias": zeros(8, 12)},
        ValueError,
        "bias is given with packed or paged keys; it must be None",
    ),
    (
        {"page_table": [0], "kv_lengths": [3], "k": PAGES, "v": PAGES},
        ValueError,
        "page_table has shape [1]; accepted are 2 dimensions [B, pages of a sequence]",
    ),
    (
        {"page_table": [[0]], "kv_lengths": [3], "k": EMPTY_PAGES, "v": EMPTY_PAGES},
        ValueError,
        "k has shape [3, 2, 0, 16]; its pages must have at least 1 key",
    ),
    ({"kv_offsets": [0, 1]}, ValueError, "kv_offsets and q_offsets go together"),
    (
        {"page_table": [[0]]},
        ValueError,
        "page_table is given without kv_lengths; it needs them",
    ),
    ({"dropout_p": 1.5}, ValueError, "dropout_p is 1.5; accepted is a number from 0"),
    ({"dropout_p": -0.1}, ValueError, "dropout_p is -0.1; accepted is a number"),
    ({"dropout_p": None}, TypeError, "dropout_p is None; accepted is a number"),
    ({"seed": 0.5}, TypeError, "seed is 0.5; accepted is a 64-bit whole number"),
    ({"seed": 2**63}, ValueError, "seed is 9223372036854775808; accepted is a 64-bit"),
    (
        {"layout": "sbhd"},
        ValueError,
        "layout is 'sbhd'; accepted are 'bhsd', 'bshd'",
    ),
    (
        {"precision": "tf32"},
        ValueError,
        "the precision tf32 is of products of f32, and the dtype is f16; accepted is "
        "ieee",
    ),
    (
        {"precision": "tf32x3", **WIDE},
        ValueError,
        "precision: 'precision = tf32x3' is not supported yet",
    ),
    ({"return_lse": "x"}, TypeError, "return_lse is a str; accepted are True and Fal"),
    ({"return_lse": zeros(2)}, TypeError, "return_lse is a numpy.ndarray; accepted"),
    ({"precision": "fast"}, ValueError, "precision is 'fast'; accepted are 'ieee'"),
    ({"empty_row": None}, TypeError, "empty_row is None; accepted are 'zero', 'nan'"),
    (
        {"out_dtype": "float64"},
        ValueError,
        "out_dtype is 'float64'; accepted are float16, bfloat16, float32 as words",
    ),
    ({"out_dtype": np.int8}, ValueError, "accepted are float16, bfloat16, float32"),
    ({"out_dtype": np.dtype("f8")}, ValueError, "accepted are float16, bfloat16"),
    ({"out_dtype": 3}, ValueError, "out_dtype is 3; accepted are float16, bfloat16"),
    ({"out_dtype": NoType}, ValueError, "accepted are float16, bfloat16, float32"),
    (
        {"out": zeros(1, 4, 8, 15)},
        ValueError,
        "out has shape [1, 4, 8, 15]; accepted is [1, 4, 8, 16]",
    ),
    (
        {"out": zeros(1, 4, 8, 16, dtype=np.float64)},
        TypeError,
        "out has dtype float64; accepted are float16, bfloat16, float32",
    ),
    (
        {"out": zeros(1, 4, 8, 16, dtype=np.float32), "out_dtype": "f16"},
        TypeError,
        "out has dtype float32; accepted is float16",
    ),
    ({"out": [1, 2, 3]}, ValueError, "out is 3 arrays; accepted is one, or (out, lse)"),
    (
        {"out": (zeros(1, 4, 8, 16), zeros(1, 4, 8))},
        ValueError,
        "out is a pair without return_lse=True; accepted is one array",
    ),
    (
        {"out": (zeros(1, 4, 8, 16), zeros(1, 4, 8)), "return_lse": True},
        TypeError,
        "lse has dtype float16; accepted is float32",
    ),
    (
        {"out": np.broadcast_to(np.float16(0), (1, 4, 8, 16))},
        ValueError,
        "out is read-only; accepted is a writable array",
    ),
    (
        {"out": np.zeros((1, 4, 8, 16), RECORD)["x"]},
        ValueError,
        "out has strides of [1536, 384, 48, 3] bytes; accepted are multiples of its "
        "2-byte elements",
    ),
    ({"target": "sm_1"}, ValueError, "sm_1"),
    ({"target": "sm_80\0"}, ValueError, "target holds a NUL; accepted is text"),
    ({"target": "\ud800"}, ValueError, "target holds half a character; accepted is"),
    ({"target": 80}, TypeError, "target is a int; accepted is a name"),
    ({"device": "tpu"}, ValueError, "device is 'tpu'; accepted are 'auto', 'cuda'"),
    ({"device": 3}, TypeError, "device is 3; accepted are 'auto', 'cuda'"),
    ({"device": "cuda"}, fa.DeviceError, "cuda"),
    ({"schedule": 3}, TypeError, "schedule is a int; accepted is text such as"),
    ({"target": ""}, ValueError, "target"),
    ({"device": zeros(2)}, TypeError, "device is array([0., 0.], dtype=float16); acc"),
    (
        {"schedule": "tile_q=banana"},
        ValueError,
        "schedule key 'tile_q' must be a whole number between 1 and 65536, found banana",
    ),
    ({"schedule": "x"}, ValueError, "schedule: 'x' is not of the form KEY=V"),
    (
        {"schedule": "tile_q=0"},
        ValueError,
        "schedule key 'tile_q' must be between 1 and 65536, found 0",
    ),
    (
        {"schedule": "tile_q=7"},
        ValueError,
        "schedule key tile_q = 7 must be a multiple of 16 and at least 16",
    ),
    (
        {"schedule": "warps=99"},
        ValueError,
        "schedule key warps = 99 exceeds the 32 warps of a block on sm_80",
    ),
    ({"schedule": "tile_q=512,tile_kv=512"}, ValueError, "schedule "),
    ({"schedule": "splits=2"}, ValueError, "schedule: 'schedule with splits above 1'"),
    (
        {"score": 3},
        TypeError,
        "score is a int; accepted is a function of symbols, or the text",
    ),
    ({"visible": 3}, TypeError, "visible is a int; accepted is a function of symbols"),
    ({"visible": "\0"}, ValueError, "visible holds a NUL; accepted is text"),
    (
        {"score": lambda s, b, h, i, j: None},
        TypeError,
        "score is a function of (s, b, h, i, j) that raised: a NoneType cannot be part",
    ),
    (
        {"visible": lambda b: b},
        TypeError,
        "visible is a function of (b, h, i, j) that raised: <lambda>() takes 1 posit",
    ),
    (
        {"score": lambda s, b, h, i, j: i < j},
        TypeError,
        "score is a function of (s, b, h, i, j) that raised: a truth value is no num",
    ),
    (
        {"score": lambda s, b, h, i, j: s + i * 10**30},
        ValueError,
        "score is a function that raised: 1000000000000000000000000000000 is no 64-bit",
    ),
    ({"score": ""}, ValueError, "score is ''; accepted is a function of symbols"),
    ({"visible": " "}, ValueError, "visible is ' '; accepted is a function of sym"),
    ({"visible": "?"}, fa.CompileError, "visible: expected '{' to begin a region"),
    ({"score": "?"}, fa.CompileError, "score: expected '{' to begin a region"),
    (
        {"score": "{ ^bb0(%s: f32): fa.yield %s : f32 }"},
        fa.CompileError,
        "score: expected the arguments (",
    ),
    ({"score": INDICES + "fa.yield %b : index }"}, fa.CompileError, "score: "),
    ({"score": INDICES + "fa.yield %s : f32"}, fa.CompileError, "score: "),
    (
        {"score": INDICES + "%x = foo.bar %s : f32\n fa.yield %s : f32 }"},
        fa.CompileError,
        "score: ",
    ),
    (
        {"score": INDICES + "fa.yield %s : f32 }", "visible": "{"},
        fa.CompileError,
        "visible: ",
    ),
    (
        {"score": INDICES + "%x = math.sin %s : f32\n fa.yield %x : f32 }"},
        ValueError,
        "score: ",
    ),
]

ORACLE = {"q", "k", "v", "prefix", "causal", "window", "chunk", "precision", "score"}


@pytest.mark.parametrize("number", range(len(MISTAKES)))
def test_mistake(number):
    changes, exception, words = MISTAKES[number]
    arguments = {"q": Q, "k": K, "v": K, **changes}
    with pytest.raises(exception) as caught:
        fa.attention(**arguments)
    assert words in str(caught.value)
    assert type(caught.value) is exception
    # What the caller got wrong is named, not a place in a text of ours.
    assert "<attention>" not in str(caught.value).splitlines()[0]


@pytest.mark.parametrize("name", ["prefix", "window", "chunk", "precision", "score"])
def test_the_oracle_refuses_alike(name):
    """Of what the library refuses, by the same description."""
    rows = [row for row in MISTAKES if name in row[0] and row[0].keys() <= ORACLE]
    assert rows
    for changes, exception, words in rows:
        if words in ("precision: 'precision = tf32x3' is not supported yet",):
            continue  # the oracle knows it
        with pytest.raises(exception) as caught:
            fa.reference.attention(**{"q": Q, "k": K, "v": K, **changes})
        assert words in str(caught.value)
        assert type(caught.value) is exception


EXCEPTIONS = {
    "INPUT": ValueError,
    "DEVICE": fa.DeviceError,
    "FAULT": fa.DeviceError,
    "COMPILE": fa.CompileError,
    "CANCELLED": KeyboardInterrupt,
    "HANDLE": RuntimeError,
    "VERSION": RuntimeError,
    "FORK": RuntimeError,
    "MEMORY": MemoryError,
    "INTERNAL": RuntimeError,
    "UNSUPPORTED": ValueError,
}


@pytest.mark.parametrize("name", EXCEPTIONS)
def test_exception_of_a_status(name):
    failure = Failure.__new__(Failure)
    failure.code = getattr(lib, f"FA_ERROR_{name}")
    failure.message, failure.argument = "key is wrong", "key"
    failure.location, failure.diagnostics = "a.mlir:1:2", ["a.mlir:1:2: more"]
    made = failure.exception()
    assert type(made) is EXCEPTIONS[name]
    assert "a.mlir:1:2: key is wrong" in str(made)
    if name == "INPUT":
        assert str(made) == "k: a.mlir:1:2: key is wrong"
    assert ("more" in str(made)) == (name in ("DEVICE", "FAULT", "COMPILE"))


def test_every_status_has_an_exception():
    statuses = {n for n in dir(lib) if n.startswith("FA_ERROR_")}
    assert statuses == {f"FA_ERROR_{name}" for name in EXCEPTIONS}


LSE = zeros(1, 4, 8, dtype=np.float32)
MERGES = [
    (3, TypeError, "parts is a int; accepted is a list of pairs"),
    ([], ValueError, "parts is empty; accepted is a list of pairs"),
    ([Q], TypeError, "parts[0] is no pair"),
    ([(Q, Q)], ValueError, "lse of parts[0] has shape [1, 4, 8, 16]; accepted are 3"),
    ([(Q, zeros(1, 4, 8))], TypeError, "lse of parts[0] has dtype float16"),
    ([(Q[0], zeros(1, 4, 8))], ValueError, "out of parts[0] has shape [4, 8, 16]"),
    (
        [(Q, zeros(1, 4, 8, dtype=np.float32)), (K, zeros(1, 2, 12))],
        ValueError,
        "out of parts[1] has shape [1, 2, 12, 16]; accepted is [1, 4, 8, 16]",
    ),
    (
        [(zeros(1, 4, 8, 16, dtype=np.float64), LSE)],
        TypeError,
        "out of parts[0] has dtype float64; accepted are float16, bfloat16, float32",
    ),
    (
        [(Q, LSE), (Q.astype(np.float32), LSE)],
        TypeError,
        "out of parts[1] has dtype float32; accepted is that of parts[0], float16",
    ),
    ([(Q, None)], TypeError, "lse of parts[0] is a NoneType; accepted is a NumPy"),
    (
        [(Q, LSE), (Q, LSE[:, :, 1:])],
        ValueError,
        "lse of parts[1] has shape [1, 4, 7]; accepted is [1, 4, 8] [B, Hq, Sq]",
    ),
]


@pytest.mark.parametrize("number", range(len(MERGES)))
def test_merge(number):
    parts, exception, words = MERGES[number]
    with pytest.raises(exception) as caught:
        fa.merge(parts)
    assert words in str(caught.value)


def test_merge_layout():
    with pytest.raises(ValueError, match="layout is 'sbhd'; accepted are 'bhsd'"):
        fa.merge([(Q, LSE)], layout="sbhd")
    with pytest.raises(ValueError, match=r"lse of parts\[0\] has shape \[1, 4, 8\]"):
        fa.merge([(Q, LSE)], layout="bshd")


def test_failed_compilation_is_not_cached():
    wide = zeros(1, 1, 4, 300)
    for _ in range(2):
        with pytest.raises(ValueError, match="head dim D = 300 is not supported yet"):
            fa.attention(wide, wide, wide)
