# ===- test_checks.py - the layering and source checks --------------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
#
# Each check passes on this tree, catches a fault planted in a small one, and
# lets the near miss beside it through.

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LICENCE = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"


def run(script, *args):
    return subprocess.run(
        [sys.executable, str(ROOT / "utils" / script), *map(str, args)],
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("script", ["check-layering.py", "check-source.py"])
def test_this_tree(script):
    result = run(script)
    assert result.returncode == 0, result.stdout


def test_source_without_git(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    plant(tmp_path, "docs/a.md", "two  \n")
    result = run("check-source.py", tmp_path)
    assert result.returncode == 1 and "trailing space" in result.stdout


def plant(root, name, text):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize(
    "name, bad, good",
    [
        # The machine that judges the compiler shares nothing with it.
        ("lib/Emulator/Executor/A.cpp", "llvm/ADT/STLExtras.h", "fa/Support/Npy.h"),
        ("lib/Emulator/Executor/A.cpp", "fa/Compiler/Compiler.h", "vector"),
        # Checkers are observers: the executor does not know them.
        (
            "lib/Emulator/Executor/A.cpp",
            "fa/Emulator/Checkers/Race.h",
            "fa/Emulator/ExecutionObserver.h",
        ),
        ("lib/Emulator/Parser/A.cpp", "fa/Emulator/Executor/Warp.h", "Lexer.h"),
        ("lib/Reference/A.cpp", "fa/Emulator/Device.h", "fa/Reference/Attention.h"),
        ("lib/Runner/A.cpp", "fa/Runtime/Emulator/Device.h", "fa/Runtime/Device.h"),
        ("lib/Runner/A.cpp", "fa/Compiler/Compiler.h", "fa/Support/Manifest.h"),
        ("include/fa/Runtime/A.h", "fa/Emulator/Device.h", "fa/Runtime/Buffer.h"),
        (
            "lib/Dialect/FA/IR/A.cpp",
            "mlir/Dialect/GPU/IR/GPUDialect.h",
            "mlir/IR/Builders.h",
        ),
        (
            "lib/Dialect/FA/IR/A.cpp",
            "fa/Dialect/FA/Transforms/Passes.h",
            "fa/Dialect/FA/IR/FADialect.h",
        ),
        (
            "lib/GPU/MMA/A.cpp",
            "fa/Dialect/FA/Transforms/Passes.h",
            "fa/GPU/MMA/MMALayout.h",
        ),
        ("lib/Compiler/A.cpp", "fa/Runner/Runner.h", "fa/Pipelines/Pipelines.h"),
        ("lib/Support/A.cpp", "../Emulator/Parser/Lexer.h", "Lexer.h"),
        ("lib/Support/A.cpp", "../../tools/fa-run/Main.h", "Lexer.h"),
        ("lib/GPU/Distribute/A.cpp", "../../Compiler/A.h", "../MMA/MmaSync.h"),
    ],
)
def test_layering_catches(tmp_path, name, bad, good):
    plant(tmp_path, name, f'#include "{good}"\n')
    assert run("check-layering.py", tmp_path).stdout == ""
    plant(tmp_path, name, f'#include "{good}"\n  #  include <{bad}>\n')
    result = run("check-layering.py", tmp_path)
    assert result.returncode == 1
    assert result.stdout.startswith(f"{name}:2: {bad}: ")


@pytest.mark.parametrize(
    "bad, good",
    [
        ("op.getSoftcapAttr()", "softcapAttr"),
        ("op.getMaskAttrs()", "transfer.getMask()"),
        ("isa<CausalAttr>(mask)", "mask.emitKeyInterval(b, loc, row, offset)"),
        ("op.hasVisible()", "isVisible(op)"),
        ("op.getKvLengths()", "getLengths(op)"),
    ],
)
def test_no_pass_asks_for_a_clause(tmp_path, bad, good):
    folder = "lib/Dialect/FA/Transforms"
    plant(tmp_path, f"{folder}/A.cpp", f"{good};\n")
    plant(tmp_path, f"{folder}/AttentionTiler.cpp", f"{bad};\n")
    plant(tmp_path, "lib/Dialect/FA/IR/A.cpp", f"{bad};\n")
    assert run("check-layering.py", tmp_path).stdout == ""
    plant(tmp_path, f"{folder}/A.cpp", f"{good};\n{bad};\n")
    result = run("check-layering.py", tmp_path)
    assert result.returncode == 1
    assert result.stdout.startswith(f"{folder}/A.cpp:2: ")


def test_each_row_of_the_layers_is_a_folder():
    layers = runpy.run_path(str(ROOT / "utils" / "check-layering.py"))["LAYERS"]
    bases = ROOT / "lib", ROOT / "include" / "fa"
    gone = [row for row in layers if not any((base / row).is_dir() for base in bases)]
    assert layers and not gone


def test_layering_wants_a_row_for_each_folder(tmp_path):
    plant(tmp_path, "lib/Novelty/A.cpp", "")
    assert "Novelty has no row" in run("check-layering.py", tmp_path).stdout


@pytest.mark.parametrize(
    "name, text, message",
    [
        ("lib/A.cpp", "int x;\n", "no 'SPDX"),
        ("lib/A.cpp", f"//===- B.cpp - b ===//\n// {LICENCE}\n", "name A.cpp"),
        ("docs/a.md", "two  \n", "trailing space"),
        ("docs/a.md", "no newline", "line end"),
        ("docs/a.md", "one\n\ttab\n", "a.md:2: trailing space, tab"),
        ("docs/a.md", "TODO: more\n", "left-over TODO"),
        ("docs/a.md", "see /home/somebody/x\n", "path of one machine"),
    ],
)
def test_source_catches(tmp_path, name, text, message):
    plant(tmp_path, name, text)
    result = run("check-source.py", tmp_path)
    assert result.returncode == 1
    assert message in result.stdout


def test_source_catches_large_files(tmp_path):
    plant(tmp_path, "docs/a.md", "x" * 1_000_001)
    assert "larger than 1 MB" in run("check-source.py", tmp_path).stdout


def test_source_broken_banner(tmp_path):
    plant(tmp_path, "lib/A.cpp", f"//===- A.cpp - a -*- C++\n//-*-===//\n// {LICENCE}\n")
    result = run("check-source.py", tmp_path)
    assert result.stdout == "lib/A.cpp:1: banner goes on after its line\n"
    assert result.returncode == 1


def test_source_near_misses(tmp_path):
    plant(tmp_path, "lib/A.cpp", f"//===- A.cpp - a ===//\n// {LICENCE}\n")
    plant(tmp_path, "test/A/a.mlir", "// a test needs no banner\n")
    plant(tmp_path, "docs/a.md", "see include/home/x and a todo list\n")
    result = run("check-source.py", tmp_path)
    assert (result.returncode, result.stdout) == (0, "")


def test_source_fix(tmp_path):
    plant(tmp_path, "docs/a.md", "two  \n\ttab\n\n\n")
    assert run("check-source.py", "--fix", tmp_path).returncode == 0
    assert (tmp_path / "docs/a.md").read_text() == "two\n  tab\n"
