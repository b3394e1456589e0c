# ===- reference.py - attention in float64, the oracle -------------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""What every kernel is compared with, and how far it may be away."""

from __future__ import annotations

from typing import Any

import numpy as np

from fa import _arguments, _results
from fa._arrays import Arrays
from fa._description import to_struct
from fa._errors import DeviceError, Failure, new_error, refusal
from fa._library import ffi, lib
from fa._types import Array, Result

__all__ = ["attention"]


def attention(
    q: Array,
    k: Array,
    v: Array,
    *,
    return_lse: bool = False,
    return_bounds: bool = False,
    **clauses: Any,
) -> Result | tuple[Result, ...]:
    """fa.attention in float64 from the stored inputs, without a kernel.

    q           [B, Hq, Sq, D], float16, bfloat16, float32, float8_e4m3fn or
                float8_e5m2, in host memory; packed [Tq, Hq, D].
    k           [B, Hkv, Sk, D], of the type of q; packed and paged as fa.attention
                says.
    v           [B, Hkv, Sk, Dv], of the type of q.
    return_lse  bool: also return the natural logarithm of the sum of exp(score) of
                each row, [B, Hq, Sq] in every layout.
    return_bounds
                bool: also return the largest |kernel - float64| that is right for each
                element of out and of lse: (out, bound) or (out, lse, bound,
                bound_of_lse), in the units of out and of lse.
    clauses     the arguments of fa.attention that say what is computed, in the same
                shapes, types and units: scale, causal, window, prefix, chunk, softcap,
                bias, mask, alibi_slopes, sink, q_offsets, kv_offsets, q_lengths,
                kv_lengths, segments, page_table, scales, score, visible, dropout_p,
                seed, layout, precision, empty_row, out_dtype. out_dtype, and without it
                the type of q, says which kernel the bounds are for.

    Returns float64 arrays: out [B, Hq, Sq, Dv] (in `layout`), or a tuple with what
    else was asked for.

    Raises TypeError and ValueError that name the argument, what was found and what is
    accepted, also for a clause that the oracle does not know, and fa.DeviceError for
    arrays on a GPU.
    Source: docs/Semantics.md for what is computed, docs/Testing.md (the rule) for the
    bounds.
    """
    call = _arguments.read(q, k, v, return_lse=return_lse, **clauses)
    if call.place is not None:
        raise DeviceError(
            f"q lies on {call.place}; the oracle takes arrays in host memory"
        )
    shapes = [call.out_shape] + ([call.lse_shape] if return_lse else [])
    made = [_results.make(shape, np.dtype(np.float64), q) for shape in shapes]
    limits = [_results.make(shape, np.dtype(np.float64), q) for shape in shapes]
    inputs = Arrays(call.inputs)
    results = Arrays([view for _, view in made])
    bounds = Arrays([view for _, view in limits] if return_bounds else [])
    op, kept = to_struct(call.description)
    error = new_error()
    status = lib.fa_attention_reference(
        op,
        inputs.pointer,
        inputs.count,
        results.pointer,
        results.count,
        bounds.pointer if return_bounds else ffi.NULL,
        bounds.count,
        error,
    )
    del kept
    if status:
        raise refusal(Failure(error[0])) from None
    found = [_results.finish(array, q) for array, _ in made]
    if return_bounds:
        found += [_results.finish(array, q) for array, _ in limits]
    return found[0] if len(found) == 1 else tuple(found)
