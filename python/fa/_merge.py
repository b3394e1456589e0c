# ===- _merge.py - fa.merge: partial results become one ------------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fa import _results
from fa._arrays import view
from fa._checks import check_shape, kind_of, word
from fa._dtypes import NAME, RESULTS, words
from fa._types import Array, Result


def _read_parts(parts, layout: str):
    if not isinstance(parts, (list, tuple)):
        raise TypeError(
            f"parts is a {kind_of(parts)}; accepted is a list of pairs (out, lse)"
        )
    if not parts:
        raise ValueError("parts is empty; accepted is a list of pairs (out, lse)")
    outs, lses = [], []
    for index, part in enumerate(parts):
        if not isinstance(part, (list, tuple)) or len(part) != 2:
            raise TypeError(f"parts[{index}] is no pair; accepted is (out, lse)")
        outs.append(view(part[0], f"out of parts[{index}]"))
        lses.append(view(part[1], f"lse of parts[{index}]"))
    _check(outs, lses, layout)
    return outs, lses


def _check(outs, lses, layout: str) -> None:
    first = outs[0]
    if NAME.get(first.dtype) not in RESULTS:
        raise TypeError(
            f"out of parts[0] has dtype {first.dtype.name}; accepted are "
            f"{words(RESULTS)}"
        )
    if first.ndim != 4:
        raise ValueError(
            f"out of parts[0] has shape {list(first.shape)}; accepted are 4 dimensions"
        )
    b, x, y, _ = first.shape
    rows = (b, y, x) if layout == "bshd" else (b, x, y)
    for index, (out, lse) in enumerate(zip(outs, lses)):
        check_shape(out, f"out of parts[{index}]", first.shape, layout)
        check_shape(lse, f"lse of parts[{index}]", rows, "B, Hq, Sq")
        if out.dtype != first.dtype:
            raise TypeError(
                f"out of parts[{index}] has dtype {out.dtype.name}; accepted is that "
                f"of parts[0], {first.dtype.name}"
            )
        if lse.dtype != np.float32:
            raise TypeError(
                f"lse of parts[{index}] has dtype {lse.dtype.name}; accepted is float32"
            )


def merge(
    parts: Sequence[tuple[Array, Array]], layout: str = "bhsd"
) -> tuple[Result, Result]:
    """One attention over all keys, from attentions over parts of them.

    parts       list of pairs (out, lse), one or more, as
                fa.attention(..., return_lse=True) gives them for the same queries and
                disjoint sets of keys: out [B, Hq, Sq, Dv] (in `layout`), float16,
                bfloat16 or float32; lse [B, Hq, Sq], float32, natural logarithms. All
                of the shapes and types of the first, in host memory.
    layout      order of the dimensions of each out: "bhsd", "bshd".

    Returns (out, lse) of the same shapes and types:

        lse = log(sum of exp(lse_n)),   out = sum of exp(lse_n - lse) out_n

    A row that no part has a key for (lse = -inf in each) gives 0 and -inf.

    The compiler does not compile the op fa.merge yet, so NumPy takes the sum on
    the host, in float64, and rounds it once.

    Raises TypeError and ValueError that name the part and what is accepted, and
    fa.DeviceError for arrays on a GPU.
    Source: docs/generated/dialect.md, fa.merge.
    """
    word(layout, "layout", ("bhsd", "bshd"))
    outs, lses = _read_parts(parts, layout)
    wide = np.stack([lse.astype(np.float64) for lse in lses])
    top = wide.max(axis=0)
    top = np.where(np.isneginf(top), 0.0, top)
    # A NaN, or +inf beside itself, is a NaN of this row alone.
    with np.errstate(invalid="ignore", divide="ignore"):
        weights = np.exp(wide - top)
        total = weights.sum(axis=0)
        lse = top + np.log(total)
        weights = weights / np.where(total == 0, 1.0, total)
        mixed = np.zeros(outs[0].shape)
        for out, weight in zip(outs, weights):
            column = weight.swapaxes(1, 2) if layout == "bshd" else weight
            column = column[..., None]
            # A part without a key says nothing, not even by a NaN.
            mixed += np.where(column == 0, 0.0, column * out.astype(np.float64))
    like = parts[0][0]
    results = []
    for values, dtype in ((mixed, outs[0].dtype), (lse, np.dtype(np.float32))):
        made, place = _results.make(values.shape, dtype, like)
        place[...] = values.astype(dtype)
        results.append(_results.finish(made, like))
    return tuple(results)
