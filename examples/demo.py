#!/usr/bin/env python3
# ===- demo.py - the worked examples, compiled, run and checked ------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""What ./fa demo shows: each case of demo.json through fa-run.

    demo.py --build=DIR [--target=sm_80] [--device=auto] [CASE...]

Compiles the case's .mlir to PTX, runs that PTX, lets fa-run compare the result
with the f64 oracle, and prints a table: the error against its bound, the bytes
that the kernel moved through global memory, and beside them what the two-pass
form would move, which writes S and P to memory and reads them back. The report
is build/reports/demo.json.
"""

import argparse
import json
import re
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import numpy as np

EXAMPLES = Path(__file__).resolve().parent
ELEMENT = 2  # bytes of f16, the element type of every case
CHECK = re.compile(
    r"check: (?P<state>ok|FAILED).*?max_error=(?P<error>\S+) bound=(?P<bound>\S+)"
)


def two_pass_bytes(e):
    """Global bytes of S = QK, P = softmax(S), O = PV as three kernels."""
    queries = e["B"] * e["Hq"] * e["Sq"]
    keys = e["B"] * e["Hkv"] * e["Sk"]
    operands = queries * (e["D"] + e["Dv"]) + keys * (e["D"] + e["Dv"])
    scores = queries * e["Sk"]
    return ELEMENT * (operands + 4 * scores)  # S and P, written and read


def scores_per_head(e):
    """Bytes of S for one head: what an intermediate would have to store."""
    return ELEMENT * e["Sq"] * e["Sk"]


def moved_bytes(counters):
    """Global bytes that fa-run counted, or None where it has no counters."""
    traffic = counters.get("global", {})
    if "loaded_bytes" not in traffic:
        return None
    return traffic["loaded_bytes"] + traffic["stored_bytes"]


def run_case(case, args, folder):
    """Runs fa-run on one case; returns the row of the report."""
    counters = folder / "counters.json"
    command = [
        args.build / "bin" / "fa-run",
        EXAMPLES / case["file"],
        f"--target={args.target}",
        f"--device={args.device}",
        f"--counters={counters}",
        f"--output={folder}",
    ]
    for number, name in enumerate(case["inputs"]):
        command.append(f"--input={number}={EXAMPLES / name}")
    if "trace_row" in case:
        command.append(f"--trace-state={case['trace_row']}")
    start = time.monotonic()
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    row = {
        "name": case["name"],
        "why": case["why"],
        "extents": case["extents"],
        "target": args.target,
        "seconds": round(time.monotonic() - start, 3),
        "exit_code": result.returncode,
        "command": " ".join(map(str, command)),
        "output": result.stdout.splitlines(),
        "errors": result.stderr.splitlines(),
    }
    row["trace"] = [line for line in row["output"] if line.startswith("trace: ")]
    checks = [m.groupdict() for m in map(CHECK.search, row["output"]) if m]
    row["checks"] = checks
    row["ok"] = result.returncode == 0 and all(c["state"] == "ok" for c in checks)
    row["ok"] &= bool(checks)
    if counters.exists():
        row["counters"] = json.loads(counters.read_text())
        row["global_bytes"] = moved_bytes(row["counters"])
    row["two_pass_bytes"] = two_pass_bytes(case["extents"])
    row["scores_bytes_per_head"] = scores_per_head(case["extents"])
    if row["ok"] and "expect" in case:
        row |= exact(Fraction(*case["expect"]), folder / "out0.npy")
        row["ok"] &= row["exact"]
    return row


def exact(expected, path):
    """Whether the first number of the result is the fraction, last rounding aside."""
    found = np.load(path).reshape(-1)[0]
    nearest = found.dtype.type(float(expected))
    step = np.spacing(nearest)
    return {
        "expected": f"{expected} = {float(expected):.9f}",
        "found": repr(float(found)),
        "exact": bool(abs(found - nearest) <= step),
    }


def size(count):
    """A byte count for people."""
    if count is None:
        return "n/a"
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            return f"{count:.4g} {unit}"
        count /= 1024


def shapes(e):
    """The shapes of Q, and of K and V, without the batch if it is one."""
    q = f"Q {e['B']}x{e['Hq']}x{e['Sq']}x{e['D']}"
    return f"{q}, K/V {e['B']}x{e['Hkv']}x{e['Sk']}x{e['Dv']}"


def show(row):
    """One case on the terminal."""
    print(f"{row['name']}: {row['why']}")
    print(f"  {shapes(row['extents'])}, f16, {row['target']}")
    for line in row["trace"]:
        print("  " + line)
    for check in row["checks"]:
        print("  check: {state}, max error {error}, bound {bound}".format(**check))
    if "expected" in row:
        print(f"  O = {row['expected']}; the kernel gives {row['found']}")
    print(
        f"  global memory: {size(row.get('global_bytes'))} moved; "
        f"with S and P in memory {size(row['two_pass_bytes'])}"
    )
    print(
        f"  S would store {size(row['scores_bytes_per_head'])} a head; "
        f"this kernel stores none of it ({row['seconds']} s)"
    )
    if not row["ok"]:
        print(f"  FAILED, exit code {row['exit_code']}: {row['command']}")
        for line in row["errors"]:
            print("  " + line)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--target", default="sm_80")
    parser.add_argument("--device", default="auto")
    parser.add_argument("cases", nargs="*", metavar="CASE")
    args = parser.parse_args()

    cases = json.loads((EXAMPLES / "demo.json").read_text())["cases"]
    known = [case["name"] for case in cases]
    for name in args.cases:
        if name not in known:
            print(f"error: no case '{name}': {', '.join(known)}", file=sys.stderr)
            return 2
    if not (args.build / "bin" / "fa-run").exists():
        print(f"error: {args.build}/bin/fa-run is not built", file=sys.stderr)
        return 3

    reports = args.build / "reports"
    rows = []
    for case in cases:
        if args.cases and case["name"] not in args.cases:
            continue
        folder = reports / "demo" / case["name"]
        folder.mkdir(parents=True, exist_ok=True)
        for stale in folder.iterdir():
            stale.unlink()
        rows.append(run_case(case, args, folder))
        show(rows[-1])
    report = reports / "demo.json"
    report.write_text(json.dumps({"format": 1, "cases": rows}, indent=1) + "\n")
    print(f"S for 8192 x 8192 in f16 would be {size(2 * 8192 * 8192)} a head.")
    print(f"report: {report}")
    if all(row["ok"] for row in rows):
        return 0
    return next((r["exit_code"] for r in rows if r["exit_code"]), 1)


if __name__ == "__main__":
    sys.exit(main())
