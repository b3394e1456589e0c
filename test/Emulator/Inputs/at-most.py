# ===- at-most.py - two peaks of peak.py that have to be close ------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""at-most.py SMALL LARGE MIB: fails when LARGE's peak is MIB above SMALL's."""

import re
import sys
from pathlib import Path


def peak(path):
    return float(re.search(r"peak: ([\d.]+) MiB", Path(path).read_text())[1])


small, large, most = peak(sys.argv[1]), peak(sys.argv[2]), float(sys.argv[3])
print(f"{small} MiB, then {large} MiB; at most {most} MiB more")
sys.exit(large - small > most)
