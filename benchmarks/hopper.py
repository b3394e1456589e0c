#!/usr/bin/env python3
# ===- hopper.py - figures of the attention kernels for sm_90a ------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""The figures of attention.py for sm_90a, and those of its overlap.

hopper.py --build=DIR --json=FILE
"""

import sys

import attention

if __name__ == "__main__":
    sys.exit(attention.main(["--target=sm_90a", *sys.argv[1:]]))
