#!/usr/bin/env python3
# ===- bench.py - run the benchmarks, collect their figures ----------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""What ./fa bench runs: every benchmark, one JSON file and a table.

    bench.py --build=DIR [--out=FILE] [NAME...]

A benchmark is benchmarks/NAME.py or an executable DIR/benchmarks/NAME. It is
called with `--build=DIR --json=FILE` and writes a list of figures:

    [{"name": "sm_80 d64 registers", "value": 178, "unit": "",
      "at_most": 255, "note": "ptxas 13.0.88"}, ...]

`at_most` and `at_least` are optional limits; a figure outside of its limit is
marked, and the exit code is 1.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import cuda_tools

ROOT = Path(__file__).resolve().parents[1]


def benchmarks(build):
    """{name: command} of every benchmark."""
    found = {}
    for path in sorted((ROOT / "benchmarks").glob("*.py")):
        found[path.stem] = [sys.executable, str(path)]
    folder = build / "benchmarks"
    for path in sorted(folder.glob("*")) if folder.is_dir() else []:
        if path.is_file() and path.stat().st_mode & 0o100:
            found[path.name] = [str(path)]
    return found


def run(name, command, build):
    """The figures of one benchmark, or None when it failed."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "figures.json"
        result = subprocess.run([*command, f"--build={build}", f"--json={out}"])
        if result.returncode or not out.exists():
            print(f"error: {name} failed ({result.returncode})", file=sys.stderr)
            return None
        return [{"benchmark": name, **row} for row in json.loads(out.read_text())]


def verdict(row):
    """What the limits say: '' inside, else which is broken."""
    if "at_most" in row and row["value"] > row["at_most"]:
        return f"above {row['at_most']}"
    if "at_least" in row and row["value"] < row["at_least"]:
        return f"below {row['at_least']}"
    return ""


def show(rows):
    width = max((len(row["name"]) for row in rows), default=0)
    for row in rows:
        value = row["value"]
        text = f"{value:.4g}" if isinstance(value, float) else str(value)
        line = f"{row['name']:{width}}  {text:>10} {row.get('unit', ''):8}"
        print(f"{line} {verdict(row) or row.get('note', '')}".rstrip())


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--out", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    known = benchmarks(args.build)
    for name in args.names:
        if name not in known:
            print(f"error: no benchmark '{name}': {', '.join(known)}", file=sys.stderr)
            return 2
    rows, failed = [], False
    for name, command in known.items():
        if args.names and name not in args.names:
            continue
        figures = run(name, command, args.build)
        failed |= figures is None
        rows += figures or []
    show(rows)
    out = args.out or args.build / "reports" / "bench.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    tools = {tool: cuda_tools.version(tool) for tool in ("ptxas", "cuobjdump")}
    document = {"format": 1, "tools": tools, "figures": rows}
    out.write_text(json.dumps(document, indent=1) + "\n")
    print(f"report: {out}")
    return 1 if failed or any(map(verdict, rows)) else 0


if __name__ == "__main__":
    sys.exit(main())
