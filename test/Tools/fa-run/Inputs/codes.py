# ===- codes.py - exit codes of command lines -------------------------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""codes.py: runs each line of standard input that starts with a dollar sign,
and prints the exit code and the first line of stderr."""

import shlex
import subprocess
import sys

for line in sys.stdin:
    if not line.startswith("$ "):
        continue
    found = subprocess.run(shlex.split(line[2:]), capture_output=True, text=True)
    first = (found.stderr.splitlines() or ["(quiet)"])[0]
    print(f"{found.returncode} {first}")
