#!/usr/bin/env python3
# ===- python-overhead.py - what a call of fa.attention costs -------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""Overhead of the Python package and the C API on the smallest problem.

    python-overhead.py --build=DIR --json=FILE

1 x 1 x 16 x 16, f16, compiled before. Run by ./fa bench. `outside` is a call
less the seconds that the report of the same launch gives to the PTX machine, by
the clock: what else the machine does is in it. `empty` is the processor's time of
a call without queries, which comes to everything but the PTX machine.
"""

import argparse
import contextlib
import json
import statistics
import sys
import time
from pathlib import Path

CASE = "1x1x16x16 f16"
CALLS, WARM = 300, 20
BATCHES, BATCH = 40, 50


def row(name, value):
    return {"name": name, "figure": name, "case": CASE, "value": value, "unit": "us"}


def figures(build):
    sys.path.insert(0, str(build / "python"))
    try:
        import fa
        import numpy as np
    except ImportError as error:
        yield {**row("call", None), "note": str(error)}
        return
    q = np.ones((1, 1, 16, 16), np.float16)
    out = np.empty_like(q)
    whole, machine, outside = [], [], []
    with recorded_runs() as runs:
        for _ in range(CALLS + WARM):
            begin = time.perf_counter()
            fa.attention(q, q, q, out=out)
            whole.append(time.perf_counter() - begin)
            machine.append(runs.pop().report()["seconds"]["device"])
            outside.append(whole[-1] - machine[-1])
    note = f"median of {CALLS} calls"
    for name, times in (("call", whole), ("machine", machine), ("outside", outside)):
        value = 1e6 * statistics.median(times[WARM:])
        limit = {"at_most": 200} if name == "outside" else {}
        yield {**row(name, value), **limit, "note": note}
    none, nothing = q[:, :, :0], out[:, :, :0]
    times = []
    for _ in range(BATCHES + 1):
        begin = time.process_time()
        for _ in range(BATCH):
            fa.attention(none, q, q, out=nothing)
        times.append((time.process_time() - begin) / BATCH)
    note = f"median of {BATCHES} times {BATCH} calls without queries, CPU time"
    value = 1e6 * statistics.median(times[1:])
    yield {**row("empty", value), "at_most": 200, "note": note}


@contextlib.contextmanager
def recorded_runs():
    """What every launch of fa.attention came to."""
    from fa._launch import Launch

    run, runs = Launch.run, []

    def recording(self, want_run=False):
        runs.append(run(self, want_run=True))
        return runs[-1]

    Launch.run = recording
    try:
        yield runs
    finally:
        Launch.run = run


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--json", type=Path, required=True)
    args = parser.parse_args()
    args.json.write_text(json.dumps(list(figures(args.build)), indent=2) + "\n")


if __name__ == "__main__":
    main()
