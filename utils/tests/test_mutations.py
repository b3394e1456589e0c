# ===- test_mutations.py - the table of broken compilers -------------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
#
# The run itself takes long (the CTest test mutations/compiler); here what would
# let the table rot: a text that is no longer in its file, a test that is gone.

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

spec = importlib.util.spec_from_file_location(
    "mutate_compiler", ROOT / "utils/mutate-compiler.py"
)
mutate = importlib.util.module_from_spec(spec)
sys.modules["mutate_compiler"] = mutate
spec.loader.exec_module(mutate)

TABLE = mutate.read_table((ROOT / mutate.TABLE).read_text())
PROGRAMS = sorted({mutation.program for mutation in TABLE})


@pytest.mark.parametrize("mutation", TABLE, ids=lambda m: m.name)
def test_a_row_has_its_place(mutation):
    text = (ROOT / mutation.file).read_text()
    assert mutation.apply(text) != text


def test_rows_have_names_of_their_own():
    assert len({mutation.name for mutation in TABLE}) == len(TABLE)


def named_tests(listing):
    """The names in what --gtest_list_tests prints."""
    suite, names = "", set()
    for line in listing.splitlines():
        word = line.split("#")[0].rstrip()
        if word.startswith("  "):
            names.add(suite + word.strip())
        else:
            suite = word
    return names


@pytest.mark.parametrize("program", PROGRAMS)
def test_named_tests_exist(program):
    path = Path(os.environ.get("FA_BUILD_DIR", ROOT / "build")) / "unittests" / program
    if not path.exists():
        pytest.skip(f"{program} is not built")
    listing = subprocess.run(
        [path, "--gtest_list_tests"], capture_output=True, text=True, check=True
    ).stdout
    wanted = {m.caught_by for m in TABLE if m.program == program}
    assert not wanted - named_tests(listing)


def row(**changes):
    facts = {
        "name": "n",
        "file": "lib/A.cpp",
        "find": "a < b",
        "replace": "a <= b",
        "caught_by": "Suite.Test",
    }
    return mutate.Mutation(**{**facts, **changes})


@pytest.mark.parametrize("text, count", [("a > b", 0), ("a < b; a < b", 2)])
def test_a_place_that_is_not_one_is_refused(text, count):
    with pytest.raises(ValueError, match=f"n: lib/A.cpp has its text {count} times"):
        row().apply(text)


class FakeTree:
    """Builds and runs nothing, and remembers the source at that time."""

    def __init__(self, path, broken=None, problem=None, failed=()):
        self.path, self.broken = path, broken
        self.problem, self.failed = problem, set(failed)
        self.built = None

    def build(self, program):
        self.built = (self.path / "lib/A.cpp").read_text()
        return self.broken

    def run(self, program, tests):
        return self.problem, self.failed


@pytest.mark.parametrize(
    "result, word",
    [
        ({"failed": ["Suite.Test"]}, "caught"),
        ({}, "SURVIVES"),
        ({"broken": "error: no"}, "does not build"),
        ({"problem": "crashes (-6)"}, "crashes (-6)"),
    ],
)
def test_verdicts(tmp_path, result, word):
    source = tmp_path / "lib/A.cpp"
    source.parent.mkdir()
    source.write_text("return a < b;")
    tree = FakeTree(tmp_path, **result)
    assert mutate.verdict(tree, row()) == word
    assert tree.built == "return a <= b;"
    assert source.read_text() == "return a < b;"


@pytest.mark.parametrize(
    "result, words",
    [
        ({}, None),
        ({"broken": "error: no"}, "does not build"),
        ({"failed": ["Suite.Test"]}, "fails: Suite.Test"),
        ({"problem": "runs no Suite.Test"}, "runs no Suite.Test"),
    ],
)
def test_tests_must_pass_before(tmp_path, result, words):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/A.cpp").write_text("")
    problem = mutate.find_broken_tests(FakeTree(tmp_path, **result), [row()])
    assert words is None if problem is None else words in problem


def test_results_of_a_report():
    def test(name, status="RUN", **more):
        return {"name": name, "status": status, **more}

    suite = {
        "name": "S",
        "testsuite": [test("A"), test("B", failures=[{}]), test("C", "NOTRUN")],
    }
    assert mutate.results({"testsuites": [suite]}) == ({"S.A"}, {"S.B"})


def test_the_copy_follows_the_sources(tmp_path):
    root, tree = tmp_path / "root", tmp_path / "tree"
    for name, text in [("lib/A.cpp", "a"), ("lib/B.cpp", "b")]:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    mutate.copy_sources(root, tree)
    (tree / "build").mkdir()
    (tree / "build/kept").touch()
    before = (tree / "lib/A.cpp").stat().st_mtime_ns
    (root / "lib/B.cpp").unlink()
    (root / "lib/C.cpp").write_text("c")
    mutate.copy_sources(root, tree)
    names = {str(p.relative_to(tree)) for p in tree.rglob("*") if p.is_file()}
    assert names == {"lib/A.cpp", "lib/C.cpp", "build/kept"}
    assert (tree / "lib/A.cpp").stat().st_mtime_ns == before
