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

    B batches; Hq heads of queries, a positive multiple of the Hkv heads of K and V:
    query head h uses head h * Hkv // Hq; Sq queries and Sk keys of D numbers, values
    of Dv. An array is a NumPy array (ml_dtypes has bfloat16) or an object with
    DLPack, in any strides. Query i and key j count from 0 within their sequence.

    A score goes through scale, softcap, score, alibi_slopes and bias, in this order,
    and is in natural units: a key weighs exp(score). Then come masks, sink, softmax
    and dropout.

    q           [B, Hq, Sq, D], float16, bfloat16 or float32; D from 1 to 256.
                float8_e4m3fn and float8_e5m2 are not compiled yet.
    k           [B, Hkv, Sk, D], of the type of q.
    v           [B, Hkv, Sk, Dv], of the type of q; Dv from 1 to 256.
    scale       factor of q k^T, without a unit; 1/sqrt(D), rounded to float32,
                without one. A finite number, of which |scale| log2(e) is finite in
                float32, is part of the kernel; a float32 array of one element, in
                host memory, is read at each call.
    causal      False; "top_left": key j is visible to query i if j <= i;
                "bottom_right": if j <= i + Sk - Sq (the last query sees the last
                key; with lengths, the last valid ones); True where both agree,
                that is for Sq = Sk without lengths, offsets and pages.
    window      (left, right), whole numbers of keys from 0 to 2**31 - 1, or -1,
                unbounded: -left <= j - i - offset <= right, both inclusive. Offset
                by the alignment of `causal`, bottom_right without one.
    prefix      the first `prefix` keys are visible in spite of `causal`, which it
                needs; other masks still apply. A whole number of keys from 0 to
                2**31 - 1.
    chunk       size in keys, a whole number from 1 to 2**30; query and key see each
                other within a chunk: (i + offset) // chunk == j // chunk, aligned
                as `window` is.
    softcap     cap of the scores, in their unit: softcap * tanh(score / softcap). A
                number above 0 that is, like its reciprocal, finite in float32; None
                is off.
    bias        added to the scores, in their unit; -inf hides its key. float16,
                bfloat16 or float32, 1 to 4 dimensions that broadcast to
                [B, Hq, Sq, Sk] from the right. Not for packed or paged keys.
    mask        True = visible. bool, 1 to 4 dimensions that broadcast to
                [B, Hq, Sq, Sk] from the right. Not for packed or paged keys.
    alibi_slopes
                [Hq], float32, scores per key of distance: score -
                alibi_slopes[h] * |i + offset - j|, aligned as `window` is.
    sink        [Hq], float32: the score, in natural units, of one more key that
                every query of the head sees and that has no value. Neither scaled
                nor capped.
    q_offsets, kv_offsets
                [B + 1], integers: where each sequence begins and the last one ends,
                for packed q [Tq, Hq, D], k [Tk, Hkv, D] and v [Tk, Hkv, Dv], with a
                result [Tq, Hq, Dv] and a log-sum-exp [Hq, Tq]. Both together, or
                q_offsets with page_table. Not compiled yet.
    q_lengths, kv_lengths
                [B], integers: how many queries, 0 to Sq, and keys, 0 to Sk, are
                valid. Results of other queries are 0, their log-sum-exp is -inf.
    segments    (of queries [B, Sq], of keys [B, Sk]), integers, the numbers of
                documents: a key is visible only to queries with the same number.
    page_table  [B, pages of a sequence], integers, the numbers of pages, for paged
                k [pages, Hkv, page_size, D] and v [pages, Hkv, page_size, Dv]; needs
                kv_lengths. Not compiled yet.
    scales      (of q, of k, of v), each [B, Hkv], float32, without a unit: value =
                scale * stored, for q of fp8 alone. Not compiled yet.
    score       function of symbols (s, b, h, i, j), or the text of a region,
                "{ ^bb0(%s: f32, %b: index, ...): ... }": the score, float32 in natural
                units, that replaces s. fa.math says what it may be made of.
    visible     function of symbols (b, h, i, j), or the text of a region: whether
                key j is visible to query i, bool.
    dropout_p   probability, from 0 to 1, that a weight is dropped: where word 0 of
                Philox4x32-10(key = seed, counter = (j, i, h, b)) is below
                floor(dropout_p * 2**32). Others are divided by 1 - dropout_p, and
                the log-sum-exp stays as it was.
    seed        64-bit whole number, -2**63 to 2**63 - 1, read at each call.
    layout      order of the dimensions of q, k, v and the result: "bhsd", "bshd".
    precision   of products of float32: "ieee"; "tf32x3" and "tf32", for float32
                alone, are not compiled yet.
    empty_row   what a query gives that sees no key and has no sink: "zero" (and a
                log-sum-exp of -inf), "nan" (both), or "uniform", the mean of v (and
                -inf).
    out_dtype   type of the result: float16, bfloat16 or float32, as a word, a NumPy
                or a torch type. None: that of `out`, else of q.
    return_lse  bool: also return the natural logarithm of the sum of exp(score) of
                each row, float32 [B, Hq, Sq] in every layout.
    out         [B, Hq, Sq, Dv], writable array that the result is written into, of a
                type that out_dtype may be; with return_lse also (out, lse), lse
                float32 [B, Hq, Sq]. Returned. It must overlap neither an input nor
                itself.
    target      "sm_80", ...: what the kernel is compiled for; None: by the device.
                python -m fa lists them.
    device      "auto" (None), or a name of fa.devices(). Arrays on a GPU are used
                where they are.
    schedule    text as on the command line, "tile_q=64,stages=3"; None: chosen.

    Returns [B, Hq, Sq, Dv] (in `layout`), or (that, log-sum-exp) with return_lse, as
    what q is: a torch tensor for a torch tensor, else a NumPy array.

    Arrays on a GPU lie all on one; integers are int32 there, and lengths beyond the
    extents are clamped. The kernel of torch tensors goes into torch's current stream,
    and the call does not wait for it; else it goes into the default stream, and needs
    `out`.

    A kernel is compiled once for each combination of types, head dimensions,
    clauses, schedule and target, whatever the lengths.

    Raises TypeError (an argument of another kind or type) and ValueError (another
    shape, number or word, and what is not compiled yet), which name the argument, what
    was found and what is accepted; fa.CompileError, with the diagnostics, for the text
    of a region that is no MLIR or not of its form; fa.DeviceError for a device that is
    missing or failed. KeyboardInterrupt stops a launch and leaves `out` as it was.
    Source: docs/Semantics.md for what each clause computes, docs/Support.md for which
    are compiled, docs/generated/dialect.md for the op.
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
