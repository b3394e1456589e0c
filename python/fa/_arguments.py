# ===- _arguments.py - the semantic arguments, checked, as a description -=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""What fa.attention and fa.reference.attention share: every argument that says
what is computed. Each refusal names the argument, what it is, and what it may be.
"""

from __future__ import annotations

import numpy as np

from fa._arrays import check_place, place_of, single_floats, whole_numbers
from fa._checks import check_rank, check_shape, flag, number, whole, word
from fa._clauses import (
    alignment,
    read_broadcast,
    read_masks,
    read_pair,
    read_region,
    read_scale,
)
from fa._description import Description
from fa._dtypes import NAME, parse_out_dtype, words
from fa._extents import Extents, read_qkv

_FP8 = ("f8E4M3FN", "f8E5M2")


class Call:
    """Arguments of one call: `description`, `inputs` in the library's order, and
    the shapes of the results. `place` is the GPU they lie on, None in host memory."""

    def __init__(self, description, inputs, out_shape, lse_shape):
        self.description = description
        self.inputs = inputs
        self.out_shape = out_shape
        self.lse_shape = lse_shape
        self.place = place_of(inputs[0])


def _check_forms(has_q_offsets, has_kv_offsets, is_paged, has_kv_lengths) -> None:
    """What belongs together."""
    if has_kv_offsets != (has_q_offsets and not is_paged):
        one = "kv_offsets" if has_kv_offsets else "q_offsets"
        raise ValueError(
            f"{one} is given alone or beside page_table; kv_offsets and q_offsets go "
            "together, and with page_table there is q_offsets alone"
        )
    if is_paged and not has_kv_lengths:
        raise ValueError("page_table is given without kv_lengths; it needs them")


def _read_softcap(softcap) -> float | None:
    meaning = "a finite number above 0, or None for off"
    if softcap is None:
        return None
    softcap = number(softcap, "softcap", meaning)
    if softcap <= 0:
        raise ValueError(f"softcap is {softcap}; accepted is {meaning}")
    return softcap


def _read_dropout(dropout_p) -> float | None:
    meaning = "a number from 0 to 1"
    dropout_p = number(dropout_p, "dropout_p", meaning)
    if not 0 <= dropout_p <= 1:
        raise ValueError(f"dropout_p is {dropout_p}; accepted is {meaning}")
    return dropout_p or None


class _Inputs:
    """Operands in the library's order, and the flags that go with them."""

    def __init__(self, q, k, v):
        self.arrays = [q]
        self.flags = {}
        self.add(k, "k")
        self.add(v, "v")

    def add(self, array, name) -> None:
        if array is not None:
            check_place(array, name, place_of(self.arrays[0]))
            self.arrays.append(array)

    def add_scalar(self, array) -> None:
        """One that is read at the call, and lies in host memory always."""
        if array is not None:
            self.arrays.append(array)

    def add_lengths(self, value, name, count) -> None:
        if value is None:
            return
        array = whole_numbers(value, name)
        if count is None:
            check_rank(array, name, 1, "B")
        else:
            check_shape(array, name, (count,), "B")
        self.flags["has_" + name] = True
        self.add(array, name)

    def add_heads(self, value, name, flag, heads) -> None:
        if value is None:
            return
        array = single_floats(value, name)
        check_shape(array, name, (heads,), "Hq")
        self.flags[flag] = True
        self.add(array, name)

    def add_segments(self, segments, sizes) -> None:
        if segments is None:
            return
        pair = read_pair(segments, "segments", 2)
        for value, length, dims in zip(pair, (sizes.Sq, sizes.Sk), ("Sq", "Sk")):
            array = whole_numbers(value, "segments")
            check_shape(array, "segments", (sizes.B, length), f"B, {dims}")
            self.add(array, "segments")
        self.flags["has_segments"] = True

    def add_scales(self, scales, dtype) -> None:
        if scales is None:
            return
        if dtype not in _FP8:
            raise ValueError(
                f"scales is given with q of {words([dtype])}; only fp8 operands "
                "carry scales"
            )
        for value in read_pair(scales, "scales", 3):
            array = single_floats(value, "scales")
            check_rank(array, "scales", 2, "B, Hkv")
            self.add(array, "scales")
        self.flags["has_scales"] = True

    def add_table(self, value, name, dims) -> None:
        """Whole numbers whose extents say how many sequences there are."""
        if value is None:
            return
        array = whole_numbers(value, name)
        check_rank(array, name, len(dims.split(",")), dims)
        self.add(array, name)


