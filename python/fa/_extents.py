# ===- _extents.py - Q, K and V beside each other ------------------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
from __future__ import annotations

from fa._arrays import anywhere, readable
from fa._checks import check_rank, check_shape, shape_text
from fa._dtypes import NAME, OPERANDS, words


def read_qkv(q, k, v) -> list:
    arrays = [readable(anywhere(x, name)) for x, name in ((q, "q"), (k, "k"), (v, "v"))]
    first = arrays[0].dtype
    if NAME.get(first) not in OPERANDS:
        raise TypeError(f"q has dtype {first.name}; accepted are {words(OPERANDS)}")
    for array, name in zip(arrays[1:], "kv"):
        if array.dtype != first:
            raise TypeError(
                f"{name} has dtype {array.dtype.name}; accepted is that of q, "
                f"{first.name}"
            )
    return arrays


class Extents:
    """Q, K and V beside each other; every extent that the rest is checked by."""

    def __init__(self, q, k, v, layout, is_packed, is_paged):
        self.layout, self.is_packed, self.is_paged = layout, is_packed, is_paged
        self._read_query(q)
        self._read_keys(k, v)
        if is_paged and self.page_size < 1:
            raise ValueError(
                f"k has shape {shape_text(k)}; its pages must have at least 1 key"
            )
        if self.D < 1:
            raise ValueError(
                f"q has shape {shape_text(q)}; its head dimension must be at least 1"
            )
        if self.Dv < 1:
            raise ValueError(
                f"v has shape {shape_text(v)}; its head dimension must be at least 1"
            )
        if not self.Hq or not self.Hkv or self.Hq % self.Hkv:
            raise ValueError(
                f"q has {self.Hq} heads and k has {self.Hkv}; accepted is a positive "
                "multiple of the heads of k"
            )

    def _order(self, heads: str, length: str, dim: str) -> str:
        if self.layout == "bshd":
            return f"B, {length}, {heads}, {dim}"
        return f"B, {heads}, {length}, {dim}"

    def _read_query(self, q) -> None:
        if self.is_packed:
            check_rank(q, "q", 3, "Tq, Hq, D")
            self.Sq, self.Hq, self.D = q.shape
            self.B = None
            return
        check_rank(q, "q", 4, self._order("Hq", "Sq", "D"))
        self.B, self.Hq, self.Sq, self.D = self._bhsd(q.shape)

    def _bhsd(self, shape):
        b, x, y, d = shape
        return (b, y, x, d) if self.layout == "bshd" else shape

    def _read_keys(self, k, v) -> None:
        if self.is_paged:
            dims = "pages, Hkv, page_size, {}"
            check_rank(k, "k", 4, dims.format("D"))
            pages, self.Hkv, self.page_size, _ = k.shape
            self.Sk = None
            want = (pages, self.Hkv, self.page_size)
        elif self.is_packed:
            dims = "Tk, Hkv, {}"
            check_rank(k, "k", 3, dims.format("D"))
            self.Sk, self.Hkv, _ = k.shape
            want = k.shape[:2]
        else:
            dims = self._order("Hkv", "Sk", "{}")
            check_rank(k, "k", 4, dims.format("D"))
            _, self.Hkv, self.Sk, _ = self._bhsd(k.shape)
            want = (self.B, *k.shape[1:3])
        check_shape(k, "k", (*want, self.D), dims.format("D"))
        check_rank(v, "v", len(want) + 1, dims.format("Dv"))
        self.Dv = v.shape[-1]
        check_shape(v, "v", (*want, self.Dv), dims.format("Dv"))

    def out_shape(self) -> tuple:
        if self.is_packed:
            return (self.Sq, self.Hq, self.Dv)
        if self.layout == "bshd":
            return (self.B, self.Sq, self.Hq, self.Dv)
        return (self.B, self.Hq, self.Sq, self.Dv)

    def lse_shape(self) -> tuple:
        return (self.Hq, self.Sq) if self.is_packed else (self.B, self.Hq, self.Sq)
