# ===- oracle.py - attention by definition, in NumPy ---------------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""The tests' own reference: two passes in float64, written from the definition and
sharing nothing with the library's oracle."""

import ml_dtypes
import numpy as np

BF16 = np.dtype(ml_dtypes.bfloat16)


def random(shape, dtype=np.float32, seed=0):
    values = np.random.default_rng([seed, *shape]).standard_normal(shape)
    return values.astype(dtype)


def offsets(B, Sq, Sk, causal, q_lengths, kv_lengths):
    """How far keys are shifted against queries, per batch; valid queries, keys."""
    for b in range(B):
        queries = Sq if q_lengths is None else int(np.clip(q_lengths[b], 0, Sq))
        keys = Sk if kv_lengths is None else int(np.clip(kv_lengths[b], 0, Sk))
        yield 0 if causal == "top_left" else keys - queries, queries, keys


def visible_pairs(
    B,
    Hq,
    Sq,
    Sk,
    causal=False,
    window=None,
    prefix=None,
    chunk=None,
    mask=None,
    q_lengths=None,
    kv_lengths=None,
    segments=None,
    visible=None,
):
    """bool [B, Hq, Sq, Sk]: which query sees which key."""
    i, j = np.arange(Sq)[:, None], np.arange(Sk)[None, :]
    seen = np.ones((B, Hq, Sq, Sk), bool)
    shifts = offsets(B, Sq, Sk, causal, q_lengths, kv_lengths)
    for b, (offset, queries, keys) in enumerate(shifts):
        pairs = (i < queries) & (j < keys)
        if causal:
            pairs = pairs & ((j <= i + offset) | (j < (prefix or 0)))
        if window is not None:
            left, right = window
            distance = j - i - offset
            pairs = pairs & ((left < 0) | (distance >= -left))
            pairs = pairs & ((right < 0) | (distance <= right))
        if chunk is not None:
            pairs = pairs & ((i + offset) // chunk == j // chunk)
        seen[b] = pairs
    if mask is not None:
        seen &= np.broadcast_to(mask, seen.shape)
    if segments is not None:
        of_query, of_key = segments
        seen &= (of_query[:, :, None] == of_key[:, None, :])[:, None]
    if visible is not None:
        seen &= visible(*np.indices(seen.shape))
    return seen


def add_to_scores(scores, masks, softcap, score, alibi_slopes, bias):
    """What acts between the scale and the masks, in this order."""
    B, Hq, Sq, Sk = scores.shape
    if softcap is not None:
        scores = softcap * np.tanh(scores / softcap)
    if score is not None:
        scores = score(scores, *np.indices(scores.shape))
    if alibi_slopes is not None:
        i, j = np.arange(Sq)[:, None], np.arange(Sk)[None, :]
        lengths = masks.get("q_lengths"), masks.get("kv_lengths")
        shifts = offsets(B, Sq, Sk, masks.get("causal"), *lengths)
        distance = np.stack([abs(i + offset - j) for offset, _, _ in shifts])
        slopes = alibi_slopes.astype(np.float64)[None, :, None, None]
        scores = scores - slopes * distance[:, None]
    return scores if bias is None else scores + bias.astype(np.float64)


def attention(
    q,
    k,
    v,
    scale=None,
    layout="bhsd",
    empty_row="zero",
    softcap=None,
    score=None,
    alibi_slopes=None,
    bias=None,
    sink=None,
    **masks,
):
    """out and lse in float64."""
    if layout == "bshd":
        q, k, v = (x.swapaxes(1, 2) for x in (q, k, v))
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    B, Hq, Sq, D = q.shape
    group = Hq // k.shape[1] if k.shape[1] else 1
    k, v = (x.repeat(group, axis=1) for x in (k, v))
    factor = float(np.float32(1 / np.sqrt(D))) if scale is None else float(scale)
    scores = factor * (q @ k.swapaxes(-1, -2))
    scores = add_to_scores(scores, masks, softcap, score, alibi_slopes, bias)
    seen = visible_pairs(B, Hq, Sq, k.shape[2], **masks)
    scores = np.where(seen, scores, -np.inf)
    real = np.ones((B, Hq, Sq), bool)
    if masks.get("q_lengths") is not None:
        real &= np.arange(Sq) < np.asarray(masks["q_lengths"])[:, None, None]
    # The sink is a score without a value.
    extra = np.full((B, Hq, Sq, 1), -np.inf)
    if sink is not None:
        extra[:] = sink.astype(np.float64)[None, :, None, None]
        extra[~real] = -np.inf
    top = np.maximum(scores.max(axis=-1, keepdims=True, initial=-np.inf), extra)
    top = np.where(np.isneginf(top), 0, top)
    weights = np.exp(scores - top)
    total = weights.sum(axis=-1, keepdims=True) + np.exp(extra - top)
    with np.errstate(divide="ignore"):
        lse = (top + np.log(total))[..., 0]
    out = weights @ v / np.where(total == 0, 1, total)
    empty = (total[..., 0] == 0) & real
    if empty_row == "nan":
        out[empty], lse[empty] = np.nan, np.nan
    if empty_row == "uniform":
        out = np.where(empty[..., None], v.mean(axis=2, keepdims=True), out)
    return (out.swapaxes(1, 2) if layout == "bshd" else out), lse


def check_near(found, expected, bound):
    """|found - expected| <= bound, with NaN and infinities in place."""
    found, expected = np.asarray(found, np.float64), np.asarray(expected)
    assert found.shape == expected.shape
    same = (found == expected) | (np.isnan(found) & np.isnan(expected))
    finite = np.isfinite(found) & np.isfinite(expected)
    error = np.abs(np.where(finite, found, 0) - np.where(finite, expected, 0))
    wrong = ~(same | (finite & (error <= bound)))
    assert not wrong.any(), (
        f"{wrong.sum()} of {wrong.size} elements, first at {np.argwhere(wrong)[0]}: "
        f"{found[wrong][0]} instead of {expected[wrong][0]}, "
        f"bound {np.broadcast_to(bound, wrong.shape)[wrong][0]}"
    )