def read(
    q,
    k,
    v,
    *,
    scale=None,
    causal=False,
    window=None,
    prefix=None,
    chunk=None,
    softcap=None,
    bias=None,
    mask=None,
    alibi_slopes=None,
    sink=None,
    q_offsets=None,
    kv_offsets=None,
    q_lengths=None,
    kv_lengths=None,
    segments=None,
    page_table=None,
    scales=None,
    score=None,
    visible=None,
    dropout_p=0.0,
    seed=0,
    layout="bhsd",
    precision="ieee",
    empty_row="zero",
    out_dtype=None,
    return_lse=False,
) -> Call:
    """Checks every semantic argument; the names are those of fa.attention."""
    word(layout, "layout", ("bhsd", "bshd"))
    word(precision, "precision", ("ieee", "tf32x3", "tf32"))
    word(empty_row, "empty_row", ("zero", "nan", "uniform"))
    is_packed, is_paged = q_offsets is not None, page_table is not None
    _check_forms(is_packed, kv_offsets is not None, is_paged, kv_lengths is not None)
    arrays = read_qkv(q, k, v)
    query, key, value = arrays
    sizes = Extents(query, key, value, layout, is_packed, is_paged)
    dtype = NAME[arrays[0].dtype]
    is_plain = not (is_packed or is_paged)
    is_plain = is_plain and q_lengths is None and kv_lengths is None
    align = alignment(causal, sizes.Sq == sizes.Sk, is_plain)
    masks = read_masks(align, window, prefix, chunk)
    softcap = _read_softcap(softcap)
    dropout = _read_dropout(dropout_p)
    seed = whole(seed, "seed", -(2**63), "a 64-bit whole number")
    scale, scale_operand = read_scale(scale)

    # In the order of fa_attention.
    inputs = _Inputs(*arrays)
    inputs.add_scalar(scale_operand)
    bias, operand = read_broadcast(bias, "bias", ("f16", "bf16", "f32"), sizes)
    inputs.add(operand, "bias")
    mask, operand = read_broadcast(mask, "mask", ("i1",), sizes)
    inputs.add(operand, "mask")
    inputs.add_heads(alibi_slopes, "alibi_slopes", "has_alibi", sizes.Hq)
    inputs.add_heads(sink, "sink", "has_sink", sizes.Hq)
    inputs.add_lengths(q_lengths, "q_lengths", sizes.B)
    inputs.add_lengths(kv_lengths, "kv_lengths", sizes.B)
    inputs.add_segments(segments, sizes)
    inputs.add_scales(scales, dtype)
    inputs.add_table(q_offsets, "q_offsets", "B + 1")
    inputs.add_table(kv_offsets, "kv_offsets", "B + 1")
    inputs.add_table(page_table, "page_table", "B, pages of a sequence")
    if dropout:
        inputs.add_scalar(np.asarray(seed, np.int64))
    description = Description(
        dtype=dtype,
        out_dtype=parse_out_dtype(out_dtype) or ("bf16" if dtype in _FP8 else dtype),
        with_lse=flag(return_lse, "return_lse"),
        layout=layout,
        head_dim=sizes.D,
        value_dim=sizes.Dv,
        scale=scale,
        masks=masks,
        softcap=softcap,
        bias=bias,
        mask=mask,
        is_packed=is_packed,
        page_size=sizes.page_size if is_paged else 0,
        dropout=dropout,
        score=read_region(score, "score"),
        visible=read_region(visible, "visible"),
        precision=precision,
        empty_row=empty_row,
        **inputs.flags,
    )
    return Call(description, inputs.arrays, sizes.out_shape(), sizes.lse_shape())
