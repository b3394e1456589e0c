# ===- _checks.py - single arguments, refused in one form ----------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""Each refusal names the argument, what it is, and what it may be."""

from __future__ import annotations

import math
import numbers

import numpy as np


def kind_of(value) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix(
        "builtins."
    )


def utf8(value, name: str) -> bytes:
    """Text as the library takes it."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is a {kind_of(value)}; accepted is text")
    if "\0" in value:
        raise ValueError(f"{name} holds a NUL; accepted is text without one")
    try:
        return value.encode()
    except UnicodeEncodeError:
        raise ValueError(
            f"{name} holds half a character; accepted is Unicode"
        ) from None


def word(value, name: str, accepted: tuple) -> str:
    """One of some words."""
    if isinstance(value, str) and value in accepted:
        return value
    choice = ", ".join(repr(one) for one in accepted)
    error = ValueError if isinstance(value, str) else TypeError
    raise error(f"{name} is {value!r}; accepted are {choice}")


def flag(value, name: str) -> bool:
    """A truth value of Python or NumPy."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise TypeError(f"{name} is a {kind_of(value)}; accepted are True and False")


def whole(value, name: str, least: int, meaning: str) -> int:
    """A whole number of Python or NumPy, at least `least`."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} is {value!r}; accepted is {meaning}")
    if not least <= int(value) < 2**63:
        raise ValueError(f"{name} is {value}; accepted is {meaning}")
    return int(value)


def number(value, name: str, meaning: str) -> float:
    """A real number of Python or NumPy, without NaN and infinities."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} is {value!r}; accepted is {meaning}")
    try:
        single = float(value)
    except OverflowError:
        raise ValueError(f"{name} is beyond float64; accepted is {meaning}") from None
    if not math.isfinite(single):
        raise ValueError(f"{name} is {single}; accepted is {meaning}")
    return single


def shape_text(array: np.ndarray) -> str:
    return str(list(array.shape))


def check_rank(array: np.ndarray, name: str, rank: int, dims: str) -> None:
    if array.ndim != rank:
        raise ValueError(
            f"{name} has shape {shape_text(array)}; accepted are {rank} dimensions "
            f"[{dims}]"
        )


def check_shape(array: np.ndarray, name: str, shape: tuple, dims: str) -> None:
    check_rank(array, name, len(shape), dims)
    if array.shape != shape:
        raise ValueError(
            f"{name} has shape {shape_text(array)}; accepted is {list(shape)} [{dims}]"
        )
