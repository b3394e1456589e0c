#!/usr/bin/env python3
# ===- compile.py - CUDA sources to PTX ------------------------------------===#
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------===#
"""Compiles the sources of this folder by nvcc, for every architecture each is
written for. Inputs/ holds the result, so that tests run without nvcc; with
--out another folder gets it, which tests take by FA_COMPILED_PTX.
utils/check-source.py --fix then takes tabs and trailing space out of Inputs/.

    compile.py [--nvcc=PATH] [--out=FOLDER] [--ptxas] [NAME ...]
"""

import argparse
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent

ARCHES = {
    "atomics": ["sm_80", "sm_90a"],
    "attention": ["sm_90a"],
    "calls": ["sm_80", "sm_90a"],
    "clusters": ["sm_90a"],
    "hopper": ["sm_90a"],
    "memory": ["sm_80", "sm_90a"],
    "numbers": ["sm_80", "sm_89", "sm_90a"],
    "output": ["sm_80"],
    "reductions": ["sm_80", "sm_90a"],
    "tensor": ["sm_80", "sm_89", "sm_90a"],
    "tiles": ["sm_80", "sm_90a"],
    "warps": ["sm_80", "sm_90a"],
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "Inputs")
    parser.add_argument("--ptxas", action="store_true", help="assemble the result too")
    parser.add_argument("names", nargs="*", default=sorted(ARCHES))
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for name in args.names:
        for arch in ARCHES[name]:
            ptx = args.out / f"{name}.{arch}.ptx"
            source = HERE / f"{name}.cu"
            run = [
                args.nvcc,
                "-std=c++17",
                f"-arch={arch}",
                "-ptx",
                str(source),
                "-o",
                str(ptx),
            ]
            if subprocess.run(run).returncode:
                return 1
            if args.ptxas:
                ptxas = pathlib.Path(args.nvcc).with_name("ptxas")
                check = [str(ptxas), f"-arch={arch}", str(ptx), "-o", "/dev/null"]
                if subprocess.run(check).returncode:
                    return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
