# ===- judge.py - what one of fa-ptx-emu and ptxas says of the other -------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""judge.py FOLDER: compares the two on every .ptx below FOLDER.

Files in a folder named `wrong` must be refused by both, and ours must say where.
Of the others, what fa-ptx-emu accepts ptxas must accept too.
"""

import re
import subprocess
import sys
from pathlib import Path


def ours(path):
    """None when every entry decodes, else the message."""
    run = subprocess.run(
        ["fa-ptx-emu", str(path), "--check"], capture_output=True, text=True
    )
    if run.returncode not in (0, 2):
        sys.exit(f"{path}: fa-ptx-emu ended with {run.returncode}\n{run.stderr}")
    return run.stderr if run.returncode else None


def theirs(path):
    """None when the file assembles, else the message."""
    target = re.search(r"^\s*\.target\s+(sm_\w+)", path.read_text(), re.M)
    arch = target[1] if target else "sm_80"
    run = subprocess.run(
        ["ptxas", f"-arch={arch}", str(path), "-o", "/dev/null"],
        capture_output=True,
        text=True,
    )
    return run.stderr if run.returncode else None


def main():
    faults, accepted, refused = [], 0, 0
    for path in sorted(Path(sys.argv[1]).rglob("*.ptx")):
        message = ours(path)
        verdict = theirs(path)
        if path.parent.name == "wrong":
            refused += 1
            if message is None:
                faults.append(f"{path}: fa-ptx-emu accepts this")
            elif not re.match(rf"{re.escape(str(path))}:\d+:\d+: error: ", message):
                faults.append(f"{path}: no location in: {message}")
            if verdict is None:
                faults.append(f"{path}: ptxas accepts this")
        elif message is None:
            accepted += 1
            if verdict is not None:
                faults.append(f"{path}: only ptxas refuses this: {verdict}")
    print("\n".join(faults))
    print(f"judged: {accepted} accepted by both, {refused} refused by both")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
