# ===- _attention.py - fa.attention --------------------------------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fa import _arguments, _devices, _kernels, _results
from fa._arrays import view, writable
from fa._checks import kind_of, word
from fa._dtypes import NAME, NUMPY, RESULTS, parse_out_dtype, words
from fa._errors import ARGUMENTS, Failure
from fa._launch import launch
from fa._library import lib
from fa._types import Array, Result

_OP = "'fa.attention' op "


def refusal(failure: Failure) -> BaseException:
    """A failure as users of fa.attention see it: what the compiler does not do
    yet is a wrong argument, named as they know it."""
    if failure.code != lib.FA_ERROR_COMPILE or not failure.argument:
        return failure.exception()
    argument = ARGUMENTS.get(failure.argument, failure.argument)
    return ValueError(f"{argument}: {failure.message.removeprefix(_OP)}")


def _optional_word(value, name: str, meaning: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{name} is a {kind_of(value)}; accepted is {meaning}")
    return value


def _check_where(target, device, schedule) -> None:
    _optional_word(target, "target", "a name such as 'sm_80', or None")
    _optional_word(schedule, "schedule", "text such as 'tile_q=64,stages=3', or None")
    if device is not None:
        names = [one["name"] for one in _devices.facts()["devices"]]
        word(device, "device", ("auto", *names))


def _split_out(out, return_lse: bool):
    """`out` as the array for the result and the one for the log-sum-exp."""
    if not isinstance(out, (tuple, list)):
        return out, None
    if len(out) != 2:
        raise ValueError(f"out is {len(out)} arrays; accepted is one, or (out, lse)")
    if not return_lse:
        raise ValueError("out is a pair without return_lse=True; accepted is one array")
    return out


def _type_of_out(out, out_dtype):
    """`out` decides the type of the result where out_dtype does not."""
    if out is None or out_dtype is not None:
        return out_dtype
    dtype = view(out, "out").dtype
    if NAME.get(dtype) not in RESULTS:
        raise TypeError(f"out has dtype {dtype.name}; accepted are {words(RESULTS)}")
    return dtype


def _place(given, name: str, shape: tuple, dtype: np.dtype, like):
    """Where a result goes: what the user gets, and NumPy's view of it."""
    if given is None:
        return _results.make(shape, dtype, like)
    return given, writable(given, name, shape, dtype)


def attention(
    q: Array,
    k: Array,
    v: Array,
    *,
    scale: float | Array | None = None,
    causal: bool | str = False,
    window: tuple[int, int] | None = None,
    prefix: int | None = None,
    chunk: int | None = None,
    softcap: float | None = None,
    bias: Array | None = None,
    mask: Array | None = None,
    alibi_slopes: Array | None = None,
    sink: Array | None = None,
    q_offsets: Array | Sequence[int] | None = None,
    kv_offsets: Array | Sequence[int] | None = None,
    q_lengths: Array | Sequence[int] | None = None,
    kv_lengths: Array | Sequence[int] | None = None,
    segments: tuple[Array, Array] | None = None,
    page_table: Array | None = None,
    scales: tuple[Array, Array, Array] | None = None,
    score: Callable | str | None = None,
    visible: Callable | str | None = None,
    dropout_p: float = 0.0,
    seed: int = 0,
    layout: str = "bhsd",
    precision: str = "ieee",
    empty_row: str = "zero",
    out_dtype: Any = None,
    return_lse: bool = False,
    out: Array | tuple[Array, Array] | None = None,
    target: str | None = None,
    device: str | None = None,
    schedule: str | None = None,
) -> Result | tuple[Result, Result]:
    """softmax(scale q k^T, masked) v, by a FlashAttention kernel.

    q [B, Hq, Sq, D], k [B, Hkv, Sk, D] and v [B, Hkv, Sk, Dv] are NumPy arrays
    (with ml_dtypes for bfloat16) or objects with DLPack, in any strides, of one
    type: float16, bfloat16 or float32. Hq is a multiple of Hkv; query head h uses
    head h * Hkv // Hq. The result has shape [B, Hq, Sq, Dv] and comes back as
    what q is: a torch tensor for a torch tensor, else a NumPy array.

    scale       factor of the scores; 1/sqrt(D) without one. A number is part of
                the kernel; a float32 array of one element is read at each call.
    causal      False; "top_left": key j is visible to query i if j <= i;
                "bottom_right": if j <= i + Sk - Sq (the last query sees the last
                key; with lengths, the last valid ones); True where both agree,
                that is for Sq = Sk without lengths, offsets and pages.
    window      (left, right): -left <= j - i - offset <= right, both inclusive,
                -1 unbounded. Offset by the alignment of `causal`, bottom_right
                without one.
    chunk       size: query and key see each other within chunks of `size` keys,
                aligned as `window` is.
    prefix      the first `prefix` keys are visible in spite of `causal`.
    mask        bool, True = visible, broadcasts to [B, Hq, Sq, Sk] from the right.
    q_lengths, kv_lengths
                whole numbers [B]: how many queries and keys are valid. Results of
                other queries are 0, their log-sum-exp is -inf.
    layout      order of the dimensions of q, k, v and the result: "bhsd", "bshd".
    empty_row   what a query gives that sees no key: "zero" (and -inf), "nan", or
                "uniform", the mean of v, which the compiler has yet to learn.
    out_dtype   type of the result, that of q without one.
    return_lse  also return the natural logarithm of the sum of exp(score) of each
                row, float32 [B, Hq, Sq] in every layout.
    out         array that the result is written into, or (out, lse); returned. It
                must not overlap an input.
    device      "auto" (None), or a name of fa.devices(); target "sm_80", ... by
                the device; schedule as on the command line, "tile_q=64,stages=3".

    softcap, bias, alibi_slopes, sink, q_offsets, kv_offsets, segments, page_table,
    scales, score, visible, dropout_p, seed and precision are the clauses of the
    same names in the dialect; what the compiler does not do yet is refused.

    A kernel is compiled once for each combination of types, head dimensions,
    clauses, schedule and target, whatever the lengths.

    Raises TypeError and ValueError that name the argument, fa.CompileError,
    fa.DeviceError; KeyboardInterrupt stops a launch and leaves `out` as it was.
    Source: docs/generated/dialect.md, fa.attention.
    """
    _check_where(target, device, schedule)
    out, lse = _split_out(out, return_lse)
    call = _arguments.read(
        q,
        k,
        v,
        scale=scale,
        causal=causal,
        window=window,
        prefix=prefix,
        chunk=chunk,
        softcap=softcap,
        bias=bias,
        mask=mask,
        alibi_slopes=alibi_slopes,
        sink=sink,
        q_offsets=q_offsets,
        kv_offsets=kv_offsets,
        q_lengths=q_lengths,
        kv_lengths=kv_lengths,
        segments=segments,
        page_table=page_table,
        scales=scales,
        score=score,
        visible=visible,
        dropout_p=dropout_p,
        seed=seed,
        layout=layout,
        precision=precision,
        empty_row=empty_row,
        out_dtype=parse_out_dtype(_type_of_out(out, out_dtype)),
        return_lse=return_lse,
    )
    return run(call, out, lse, like=q, target=target, device=device, schedule=schedule)


def run(call, out, lse, *, like, target, device, schedule):
    """Finds the kernel of a call and launches it."""
    dtype = NUMPY[call.description.out_dtype]
    places = [_place(out, "out", call.out_shape, dtype, like)]
    if call.description.with_lse:
        places.append(_place(lse, "lse", call.lse_shape, NUMPY["f32"], like))
    try:
        target = target or _devices.default_target(device)
        kernel = _kernels.find(call.description, schedule, target)
        launch(kernel, call.inputs, [view for _, view in places], device=device)
    except Failure as failure:
        raise refusal(failure) from None
    made = [
        result if given is not None else _results.finish(result, like)
        for (result, _), given in zip(places, (out, lse))
    ]
    return tuple(made) if call.description.with_lse else made[0]
