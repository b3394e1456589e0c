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
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import numpy as np

EXAMPLES = Path(__file__).resolve().parent
SCORES_8192 = 2 * 8192 * 8192  # bytes of S in f16, one head


def moved_bytes(counters):
    """Global bytes that the device counted, or None where it counts none."""
    traffic = counters.get("global", {})
    if not {"loaded_bytes", "stored_bytes"} <= traffic.keys():
        return None
    return traffic["loaded_bytes"] + traffic["stored_bytes"]


def run_case(case, args, folder):
    """Runs fa-run on one case; returns the row of the report."""
    report = folder / "report.json"
    command = [
        args.build / "bin" / "fa-run",
        EXAMPLES / case["file"],
        f"--target={args.target}",
        f"--device={args.device}",
        f"--report={report}",
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
        "seconds": round(time.monotonic() - start, 3),
        "exit_code": result.returncode,
        "command": " ".join(map(str, command)),
        "output": result.stdout.splitlines(),
        "errors": result.stderr.splitlines(),
        "report": json.loads(report.read_text()) if report.exists() else None,
    }
    checks = row["report"]["checks"] if row["report"] else []
    row["ok"] = result.returncode == 0 and bool(checks)
    row["ok"] &= all(check["ok"] for check in checks)
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


def number(value):
    """A number of the report, where inf and nan are words."""
    return value if isinstance(value, str) else f"{value:.3g}"


def show_report(report):
    """What fa-run found: shapes, state, error and bytes."""
    shapes = ", ".join(
        f"{o['role']} {'x'.join(map(str, o['shape']))} {o['type']}"
        for o in report["operands"]
    )
    print(f"  {shapes}")
    print(f"  {report['target']} on {report['device']}")
    for check in report["checks"]:
        state = "ok" if check["ok"] else f"FAILED {check['problem']}".rstrip()
        print(
            f"  result {check['result']}: {state}, "
            f"max error {number(check['max_error'])}, "
            f"bound {number(check['bound'])}"
        )
    traffic = report["traffic"]
    print(
        f"  global memory: {size(moved_bytes(report['counters']))} moved; "
        f"{size(traffic['naive_bytes'])} where S and P are written and read"
    )
    print(
        f"  S would store {size(traffic['naive_stored_bytes'])}; "
        "this kernel stores none of it"
    )


def show(row):
    """One case on the terminal."""
    print(f"{row['name']}: {row['why']}")
    for line in row["output"]:
        if line.startswith("trace: "):
            print("  " + line)
    if row["report"] and row["exit_code"] in (0, 1):
        show_report(row["report"])
    if "expected" in row:
        print(f"  O = {row['expected']}; the kernel gives {row['found']}")
    print(f"  {row['seconds']} s, compiling, running and checking")
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
    print(f"S for 8192 x 8192 in f16 would be {size(SCORES_8192)} a head.")
    print(f"report: {report}")
    if all(row["ok"] for row in rows):
        return 0
    return next((r["exit_code"] for r in rows if r["exit_code"]), 1)


if __name__ == "__main__":
    sys.exit(main())
