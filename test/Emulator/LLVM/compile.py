#!/usr/bin/env python3
# ===- compile.py - LLVM IR and MLIR to PTX --------------------------------===#
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------===#
"""Compiles the sources in Inputs/ by the tools of LLVM. The result lies beside
them, so that tests run without the tools; with --out another folder gets it, which
tests take by FA_COMPILED_PTX.
utils/check-source.py --fix then takes tabs and trailing space out of Inputs/.

    compile.py [--llvm=FOLDER] [--out=FOLDER]
"""

import argparse
import pathlib
import subprocess
import sys

SOURCES = pathlib.Path(__file__).resolve().parent / "Inputs"
LOWERING = (
    "builtin.module(convert-nvgpu-to-nvvm,gpu.module(convert-scf-to-cf,"
    "expand-strided-metadata,lower-affine,convert-gpu-to-nvvm,"
    "reconcile-unrealized-casts))"
)
TRIPLE = "--mtriple=nvptx64-nvidia-cuda"


def kernels(module):
    """The body of the one gpu.module, as a module."""
    start = module.index("{", module.index("gpu.module"))
    return "module " + module[start : module.rindex("}")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--llvm", default="/usr/lib/llvm-22/bin")
    parser.add_argument("--out", type=pathlib.Path, default=SOURCES)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)

    def run(tool, *options, text):
        command = [f"{args.llvm}/{tool}", *options]
        done = subprocess.run(command, input=text, capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        return done.stdout

    def assemble(name, text):
        for arch, version in (("sm_80", "80"), ("sm_90a", "83")):
            ptx = run(
                "llc",
                "-O2",
                f"-mcpu={arch}",
                f"-mattr=+ptx{version}",
                TRIPLE,
                text=text,
            )
            (args.out / f"{name}.{arch}.ptx").write_text(ptx)

    assemble("rows", (SOURCES / "rows.ll").read_text())
    lowered = run(
        "mlir-opt",
        f"--pass-pipeline={LOWERING}",
        text=(SOURCES / "tiles.mlir").read_text(),
    )
    llvm = run("mlir-translate", "--mlir-to-llvmir", text=kernels(lowered))
    assemble("tiles", run("opt", "-O2", "-S", TRIPLE, text=llvm))


if __name__ == "__main__":
    main()
