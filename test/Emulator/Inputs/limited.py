# ===- limited.py - a command with little memory --------------------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""limited.py MEGABYTES CODE COMMAND...: runs the command with that much address
space; fails unless it exits with CODE."""

import resource
import subprocess
import sys

limit = int(sys.argv[1]) << 20


def restrict():
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


code = subprocess.run(sys.argv[3:], preexec_fn=restrict).returncode
if str(code) != sys.argv[2]:
    sys.exit(f"exit code {code}, expected {sys.argv[2]}")
