# ===- torch.py - the operator fa::attention of PyTorch ------------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""fa.attention as an operator that torch.compile and torch.export keep whole.

    import fa.torch
    out = fa.torch.attention(q, k, v, causal="bottom_right")

Needs PyTorch 2.4 or newer. Tensors in host memory run on the PTX machine; those on
a GPU run where they are, in the current stream, all on one GPU. The operator has
no gradient yet.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

import fa
from fa._clauses import alignment, read_pair, read_region

__all__ = ["attention"]

# Operators know no unions and no functions: `causal`, `score` and `visible` travel
# as text. Tensors go by position.
_SCHEMA = (
    "(Tensor q, Tensor k, Tensor v, Tensor? bias=None, Tensor? mask=None, "
    "Tensor? alibi_slopes=None, Tensor? sink=None, Tensor? q_lengths=None, "
    "Tensor? kv_lengths=None, Tensor? q_segments=None, Tensor? kv_segments=None, *, "
    "float? scale=None, str causal='', "
    "int[]? window=None, int? prefix=None, int? chunk=None, float? softcap=None, "
    "str? score=None, str? visible=None, float dropout_p=0.0, int seed=0, "
    "str layout='bhsd', str precision='ieee', str empty_row='zero', "
    "ScalarType? out_dtype=None, str? target=None, str? device_name=None, "
    "str? schedule=None) -> (Tensor, Tensor)"
)
_OPTIONAL = (
    *("bias", "mask", "alibi_slopes", "sink", "q_lengths", "kv_lengths"),
    *("q_segments", "kv_segments"),
)


def _out_type(q: torch.Tensor, out_dtype: torch.dtype | None) -> torch.dtype:
    if out_dtype is not None:
        return out_dtype
    return torch.bfloat16 if q.dtype.itemsize == 1 else q.dtype


@torch.library.custom_op(
    "fa::attention", mutates_args=(), device_types=("cpu", "cuda"), schema=_SCHEMA
)
def _attention(q, k, v, *optional, causal="", out_dtype=None, device_name=None, **more):
    given = {n: t.detach() for n, t in zip(_OPTIONAL, optional) if t is not None}
    segments = given.pop("q_segments", None), given.pop("kv_segments", None)
    return fa.attention(
        q.detach(),
        k.detach(),
        v.detach(),
        causal=causal or False,
        out_dtype=_out_type(q, out_dtype),
        device=device_name,
        return_lse=True,
        segments=None if segments == (None, None) else segments,
        **given,
        **more,
    )


@_attention.register_fake
def _fake(q, k, v, *optional, layout="bhsd", out_dtype=None, **more):
    """Shapes and types of the results, for tracing."""
    torch._check(q.dim() == 4, lambda: f"q has {q.dim()} dimensions; accepted are 4")
    torch._check(k.dim() == 4, lambda: f"k has {k.dim()} dimensions; accepted are 4")
    torch._check(v.dim() == 4, lambda: f"v has {v.dim()} dimensions; accepted are 4")
    heads, length = (2, 1) if layout == "bshd" else (1, 2)
    out = q.new_empty((*q.shape[:3], v.shape[3]), dtype=_out_type(q, out_dtype))
    rows = (q.shape[0], q.shape[heads], q.shape[length])
    return out, q.new_empty(rows, dtype=torch.float32)


def _causal_word(causal, q, k, layout: str, is_plain: bool) -> str:
    """`causal` of fa.attention as the operator takes it. Lengths that may be
    symbols are compared for True alone."""
    length = 1 if layout == "bshd" else 2
    is_square = causal is True and q.shape[length] == k.shape[length]
    return alignment(causal, is_square, is_plain) or ""


def attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    scale: float | None = None,
    causal: bool | str = False,
    window: Sequence[int] | None = None,
    prefix: int | None = None,
    chunk: int | None = None,
    softcap: float | None = None,
    bias: torch.Tensor | None = None,
    mask: torch.Tensor | None = None,
    alibi_slopes: torch.Tensor | None = None,
    sink: torch.Tensor | None = None,
    q_lengths: torch.Tensor | None = None,
    kv_lengths: torch.Tensor | None = None,
    segments: tuple[torch.Tensor, torch.Tensor] | None = None,
    score: Callable | str | None = None,
    visible: Callable | str | None = None,
    dropout_p: float = 0.0,
    seed: int = 0,
    layout: str = "bhsd",
    precision: str = "ieee",
    empty_row: str = "zero",
    out_dtype: torch.dtype | None = None,
    return_lse: bool = False,
    target: str | None = None,
    device: str | None = None,
    schedule: str | None = None,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """fa.attention through torch.ops.fa.attention, traced as one node.

    The arguments of fa.attention, in its shapes, types and units, as tensors alone, all
    in host memory or all on one GPU. Lengths may be symbolic.

    q           [B, Hq, Sq, D], float16, bfloat16 or float32
    k           [B, Hkv, Sk, D], of the type of q
    v           [B, Hkv, Sk, Dv], of the type of q
    scale       factor of q k^T, a finite number; None: 1/sqrt(D)
    causal      False, "top_left", "bottom_right", or True for Sq = Sk without q_lengths
                and kv_lengths
    window      (left, right), whole numbers of keys; -1 is unbounded
    prefix      whole number of keys that are visible in spite of `causal`
    chunk       whole number of keys that see each other
    softcap     cap of the scores, in natural units; None is off
    bias        float16, bfloat16 or float32, broadcasts to [B, Hq, Sq, Sk]
    mask        bool, True = visible, broadcasts to [B, Hq, Sq, Sk]
    alibi_slopes
                [Hq], float32, scores per key of distance
    sink        [Hq], float32, a score in natural units
    q_lengths, kv_lengths
                [B], integers, int32 on a GPU: how many queries and keys are valid
    segments    (of queries [B, Sq], of keys [B, Sk]), integers, int32 on a GPU
    score       function of symbols (s, b, h, i, j), or the text of a region
    visible     function of symbols (b, h, i, j), or the text of a region
    dropout_p   probability, from 0 to 1, that a weight is dropped
    seed        64-bit whole number
    layout      "bhsd", "bshd"
    precision   "ieee"; "tf32x3" and "tf32" are not compiled yet
    empty_row   "zero", "nan", "uniform"
    out_dtype   torch.float16, torch.bfloat16 or torch.float32; None: that of q
    return_lse  bool: also return the log-sum-exp, float32 [B, Hq, Sq]
    target      "sm_80", ...; None: by the device
    device      "auto" (None), or a name of fa.devices()
    schedule    text as on the command line, "tile_q=64,stages=3"; None: chosen

    Returns out [B, Hq, Sq, Dv] (in `layout`), or (out, lse) with return_lse=True.

    Raises as fa.attention does, TypeError and ValueError with the argument's name.
    Source: fa.attention, docs/Semantics.md.
    """
    is_plain = q_lengths is None and kv_lengths is None
    out, lse = torch.ops.fa.attention(
        q,
        k,
        v,
        bias,
        mask,
        alibi_slopes,
        sink,
        q_lengths,
        kv_lengths,
        *((None, None) if segments is None else read_pair(segments, "segments", 2)),
        scale=scale,
        causal=_causal_word(causal, q, k, layout, is_plain),
        window=None if window is None else list(window),
        prefix=prefix,
        chunk=chunk,
        softcap=softcap,
        score=read_region(score, "score"),
        visible=read_region(visible, "visible"),
        dropout_p=dropout_p,
        seed=seed,
        layout=layout,
        precision=precision,
        empty_row=empty_row,
        out_dtype=out_dtype,
        target=target,
        device_name=device,
        schedule=schedule,
    )
    return (out, lse) if return_lse else out
