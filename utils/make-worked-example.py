#!/usr/bin/env python3
# ===- make-worked-example.py - the row that ends in 160/7 -----------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""Writes examples/worked/*.npy: one query over three visible keys.

    build/venv/bin/python utils/make-worked-example.py [--out=DIR]

The scores q.k are (1, 0 | 2) with a block border at the bar, the values
(10, 20 | 30). With scale ln 2 the weights are (2, 1 | 4), so m, l, u go from
(ln 2, 1.5, 20) to (ln 4, 1.75, 40), and O = 40 / 1.75 = 160/7. The first block
of 16 keys holds the first two, its other keys masked; the third key opens the
second block. Everything beyond element 0 of a vector is zero.
"""

import argparse
from pathlib import Path

import numpy as np

BLOCK = 16  # keys in a block: schedule tile_kv = 16
DIM = 16
POSITIONS = [0, 1, BLOCK]
SCORES = [1, 0, 2]
VALUES = [10, 20, 30]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default = Path(__file__).resolve().parents[1] / "examples" / "worked"
    parser.add_argument("--out", type=Path, default=default)
    out = parser.parse_args().out
    keys = BLOCK + 1
    q = np.zeros((1, 1, 1, DIM), np.float16)
    k = np.zeros((1, 1, keys, DIM), np.float16)
    v = np.zeros((1, 1, keys, DIM), np.float16)
    mask = np.zeros((1, 1, 1, keys), bool)
    q[..., 0] = 1
    k[0, 0, POSITIONS, 0] = SCORES
    v[0, 0, POSITIONS, 0] = VALUES
    mask[..., POSITIONS] = True
    out.mkdir(parents=True, exist_ok=True)
    for name, array in (("q", q), ("k", k), ("v", v), ("mask", mask)):
        np.save(out / f"{name}.npy", array)


if __name__ == "__main__":
    main()
