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

from fa import _arguments, _devices, _kernels, _plans, _results
from fa._arrays import anywhere, check_place, writable
from fa._checks import kind_of, word
from fa._dlpack import is_torch
from fa._dtypes import NAME, NUMPY, RESULTS, parse_out_dtype, words
from fa._errors import DeviceError, Failure, refusal
from fa._launch import launch
from fa._types import Array, Result


def _optional_word(value, name: str, meaning: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{name} is a {kind_of(value)}; accepted is {meaning}")
    return value


def _check_where(target, device, schedule) -> str | None:
    _optional_word(target, "target", "a name such as 'sm_80', or None")
    _optional_word(schedule, "schedule", "text such as 'tile_q=64,stages=3', or None")
    if device is None:
        return None
    if isinstance(device, str) and device == "cuda:0":
        return "cuda"
    names = [one["name"] for one in _devices.facts()["devices"]]
    return word(device, "device", ("auto", *names))


def _device_of(place: str | None, device: str | None) -> str | None:
    """The device of a call whose arrays lie on a GPU, or in host memory."""
    if place is None:
        return device
    if device not in (None, "auto", place):
        raise ValueError(
            f"device is {device!r}, and q lies on {place}; accepted are None, 'auto' "
            f"and {place!r}"
        )
    known = {one["name"]: one for one in _devices.facts()["devices"]}
    if place not in known or not known[place]["available"]:
        reason = known[place]["reason"] if place in known else "there is none"
        raise DeviceError(f"q lies on {place}, which is not available: {reason}")
    return place


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
    dtype = anywhere(out, "out").dtype
    if NAME.get(dtype) not in RESULTS:
        raise TypeError(f"out has dtype {dtype.name}; accepted are {words(RESULTS)}")
    return dtype


class _Results:
    """Where the results of a call go: what the user gets, and views of it."""

    def __init__(self, call, out, lse, *, like):
        self.like, self.given = like, [out]
        wanted = [("out", call.out_shape, NUMPY[call.description.out_dtype])]
        if call.description.with_lse:
            self.given.append(lse)
            wanted.append(("lse", call.lse_shape, NUMPY["f32"]))
        places = [
            _place(given, *one, call.place, like)
            for given, one in zip(self.given, wanted)
        ]
        self.made, self.views = zip(*places)
        self.stream = {}
        if call.place is not None:
            self.stream = _results.stream_of(like)

    def finish(self):
        made = [
            result if given is not None else _results.finish(result, self.like)
            for result, given in zip(self.made, self.given)
        ]
        return made[0] if len(made) == 1 else tuple(made)


def _place(given, name: str, shape: tuple, dtype: np.dtype, place, like):
    """Where one result goes: what the user gets, and a view of it."""
    if given is None and place is not None and not is_torch(like):
        raise ValueError(
            f"{name} is None, and q lies on {place} and is no torch tensor; accepted "
            "is an array there"
        )
    if given is None:
        return _results.make(shape, dtype, like)
    view = writable(given, name, shape, dtype)
    check_place(view, name, place)
    return given, view


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
                "uniform", the mean of v.
    out_dtype   type of the result, that of q without one.
    return_lse  also return the natural logarithm of the sum of exp(score) of each
                row, float32 [B, Hq, Sq] in every layout.
    out         array that the result is written into, or (out, lse); returned. It
                must not overlap an input.
    device      "auto" (None), or a name of fa.devices(); target "sm_80", ... by
                the device; schedule as on the command line, "tile_q=64,stages=3".

    Arrays on a GPU are used where they are, all on one; lengths are int32 there.
    The kernel of torch tensors goes into torch's current stream, and the call does
    not wait for it; else it goes into the default stream, and needs `out`.

    softcap, bias, alibi_slopes, sink, q_offsets, kv_offsets, segments, page_table,
    scales, score, visible, dropout_p, seed and precision are the clauses of the
    same names in the dialect; what the compiler does not do yet is refused.

    A kernel is compiled once for each combination of types, head dimensions,
    clauses, schedule and target, whatever the lengths.

    Raises TypeError and ValueError that name the argument, fa.CompileError,
    fa.DeviceError; KeyboardInterrupt stops a launch and leaves `out` as it was.
    Source: docs/generated/dialect.md, fa.attention.
    """
    arrays = (q, k, v, bias, mask, alibi_slopes, sink, q_lengths, kv_lengths)
    others = (q_offsets, kv_offsets, segments, page_table, scales)
    words = (
        *(scale, causal, window, prefix, chunk, softcap, score, visible, dropout_p),
        *(seed, layout, precision, empty_row, out_dtype, return_lse),
        *(target, device, schedule),
    )
    key = None
    if all(other is None for other in others):
        key = _plans.key_of(arrays, out, words, window)
    plan = _plans.find(key, out)
    if plan is not None:
        try:
            return plan.run(arrays, out)
        except Failure as failure:
            raise refusal(failure) from None
    device = _check_where(target, device, schedule)
    only, lse = _split_out(out, return_lse)
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
        out_dtype=parse_out_dtype(_type_of_out(only, out_dtype)),
        return_lse=return_lse,
    )
    device = _device_of(call.place, device)
    results = _Results(call, only, lse, like=q)
    try:
        slot = _kernels.find(
            call.description,
            schedule,
            _devices.default_target(device) if target is None else target,
        )
        options = {"device": device, **results.stream}
        launch(slot.kernel, call.inputs, results.views, **options)
    except Failure as failure:
        raise refusal(failure) from None
    _plans.keep(key, arrays, call.inputs, slot, results.views, options)
    return results.finish()
