#!/usr/bin/env python3
# ===- mutate-compiler.py - do the tests notice what breaks? ---------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""Breaks one thing at a time in the compiler; the named test must notice it.

    mutate-compiler.py TREE [--only=REGEX]

Each row of unittests/Attention/Mutations.toml is a text of one source file, what
is put in its place, and the test that fails then. TREE is a folder for this
script alone: a copy of the sources and their build in TREE/build, both kept for
the next time. There a row is put in, the test's program built and the test run;
before that all named tests must pass on the unchanged sources. What does not
build, crashes or hangs is not caught: that says nothing about the test.

Exit code 0 when every row is caught, else 1.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TABLE = "unittests/Attention/Mutations.toml"
# The program of a row that names none.
PROGRAM = "FAAttentionTests"
# A test takes seconds, five hundred configurations minutes; a kernel that never
# ends is stopped.
TEST_SECONDS = 900


@dataclass(frozen=True)
class Mutation:
    name: str
    file: str
    find: str
    replace: str
    caught_by: str
    program: str = PROGRAM

    def apply(self, text):
        """The text with the mutation; its place must be the only one."""
        count = text.count(self.find)
        if count != 1:
            raise ValueError(f"{self.name}: {self.file} has its text {count} times")
        return text.replace(self.find, self.replace)


def read_table(text):
    return [Mutation(**row) for row in tomllib.loads(text)["mutation"]]


def sources(root):
    """Tracked files; without git all that are not a build's."""
    command = ["git", "-C", str(root), "ls-files", "-co", "--exclude-standard", "-z"]
    listing = None
    if shutil.which("git"):
        listing = subprocess.run(command, capture_output=True, text=True)
    if listing and listing.returncode == 0:
        names = {name for name in listing.stdout.split("\0") if name}
    else:
        paths = (path.relative_to(root) for path in root.rglob("*"))
        names = {str(p) for p in paths if not p.parts[0].startswith((".git", "build"))}
    return {name for name in names if (root / name).is_file()}


def write_if_changed(path, data):
    """Writes the bytes, and leaves a file alone that holds them already."""
    if path.is_file() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def copy_sources(root, tree):
    names = sources(root)
    for name in names:
        write_if_changed(tree / name, (root / name).read_bytes())
        shutil.copymode(root / name, tree / name)
    for path in [p for p in tree.rglob("*") if p.is_file()]:
        name = path.relative_to(tree)
        if name.parts[0] != "build" and str(name) not in names:
            path.unlink()


class Tree:
    """The copy, its build, and the tests in it."""

    def __init__(self, path, jobs):
        self.path, self.jobs = path, jobs

    def configure(self):
        subprocess.run(
            ["cmake", "--preset", "release", f"-DFA_PYTHON={sys.executable}"],
            cwd=self.path,
            check=True,
            stdout=subprocess.DEVNULL,
        )

    def build(self, program):
        """The output of a build that failed, or None."""
        command = ["cmake", "--build", "build", "-j", str(self.jobs), "-t", program]
        result = subprocess.run(
            command,
            cwd=self.path,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        return result.stdout if result.returncode else None

    def run(self, program, tests):
        """Why the tests could not be run, or None; and those that failed."""
        report = self.path / "build" / "mutation.json"
        report.unlink(missing_ok=True)
        command = [
            self.path / "build" / "unittests" / program,
            "--gtest_filter=" + ":".join(tests),
            f"--gtest_output=json:{report}",
        ]
        try:
            code = subprocess.run(
                command,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=TEST_SECONDS * len(tests),
            ).returncode
        except subprocess.TimeoutExpired:
            return "hangs", set()
        if not report.is_file():
            return f"crashes ({code})", set()
        passed, failed = results(json.loads(report.read_text()))
        missing = set(tests) - passed - failed
        return (f"runs no {min(missing)}" if missing else None), failed


def results(report):
    """The names of the tests of a GoogleTest report: passed, and failed."""
    passed, failed = set(), set()
    for suite in report["testsuites"]:
        for test in suite["testsuite"]:
            if test["status"] == "RUN":
                name = f"{suite['name']}.{test['name']}"
                (failed if test.get("failures") else passed).add(name)
    return passed, failed


def find_broken_tests(tree, mutations):
    """What is wrong with the named tests on the unchanged sources."""
    for program in sorted({m.program for m in mutations}):
        if output := tree.build(program):
            return f"{program} does not build:\n{output}"
        tests = sorted({m.caught_by for m in mutations if m.program == program})
        problem, failed = tree.run(program, tests)
        if problem or failed:
            return f"{program} {problem or 'fails: ' + ', '.join(sorted(failed))}"
    return None


def verdict(tree, mutation):
    """`caught`, or what happened instead."""
    path = tree.path / mutation.file
    text = path.read_text()
    try:
        path.write_text(mutation.apply(text))
        if tree.build(mutation.program):
            return "does not build"
        problem, failed = tree.run(mutation.program, [mutation.caught_by])
        return problem or ("caught" if failed else "SURVIVES")
    finally:
        path.write_text(text)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tree", type=Path)
    parser.add_argument("--only", default="", help="rows whose name matches")
    args = parser.parse_args()
    mutations = [
        m
        for m in read_table((ROOT / TABLE).read_text())
        if re.search(args.only, m.name)
    ]
    # One program and one file after another: least is built.
    mutations.sort(key=lambda m: (m.program, m.file))
    jobs = int(os.environ.get("FA_JOBS", 0)) or os.cpu_count()
    tree = Tree(args.tree.resolve(), jobs)
    copy_sources(ROOT, tree.path)
    tree.configure()
    if problem := find_broken_tests(tree, mutations):
        print(problem)
        return 1
    missed = 0
    for mutation in mutations:
        word = verdict(tree, mutation)
        missed += word != "caught"
        print(f"{word}: {mutation.name} by {mutation.caught_by}", flush=True)
    print(f"{len(mutations) - missed} of {len(mutations)} mutations caught")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
