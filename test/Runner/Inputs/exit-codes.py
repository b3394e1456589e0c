# ===- exit-codes.py - one broken package for each exit code ---------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""exit-codes.py PACKAGE FOLDER: runs fa-launch on copies of a package, each
damaged in one way, and prints the exit codes."""

import ctypes.util
import shutil
import subprocess
import sys
from pathlib import Path

package, folder = Path(sys.argv[1]), Path(sys.argv[2])


def run(name, *options, package=package):
    command = ["fa-launch", str(package), *options]
    code = subprocess.run(command, capture_output=True, text=True).returncode
    print(f"{name}: {code}")


def run_into(name, sink, *options):
    with open(sink, "w") as stdout:
        command = ["fa-launch", str(package), *options]
        code = subprocess.run(command, stdout=stdout, stderr=subprocess.DEVNULL)
    print(f"{name}: {code.returncode}")


def damaged(name, file, old, new):
    copy = folder / f"{name}.fapkg"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(package, copy)
    text = (copy / file).read_text()
    assert old in text
    (copy / file).write_text(text.replace(old, new, 1))
    return copy


rows = ["--dim=Sq=40", "--device=emulator"]
run("right", *rows)
run("no such option", "--colour=red")
run("no package", package=package / "kernel.ptx")
run("help", "--help")
run_into("no room for words", "/dev/full", *rows)
run_into("no room for help", "/dev/full", "--help")
doubled = damaged("doubled", "kernel.ptx", "[%rd3]", "[%rd2]")
run("wrong value of V", *rows, package=doubled)
run("unchecked", *rows, "--no-check", package=doubled)
opcode = damaged("opcode", "kernel.ptx", "cvt.f32.f16 %f1", "frobnicate.f32.f16 %f1")
run("unknown opcode", *rows, package=opcode)
cut = damaged("cut", "manifest.json", '"launches"', '"lunches"')
run("manifest cut short", *rows, package=cut)
beyond = damaged(
    "beyond", "kernel.ptx", "setp.ge.u32 %p1, %r2, %r1", "setp.ge.u32 %p1, %r2, 64"
)
run("rows beyond the buffer", *rows, package=beyond)
endless = damaged("endless", "kernel.ptx", "DONE:\n", "DONE:\n    bra DONE;\n")
run("instruction limit", *rows, "--max-instructions=1000", package=endless)
if ctypes.util.find_library("cuda"):
    print("cuda: 3")  # a driver is here; its absence cannot be shown
else:
    run("cuda", "--dim=Sq=40", "--device=cuda")
