#!/usr/bin/env python3
# ===- compile.py - Triton kernels to PTX ----------------------------------===#
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------===#
"""Compiles kernels.py by Triton, which needs no GPU for that. Inputs/ holds the
result, so that tests run without Triton.
utils/check-source.py --fix then takes tabs and trailing space out of Inputs/.

    compile.py [--out=FOLDER]
"""

import argparse
import pathlib
import re

import triton
from kernels import attention, matmul
from triton.backends.compiler import GPUTarget

HERE = pathlib.Path(__file__).resolve().parent

KERNELS = {
    "matmul": (
        matmul,
        {"a": "*fp16", "b": "*fp16", "c": "*fp32", "M": "i32", "N": "i32", "K": "i32"},
        {"BM": 64, "BN": 64, "BK": 32},
        ("a", "b", "c", "N", "K"),
    ),
    "attention": (
        attention,
        {
            "q": "*fp16",
            "k": "*fp16",
            "v": "*fp16",
            "out": "*fp16",
            "lse": "*fp32",
            "S": "i32",
            "scale": "fp32",
        },
        {"D": 64, "BM": 64, "BN": 32},
        ("q", "k", "v", "out", "lse"),
    ),
}


def compile_kernel(name, capability):
    kernel, signature, constants, aligned = KERNELS[name]
    signature = dict(signature, **{c: "constexpr" for c in constants})
    order = kernel.arg_names
    # Divisible by 16, as the launcher would find.
    attributes = {(order.index(a),): [["tt.divisibility", 16]] for a in aligned}
    source = triton.compiler.ASTSource(
        fn=kernel,
        signature=signature,
        constexprs={(order.index(c),): v for c, v in constants.items()},
        attrs=attributes,
    )
    target = GPUTarget("cuda", capability, 32)
    options = {"num_warps": 4, "num_stages": 3, "ptx_version": 83}
    made = triton.compile(source, target=target, options=options)
    return made.asm["ptx"], made.metadata


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "Inputs")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for name in KERNELS:
        for arch, capability in (("sm_80", 80), ("sm_90a", 90)):
            ptx, metadata = compile_kernel(name, capability)
            # No paths of this machine; the sections are for debuggers.
            ptx = re.sub(r'\.file\s+(\d+) "[^"]*/', r'.file \1 "', ptx)
            ptx = re.sub(r", function_name .*", "", ptx)
            ptx = re.sub(r"\t\.section\s+\.debug.*?\n\t\}\n", "", ptx, flags=re.S)
            (args.out / f"{name}.{arch}.ptx").write_text(ptx)
            print(f"{name} {arch}: {metadata.shared} bytes of shared memory")


if __name__ == "__main__":
    main()
