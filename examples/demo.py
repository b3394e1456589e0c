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
with the f64 oracle, and shows the error against its bound, the bytes that the
kernel moved through global memory, and beside them what the two-pass form would
move, which writes S and P to memory and reads them back; a table of all cases
ends it. The report is build/reports/demo.json.
"""

import argparse
import json
import subprocess
import sys
import time
from fractions import Fraction
from math import log
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
    if row["ok"] and "state" in case:
        row["state"] = [
            follows(state, block)
            for state, block in zip(case["state"], row["report"]["trace"])
        ]
        row["ok"] &= len(row["report"]["trace"]) == len(case["state"])
        row["ok"] &= all(line["exact"] for line in row["state"])
    return row


def is_nearest(found, expected):
    """Whether a number of f32 is the expected one, last rounding aside."""
    nearest = np.float32(expected)
    return bool(abs(np.float32(found) - nearest) <= np.spacing(abs(nearest)))


def follows(state, block):
    """One block's m, l and u[0] against the numbers by hand: m is a logarithm."""
    by_hand = (log(state["m_is_ln"]), state["l"], state["u"])
    found = (block["m"], block["l"], block["u"][0])
    return {
        "line": f"after block {block['block']}: m = ln {state['m_is_ln']}, "
        f"l = {state['l']}, u = {state['u']}",
        "exact": all(map(is_nearest, found, by_hand)),
    }


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
    moved = moved_bytes(report["counters"])
    found = "not counted on this device" if moved is None else f"{size(moved)} moved"
    print(
        f"  global memory: {found}; {size(traffic['naive_bytes'])} "
        "where S and P are written and read"
    )
    print(
        f"  S would store {size(traffic['naive_stored_bytes'])}; "
        "this kernel stores none of it"
    )


def seconds(row):
    """Where the time went."""
    text = f"  {row['seconds']} s"
    parts = (row["report"] or {}).get("seconds", {})
    names = {"compile": "compiling", "device": "running", "oracle": "in the oracle"}
    shown = [f"{parts[k]:.2f} {names[k]}" for k in names if parts.get(k)]
    return text + (": " + ", ".join(shown) if shown else "")


TABLE = (
    ("case", lambda row: row["name"]),
    ("check", lambda row: "ok" if row["ok"] else "FAILED"),
    ("error / bound", lambda row: worst(row["report"])),
    ("moved", lambda row: size(moved_bytes(row["report"]["counters"]))),
    ("with S and P", lambda row: size(row["report"]["traffic"]["naive_bytes"])),
    ("S stored", lambda row: "0"),
    ("would be", lambda row: size(row["report"]["traffic"]["naive_stored_bytes"])),
    ("seconds", lambda row: f"{row['seconds']:.2f}"),
)


def worst(report):
    """The error of the first result, and its bound."""
    check = report["checks"][0]
    return f"{number(check['max_error'])} / {number(check['bound'])}"


def show_table(rows):
    """All cases that ran, one line each."""
    lines = [[title for title, _ in TABLE]]
    lines += [
        [cell(row) for _, cell in TABLE]
        for row in rows
        if row["report"] and row["report"]["checks"]
    ]
    widths = [max(map(len, column)) for column in zip(*lines)]
    for line in lines:
        print("  ".join(map(str.ljust, line, widths)).rstrip())


def show(row):
    """One case on the terminal."""
    print(f"{row['name']}: {row['why']}")
    trace = [line for line in row["output"] if line.startswith("trace: ")]
    for line in trace:
        print("  " + line)
    for state in row.get("state", []):
        print(f"  {state['line']}, {'' if state['exact'] else 'NOT '}as by hand")
    if row["report"] and row["exit_code"] in (0, 1):
        show_report(row["report"])
    if "expected" in row:
        print(f"  O = {row['expected']}; the kernel gives {row['found']}")
    print(seconds(row))
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
    show_table(rows)
    print(f"S for 8192 x 8192 in f16 would be {size(SCORES_8192)} a head; ours is 0.")
    print(f"report: {report}")
    if all(row["ok"] for row in rows):
        return 0
    return next((r["exit_code"] for r in rows if r["exit_code"]), 1)


if __name__ == "__main__":
    sys.exit(main())
