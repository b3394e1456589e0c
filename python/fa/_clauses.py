# ===- _clauses.py - scale, masks, bias and regions, one by one ----------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
from __future__ import annotations

import numpy as np

from fa._arrays import anywhere, readable, view
from fa._checks import kind_of, number, shape_text, whole
from fa._description import OPERAND, Broadcast, Mask
from fa._dtypes import NAME, words
from fa._extents import Extents
from fa.math import trace_region


def read_scale(scale):
    """The clause, and the operand where there is one."""
    meaning = "a finite number, or a float32 array of one element"
    if scale is None:
        return None, None
    is_array = isinstance(scale, np.ndarray) or hasattr(scale, "__dlpack__")
    if is_array and not isinstance(scale, np.generic):
        array = view(scale, "scale")
        if array.dtype != np.float32 or array.size != 1:
            raise TypeError(
                f"scale has dtype {array.dtype.name} and shape {shape_text(array)}; "
                f"accepted is {meaning}"
            )
        if not np.isfinite(array).all():
            raise ValueError(f"scale is {float(array.item())}; accepted is {meaning}")
        return OPERAND, readable(array).reshape(())
    return number(scale, "scale", meaning), None


def alignment(causal, is_square: bool, is_plain: bool) -> str | None:
    """ "top_left" or "bottom_right"; None without a causal mask."""
    if causal is False or causal is None:
        return None
    if isinstance(causal, (bool, np.bool_)):
        if not causal:
            return None
        if is_square and is_plain:
            return "bottom_right"
        why = (
            "with lengths, offsets or pages"
            if is_square
            else "where q and k have different lengths"
        )
        raise ValueError(
            f"causal is True, which is ambiguous {why}; accepted there are 'top_left' "
            "and 'bottom_right'"
        )
    if isinstance(causal, str) and causal in ("top_left", "bottom_right"):
        return causal
    error = ValueError if isinstance(causal, str) else TypeError
    raise error(
        f"causal is {causal!r}; accepted are False, True, 'top_left' and 'bottom_right'"
    )


def _read_window(window):
    meaning = "a pair (left, right) of whole numbers, -1 for unbounded"
    if not isinstance(window, (tuple, list)):
        raise TypeError(f"window is {window!r}; accepted is {meaning}")
    if len(window) != 2:
        raise ValueError(f"window is {window!r}; accepted is {meaning}")
    return [whole(side, "window", -1, meaning) for side in window]


def read_masks(align, window, prefix, chunk) -> tuple:
    masks = []
    is_bottom_right = align != "top_left"
    if prefix is not None:
        prefix = whole(prefix, "prefix", 0, "a whole number of keys, at least 0")
        if align is None:
            raise ValueError(f"prefix is {prefix} without causal; it needs causal")
    if align is not None:
        masks.append(Mask("causal", is_bottom_right, prefix=prefix or 0))
    if window is not None:
        left, right = _read_window(window)
        masks.append(Mask("window", is_bottom_right, left=left, right=right))
    if chunk is not None:
        size = whole(chunk, "chunk", 1, "a whole number of keys, at least 1")
        masks.append(Mask("chunk", is_bottom_right, size=size))
    return tuple(masks)


def read_broadcast(value, name: str, accepted: tuple, sizes: Extents):
    """A bias or a mask: the clause and the operand."""
    if value is None:
        return None, None
    array = readable(anywhere(value, name))
    dtype = NAME.get(array.dtype, "")
    if dtype not in accepted:
        hint = " (a mask of floats is a bias)" if name == "mask" else ""
        raise TypeError(
            f"{name} has dtype {array.dtype.name}; accepted is {words(accepted)}{hint}"
        )
    full = (sizes.B, sizes.Hq, sizes.Sq, sizes.Sk)
    if sizes.is_packed or sizes.is_paged:
        raise ValueError(f"{name} is given with packed or paged keys; it must be None")
    if not 1 <= array.ndim <= 4:
        raise ValueError(
            f"{name} has shape {shape_text(array)}; accepted are 1 to 4 dimensions "
            "that broadcast to [B, Hq, Sq, Sk]"
        )
    fits = all(n in (1, w) for n, w in zip(array.shape[::-1], full[::-1]))
    if not fits:
        raise ValueError(
            f"{name} has shape {shape_text(array)}; accepted is what broadcasts to "
            f"{list(full)} [B, Hq, Sq, Sk]"
        )
    return Broadcast(dtype, tuple(1 if n == 1 else -1 for n in array.shape)), array


def read_pair(value, name: str, count: int) -> tuple:
    if not isinstance(value, (tuple, list)) or len(value) != count:
        is_some = isinstance(value, (tuple, list))
        found = f"{len(value)} of them" if is_some else f"a {kind_of(value)}"
        raise TypeError(f"{name} is {found}; accepted is a tuple of {count} arrays")
    return tuple(value)


def read_region(value, name: str) -> str | None:
    if value is None:
        return None
    if isinstance(value, str):
        if not value.strip():
            raise ValueError(
                f"{name} is {value!r}; accepted is a function of symbols, or the text "
                "of a region, '{ ^bb0(...): ... }'"
            )
        return value
    if callable(value):
        return trace_region(value, name)
    raise TypeError(
        f"{name} is a {kind_of(value)}; accepted is a function of "
        "symbols, or the text of a region, '{ ^bb0(...): ... }'"
    )
