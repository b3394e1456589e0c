#!/usr/bin/env python3
# ===- run-readme.py - run the commands of a page --------------------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""Runs every ```sh block of a page, and compares what the page shows.

    run-readme.py PAGE [--skip=COMMAND]... [--list]

A block's lines run in one bash, from the repository's root, stopping at the
first that fails. A ```text block right after it is the expected output: each
of its lines must occur in the output in this order, where `...` stands for
anything. --skip leaves out lines that start so (the test that runs this script
cannot start all tests again).
"""

import argparse
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass
class Step:
    line: int
    commands: str
    expected: list


def steps(text):
    """The sh blocks of a page, each with its text block when one follows."""
    found, end = [], -1
    for match in BLOCK.finditer(text):
        kind, body = match.groups()
        line = text.count("\n", 0, match.start()) + 1
        if kind == "sh":
            found.append(Step(line, body, []))
            end = match.end()
        elif kind == "text" and found and not text[end : match.start()].strip():
            found[-1].expected = body.splitlines()
    return found


def first_missing(expected, output):
    """The first expected line that the output lacks, in order; or None."""
    rest = iter(output.splitlines())
    for line in expected:
        pattern = ".*".join(map(re.escape, line.split("..."))) + r"\s*"
        if not any(re.fullmatch(pattern, found) for found in rest):
            return line
    return None


def run(step, skip):
    """What went wrong with a block, or None."""
    lines = [
        line
        for line in step.commands.splitlines()
        if not any(line.startswith(prefix) for prefix in skip)
    ]
    if not any(line.strip() for line in lines):
        return None
    script = "set -euo pipefail\n" + "\n".join(lines)
    result = subprocess.run(
        ["bash", "-c", script],
        cwd=ROOT,
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if result.returncode:
        return f"exit code {result.returncode}\n{result.stdout}"
    if len(lines) == len(step.commands.splitlines()):
        missing = first_missing(step.expected, result.stdout)
        if missing is not None:
            return f"the output lacks '{missing}'\n{result.stdout}"
    return None


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("page", type=Path)
    parser.add_argument("--skip", action="append", default=[], metavar="COMMAND")
    parser.add_argument("--list", action="store_true", help="only print the commands")
    args = parser.parse_args()
    failed = 0
    for step in steps(args.page.read_text()):
        if args.list:
            print(step.commands, end="")
            continue
        problem = run(step, args.skip)
        if problem:
            failed += 1
            print(f"{args.page}:{step.line}: {problem}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
