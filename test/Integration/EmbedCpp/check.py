# ===- check.py - the kernel that embed-cpp made, against NumPy -------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""check.py EMULATOR PROGRAM.mlir KERNEL.ptx FOLDER

Looks at the program that examples/embed-cpp printed: loops for its other ops, a
launch of our kernel between them, nothing of fa left. Then runs that kernel as
the launch would, on the buffers of the program, and compares with f64."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np

emulator, program, kernel, folder = sys.argv[1:]
folder = Path(folder)
text = Path(program).read_text()
host, device = text.split("gpu.module", 1)
order = [
    "memref.alloc",
    "scf.for",
    "arith.mulf",
    "gpu.launch_func",
    "scf.for",
    "arith.addf",
]
place = 0
for word in order:
    place = host.find(word, place)
    assert place >= 0, f"'{word}' is missing or out of order in the program"
for word in ("fa.attention", "linalg.", "tensor<"):
    assert f" {word}" not in re.sub(r'"[^"]*"', "", text), f"'{word}' is left"
assert "nvvm.mma.sync" in device and "nvvm.kernel" in device

# A pointer for each operand, and for what has dynamic extents its stride and
# extent: the rows say which. Buffers of the program have no operand number.
rows = re.search(r"fa.parameters = \[(.*?)\]", device).group(1)
kinds = re.findall(r'kind = "(\w+)"', rows)
assert kinds == ["pointer", "stride", "extent"] * 4, kinds
numbers = re.findall(r"operand = (\d+)", rows)
assert numbers == ["2"] * 3 + ["3"] * 3, numbers
assert "fa.grid" not in device

queries, keys = 150, 200
random = np.random.default_rng(7)


def made(name, *shape):
    array = random.standard_normal(shape).astype(np.float16)
    np.save(folder / f"{name}.npy", array)
    return array


q, k, v = (
    made("q", 1, 4, queries, 64),
    made("k", 1, 2, keys, 64),
    made("v", 1, 2, keys, 64),
)
shared = re.search(r"fa.shared_bytes = (\d+)", device).group(1)
command = [emulator, kernel, "--grid=8", "--block=128", f"--smem={shared}"]
for name, rows in (("k", keys), ("v", keys), ("q", queries)):
    command += [f"--arg=in:{folder}/{name}.npy"]
    command += [f"--arg=i64:{rows * 64}", f"--arg=i64:{rows}"]
command += [f"--arg=out:{folder}/o.npy:f16[1,4,{queries},64]"]
command += [f"--arg=i64:{queries * 64}", f"--arg=i64:{queries}"]
subprocess.run(command, check=True)

k, v = (array.astype(float).repeat(2, axis=1) for array in (k, v))
scores = q.astype(float) @ k.swapaxes(-1, -2) / 8
seen = np.arange(keys) <= np.arange(queries)[:, None] + keys - queries
scores = np.where(seen, scores, -np.inf)
weights = np.exp(scores - scores.max(-1, keepdims=True))
total = weights.sum(-1, keepdims=True)
expected = weights @ v / total
# The bound of fa/Reference/Tolerance.h, docs/Testing.md says why it is that.
f32 = np.float32
p32 = np.exp((scores - scores.max(-1, keepdims=True)).astype(f32))
sums = p32.astype(np.float16).astype(f32) @ v.astype(f32)
plain = (sums / p32.sum(-1, keepdims=True)).astype(np.float16).astype(float)
magnitude = np.abs(q.astype(float)) @ np.abs(k).swapaxes(-1, -2) / 8
reach = np.where(seen, magnitude, 0).max(-1, keepdims=True)
largest = np.where(seen[..., None], np.abs(v)[..., None, :, :], 0).max(-2)
bound = (
    2 * np.abs(plain - expected).max(-1, keepdims=True)
    + 2 * (2**-11 + 2**-20 * reach) * (weights @ np.abs(v) / total)
    + 2**-24 * largest
)
error = np.abs(np.load(folder / "o.npy").astype(float) - expected)
assert (error <= bound).all(), (error.max(), bound.max())
print(f"the embedded kernel is within {error.max():.1e} of attention in f64")
