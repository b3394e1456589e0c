#!/usr/bin/env python3
# ===- bench.py - run the benchmarks, collect their figures ----------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""What ./fa bench runs: every benchmark, one JSON file and a table.

    bench.py --build=DIR [--out=FILE] [--record=RESULT] [NAME...]

A benchmark is benchmarks/NAME.py or an executable DIR/benchmarks/NAME. It is
called with `--build=DIR --json=FILE` and writes a list of figures:

    [{"name": "sm_80 d64 registers", "value": 178, "unit": "",
      "at_most": 255, "note": "ptxas 13.0.88"}, ...]

`at_most` and `at_least` are optional limits; a figure outside of its limit is
marked, and the exit code is 1. A figure that could not be measured has the
value null and says why in its note. Figures with a `case` and a `figure` make
the table that --record writes into docs/Benchmarks.md, beside
benchmarks/results/RESULT.json.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import cuda_tools

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "Benchmarks.md"
SOURCES = ("CMakeLists.txt", "cmake", "include", "lib", "tools")


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
    """What the limits say: '' inside, or not measured for the reason that the
    row's note gives; else which is broken."""
    if row["value"] is None:
        return "" if row.get("note") or not limit_text(row) else "not measured"
    if "at_most" in row and row["value"] > row["at_most"]:
        return f"above {row['at_most']}"
    if "at_least" in row and row["value"] < row["at_least"]:
        return f"below {row['at_least']}"
    return ""


def value_text(row):
    """The value for people."""
    value = row["value"]
    if value is None:
        return "n/a"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def limit_text(row):
    """The limit for people, or ''."""
    if "at_most" in row:
        return f"≤ {row['at_most']:.4g}"
    return f"≥ {row['at_least']:.4g}" if "at_least" in row else ""


def show(rows):
    width = max((len(row["name"]) for row in rows), default=0)
    for row in rows:
        line = f"{row['name']:{width}}  {value_text(row):>8} {row.get('unit', ''):5}"
        line += f" {limit_text(row):8} {verdict(row):11}  {row.get('note', '')}"
        print(line.rstrip())


def table(document):
    """The figures of a result as Markdown: a line a figure, a column a case."""
    cells, cases = {}, []
    for row in document["figures"]:
        if "case" in row and "figure" in row:
            cells.setdefault(row["figure"], {})[row["case"]] = row
            cases += [row["case"]] if row["case"] not in cases else []
    lines = [
        f"| figure | limit | {' | '.join(cases)} |",
        "|---" * (len(cases) + 2) + "|",
    ]
    for figure, by_case in cells.items():
        rows = list(by_case.values())
        limits = " / ".join(dict.fromkeys(filter(None, map(limit_text, rows))))
        unit = next((f", {row['unit']}" for row in rows if row.get("unit")), "")
        texts = []
        for case in cases:
            row = by_case.get(case)
            text = value_text(row) if row else ""
            texts.append(f"**{text}**" if row and verdict(row) else text)
        lines.append(f"| {figure}{unit} | {limits} | {' | '.join(texts)} |")
    versions = [f"{tool} {version}" for tool, version in document["tools"].items()]
    origin = (
        "Measured on {date} at {commit}, {processors} processors, load "
        "{load_at_start}, with ".format(**document)
        + ", ".join(versions)
    )
    return "\n".join([f"{origin}.", "", *lines])


def with_table(page, name, document):
    """The page's text with the table of that result replaced."""
    begin, end = f"<!-- begin results/{name}.json -->", "<!-- end -->"
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    text = f"{begin}\n{table(document)}\n{end}"
    return pattern.sub(lambda _: text, page)


def commit():
    """The last commit of what is measured; '+' when files differ from it."""
    if not shutil.which("git"):
        return "unknown"

    def git(*args):
        command = ["git", "-C", str(ROOT), *args, "--", *SOURCES]
        return subprocess.run(command, capture_output=True, text=True).stdout.strip()

    changed = git("status", "--porcelain")
    return (git("log", "-1", "--format=%h") or "unknown") + ("+" if changed else "")


def llvm_version(build):
    """What the compiler was built with, or None."""
    try:
        cache = (build / "CMakeCache.txt").read_text()
        folder = re.search(r"^LLVM_DIR:\w+=(.+)$", cache, re.MULTILINE)[1]
        text = (Path(folder) / "LLVMConfigVersion.cmake").read_text()
        return re.search(r'PACKAGE_VERSION "([\d.]+)', text)[1]
    except (OSError, TypeError):
        return None


def make_document(rows, build, load):
    """The report: figures, and what they were measured with."""
    tools = {t: cuda_tools.version(t) for t in ("ptxas", "cuobjdump", "nvdisasm")}
    return {
        "format": 1,
        "date": datetime.now(UTC).date().isoformat(),
        "commit": commit(),
        "tools": tools | {"LLVM": llvm_version(build)},
        "processors": os.cpu_count(),
        "load_at_start": round(load, 1),
        "figures": rows,
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--record", metavar="RESULT")
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    known = benchmarks(args.build)
    for name in args.names:
        if name not in known:
            print(f"error: no benchmark '{name}': {', '.join(known)}", file=sys.stderr)
            return 2
    rows, failed, load = [], False, os.getloadavg()[0]
    for name, command in known.items():
        if args.names and name not in args.names:
            continue
        figures = run(name, command, args.build)
        failed |= figures is None
        rows += figures or []
    show(rows)
    out = args.out or args.build / "reports" / "bench.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    document = make_document(rows, args.build, load)
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    out.write_text(text)
    print(f"report: {out}")
    if args.record and not failed:
        (ROOT / "benchmarks" / "results" / f"{args.record}.json").write_text(text)
        PAGE.write_text(with_table(PAGE.read_text(), args.record, document))
    return 1 if failed or any(map(verdict, rows)) else 0


if __name__ == "__main__":
    sys.exit(main())
