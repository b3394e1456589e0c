# ===- test_fa.py - ./fa where something is missing or wrong -------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
#
# Stub commands in front of PATH play a machine without our packages, so that
# nothing is ever installed from here.

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def bare():
    """A copy of the script and a PATH on which no Debian package is there."""
    # Not pytest's tmp_path, which another user may not enter.
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    shutil.copyfile(ROOT / "fa", folder / "fa")
    (folder / "fa").chmod(0o755)
    bin_dir = folder / "bin"
    bin_dir.mkdir()
    bin_dir.chmod(0o755)

    def stub(name, body):
        (bin_dir / name).write_text("#!/bin/sh\n" + body + "\n")
        (bin_dir / name).chmod(0o755)

    stub("dpkg-query", "exit 1")
    stub("apt-cache", "echo '  Candidate: (none)'")
    stub("apt-get", 'echo "apt-get $*"')
    stub("sudo", "exit 1")
    stub("pip", "exit 1")

    def run(*args, as_user=False):
        env = {"PATH": f"{bin_dir}:{os.environ['PATH']}", "HOME": str(folder)}
        command = ["bash", str(folder / "fa"), *args]
        if as_user and os.geteuid() == 0:
            command = ["setpriv", "--reuid=65534", "--clear-groups", *command]
        return subprocess.run(
            command, env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL
        )

    run.stub = stub
    yield run
    shutil.rmtree(folder)


def test_without_root_and_sudo_it_prints_the_one_line(bare):
    result = bare("build", as_user=True)
    assert result.returncode == 3
    (line,) = result.stdout.splitlines()
    assert line.startswith("apt-get update && apt-get install -y ")
    assert "libmlir-22-dev" in line and "ninja-build" in line


@pytest.mark.skipif(os.geteuid() != 0, reason="plays root")
def test_package_unknown_to_apt_is_named(bare):
    bare.stub(
        "apt-cache",
        'case $2 in llvm-22-dev) echo "Candidate: (none)";; *) echo "Candidate: 1";; esac',
    )
    result = bare("build")
    assert result.returncode == 3
    assert "apt knows no package llvm-22-dev:" in result.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="plays root")
def test_failing_install_stops(bare):
    bare.stub("apt-cache", 'echo "Candidate: 1"')
    bare.stub("apt-get", 'test "$1" = update')
    result = bare("test")
    assert result.returncode == 3
    assert "apt-get could not install" in result.stderr


@pytest.mark.parametrize(
    "args, message",
    [
        (["frobnicate"], "unknown command 'frobnicate'"),
        (["build", "--preset=fast"], "unknown preset 'fast'"),
        ([], ""),
    ],
)
def test_wrong_usage(bare, args, message):
    result = bare(*args)
    assert result.returncode == 2
    assert message in result.stderr


def test_doctor_names_what_is_missing_and_installs_nothing(bare):
    result = bare("doctor")
    assert result.returncode == 3
    assert "libmlir-22-dev" in result.stdout.splitlines()[-1]
    assert "apt-get" not in result.stdout


def test_help(bare):
    result = bare("help")
    assert result.returncode == 0
    for command in ["demo", "test", "build", "bench", "docs", "format", "doctor"]:
        assert f"  {command} " in result.stdout
