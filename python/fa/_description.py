# ===- _description.py - one attention, clause by clause: what a kernel is for -=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""A Description is all that a kernel depends on beside schedule and target. It
holds no length, no batch and no number of heads: those stay open."""

from __future__ import annotations

from typing import Any, NamedTuple

from fa._dtypes import CODE
from fa._library import encoded, ffi, lib, struct

OPERAND = "operand"  # a scale that comes with each launch


class Mask(NamedTuple):
    """A structural mask; fields as in fa_mask."""

    kind: str  # "causal", "window", "chunk"
    bottom_right: bool
    prefix: int = 0
    left: int = -1
    right: int = -1
    size: int = 0


class Broadcast(NamedTuple):
    """A dense operand: each extent is 1 or, where it is open, -1."""

    dtype: str
    shape: tuple


class Description(NamedTuple):
    """Fields as in fa_attention; hashable, and equal where kernels are."""

    dtype: str
    out_dtype: str
    with_lse: bool
    layout: str
    head_dim: int
    value_dim: int
    scale: float | str | None = None
    masks: tuple = ()
    softcap: float | None = None
    bias: Broadcast | None = None
    mask: Broadcast | None = None
    has_alibi: bool = False
    has_sink: bool = False
    has_q_lengths: bool = False
    has_kv_lengths: bool = False
    has_segments: bool = False
    has_scales: bool = False
    is_packed: bool = False
    page_size: int = 0
    dropout: float | None = None
    score: str | None = None
    visible: str | None = None
    precision: str = "ieee"
    empty_row: str = "zero"


_KINDS = {
    "causal": lib.FA_MASK_CAUSAL,
    "window": lib.FA_MASK_WINDOW,
    "chunk": lib.FA_MASK_CHUNK,
}
_SAME = (
    "head_dim",
    "value_dim",
    "has_alibi",
    "has_sink",
    "has_q_lengths",
    "has_kv_lengths",
    "has_segments",
    "has_scales",
    "is_packed",
    "page_size",
)


def _fill_masks(op, masks: tuple, kept: list) -> None:
    if not masks:
        return
    array = ffi.new("fa_mask[]", len(masks))
    for entry, mask in zip(array, masks):
        entry.kind = _KINDS[mask.kind]
        for field in ("bottom_right", "prefix", "left", "right", "size"):
            setattr(entry, field, getattr(mask, field))
    op.masks, op.mask_count = array, len(masks)
    kept.append(array)


def _fill_broadcast(field, given: Broadcast | None) -> None:
    if given is not None:
        field.dtype = CODE[given.dtype]
        field.rank = len(given.shape)
        field.shape[0 : len(given.shape)] = list(given.shape)


def to_struct(description: Description):
    """fa_attention * and what it points to, as a pair to keep together."""
    op = struct("fa_attention")
    kept: list[Any] = []
    op.dtype, op.out_dtype = CODE[description.dtype], CODE[description.out_dtype]
    op.with_lse = description.with_lse
    for field in ("batch", "q_heads", "kv_heads", "q_length", "kv_length"):
        setattr(op, field, lib.FA_DYNAMIC)
    for field in _SAME:
        setattr(op, field, getattr(description, field))
    if description.scale == OPERAND:
        op.scale_kind = lib.FA_SCALE_OPERAND
    elif description.scale is not None:
        op.scale_kind, op.scale = lib.FA_SCALE_NUMBER, description.scale
    _fill_masks(op, description.masks, kept)
    if description.softcap is not None:
        op.has_softcap, op.softcap = True, description.softcap
    _fill_broadcast(op.bias, description.bias)
    _fill_broadcast(op.mask, description.mask)
    if description.dropout is not None:
        op.has_dropout, op.dropout = True, description.dropout
    for field in ("layout", "score", "visible", "precision", "empty_row"):
        word = getattr(description, field)
        if word is not None:
            kept.append(encoded(word, field))
            setattr(op, field, kept[-1])
    return op, kept
