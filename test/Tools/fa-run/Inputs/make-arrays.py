# ===- make-arrays.py - a good array, and one for each way to be bad --------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""make-arrays.py FOLDER: K of Inputs/attention.mlir with 130 keys, well and
badly written."""

import sys
from pathlib import Path

import numpy as np

folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
rows = np.random.default_rng(1).standard_normal((1, 1, 130, 64))
k = rows.astype(np.float16)
np.save(folder / "k.npy", k)
np.save(folder / "fortran.npy", np.asfortranarray(k))
np.save(folder / "big-endian.npy", k.astype(">f2"))
np.save(folder / "f32.npy", rows.astype(np.float32))
np.save(folder / "narrow.npy", k[..., :32])
np.save(folder / "rank3.npy", k[0])
np.save(folder / "object.npy", np.array([{}], dtype=object), allow_pickle=True)
good = (folder / "k.npy").read_bytes()
(folder / "cut.npy").write_bytes(good[:-7])
(folder / "long.npy").write_bytes(good + b"xx")
(folder / "header.npy").write_bytes(good[:40])
(folder / "zip.npy").write_bytes(b"PK" + good[2:])
(folder / "empty.npy").write_bytes(b"")
