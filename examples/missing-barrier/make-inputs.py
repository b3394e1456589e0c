# ===- make-inputs.py - numbers for the tutorial --------------------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""Writes x.npy and the right answers of both kernels to a folder."""

import sys
from pathlib import Path

import numpy as np

folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
x = np.arange(512, dtype=np.float32) ** 2
np.save(folder / "x.npy", x)
np.save(folder / "difference.npy", np.diff(x[:256], prepend=np.float32(0)))
np.save(folder / "doubled.npy", 2 * x)
