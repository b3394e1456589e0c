# ===- peak.py - the most memory that a command takes ---------------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""peak.py COMMAND... prints the peak of the resident memory, in MiB."""

import resource
import subprocess
import sys

run = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
print(f"peak: {peak:.1f} MiB")
sys.exit(run.returncode)
