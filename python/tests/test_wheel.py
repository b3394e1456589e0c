# ===- test_wheel.py - pip install ./python, away from the tree ----------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""Builds the wheel as a user would, installs it into a fresh virtual environment,
and runs the tests of the package there, from another folder. PyPI must be reachable."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import fa
import pytest

SOURCE = Path(__file__).parents[1]
SUITES = {path.stem.removeprefix("test_") for path in SOURCE.glob("tests/test_*.py")}
# Tests that need what a fresh environment lacks, or time.
LEFT_OUT = {
    "device_memory": "the fake driver of the build tree",
    "leaks": "minutes, for a library that is the tree's to the byte",
    "torch": "PyTorch",
    "tutorial": "matplotlib, and the pages of the tree",
    "wheel": "the environment that it makes",
}


def run(*command, **options):
    result = subprocess.run(
        list(map(str, command)),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **options,
    )
    assert result.returncode == 0, result.stdout
    return result.stdout


def build(folder, *options):
    """The wheel of the source tree."""
    run(
        sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, SOURCE,
        *options,
    )  # fmt: skip
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A wheel around the library that is built already."""
    library = Path(fa.__file__).parent / "libFA-C.so"
    option = f"--config-settings=cmake.define.FA_LIBRARY={library.resolve()}"
    return build(tmp_path_factory.mktemp("wheel"), option)


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    folder = tmp_path_factory.mktemp("venv")
    run(sys.executable, "-m", "venv", folder)
    python = folder / "bin" / "python"
    others = ("pytest", "hypothesis", "mypy", "tqdm")
    run(python, "-m", "pip", "install", "-q", wheel, *others)
    return python


def environment():
    hidden = ("PYTHONPATH", "FA_LIBRARY", "FA_BUILD_DIR")
    return {key: value for key, value in os.environ.items() if key not in hidden}


def test_what_is_in_it(wheel):
    assert wheel.name.endswith("-py3-none-linux_x86_64.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    sources = {f"fa/{path.name}" for path in (SOURCE / "fa").glob("*.py")}
    assert sources | {"fa/libFA-C.so", "fa/FA.h", "fa/py.typed"} <= names
    others = [n for n in names if not n.startswith(("fa/", "fa_mlir-"))]
    assert not others, others


def test_from_sources(wheel, tmp_path):
    """What `pip install ./python` does; minutes, and seconds with ccache."""
    built = build(tmp_path)
    names = [zipfile.ZipFile(file).namelist() for file in (wheel, built)]
    assert built.name == wheel.name and sorted(names[0]) == sorted(names[1])


def test_it_works_elsewhere(python, tmp_path):
    code = "import fa; print(fa.__file__)"
    where = run(python, "-c", code, cwd=tmp_path, env=environment())
    assert str(python.parents[1]) in where
    shown = run(python, "-m", "fa", cwd=tmp_path, env=environment())
    assert shown.startswith("fa ") and "emulator" in shown


@pytest.mark.parametrize("name", sorted(SUITES - LEFT_OUT.keys()))
def test_suite(python, tmp_path, name):
    file = SOURCE / "tests" / f"test_{name}.py"
    command = (python, "-m", "pytest", "-q", "-p", "no:cacheprovider", file)
    assert " passed" in run(*command, cwd=tmp_path, env=environment())


def test_what_is_left_out_is_there():
    assert LEFT_OUT.keys() <= SUITES
