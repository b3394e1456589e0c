# ===- test_examples.py - the example data is what its pages say -----------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #

import math
import subprocess
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]


def load(folder, *names):
    return [np.load(ROOT / "examples" / folder / f"{name}.npy") for name in names]


def test_worked_example_is_what_its_script_makes(tmp_path):
    script = ROOT / "utils/make-worked-example.py"
    subprocess.run([sys.executable, script, f"--out={tmp_path}"], check=True)
    for name in ("q", "k", "v", "mask"):
        committed = (ROOT / "examples/worked" / f"{name}.npy").read_bytes()
        assert (tmp_path / f"{name}.npy").read_bytes() == committed


def test_worked_example_gives_160_sevenths():
    q, k, v, mask = (array[0, 0] for array in load("worked", "q", "k", "v", "mask"))
    scores = q.astype(float) @ k.astype(float).T * math.log(2)
    weights = np.exp(np.where(mask, scores, -np.inf))
    out = weights @ v.astype(float) / weights.sum()
    assert abs(out[0, 0] - 160 / 7) < 1e-12
    assert not out[0, 1:].any()


def test_minilm_arrays():
    q, k, v, lengths = load("minilm", "q", "k", "v", "kv_lengths")
    for array in (q, k, v):
        assert array.shape == (2, 12, 129, 32) and array.dtype == np.float16
        assert np.isfinite(array).all() and array.astype(float).std() > 0.1
    assert lengths.dtype == np.int32 and lengths.tolist() == [129, 45]


def test_minilm_attention_is_not_uniform():
    """Real weights: some heads look hard at a few tokens."""
    q, k, _, lengths = load("minilm", "q", "k", "v", "kv_lengths")
    scores = q.astype(float) @ k.astype(float).swapaxes(-1, -2) / math.sqrt(32)
    scores = np.where((np.arange(129) < lengths[:, None])[:, None, None], scores, -1e9)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    assert weights.max(-1).mean() > 5 / 129
