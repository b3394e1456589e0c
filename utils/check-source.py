#!/usr/bin/env python3
# ===- check-source.py - what every file of the tree must look like -------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""Small checks on all text files of the repository.

    check-source.py [--fix] [ROOT]    exit code 1 and one line for each fault

Banner of one line with its own file name and the licence line in sources; no trailing
space, no tab, a newline at the end (--fix repairs these three); no TODO; no
absolute path of somebody's machine; no file above 1 MB.
"""

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

BANNERED = {".h", ".cpp", ".td", ".py", ".cmake", ".cu"}
NO_BANNER = {"test", "build"}  # tests speak for themselves; build/ is not ours
BINARY = {".npy", ".cubin", ".bin", ".png"}
LICENCE = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
MACHINE_PATH = re.compile(r"(?<![\w./-])/(?:work|home|root|Users)/")
TODO = re.compile(r"\b(TODO|FIXME|XXX)\b")
SELF = {"utils/check-source.py", "utils/tests/test_checks.py"}


def files(root):
    """Tracked files; all of them where there is no git or no checkout."""
    command = ["git", "-C", str(root), "ls-files", "-co", "--exclude-standard", "-z"]
    listing = None
    if shutil.which("git"):
        listing = subprocess.run(command, capture_output=True, text=True)
    if listing and listing.returncode == 0:
        names = [name for name in listing.stdout.split("\0") if name]
    else:
        names = [
            str(path.relative_to(root))
            for path in root.rglob("*")
            if not any(
                part.startswith((".git", "build", "__pycache__"))
                for part in path.relative_to(root).parts
            )
        ]
    return [name for name in sorted(names) if (root / name).is_file()]


def repaired(text):
    """The text without trailing space and tabs, ended by one newline."""
    lines = [line.rstrip().expandtabs(2) for line in text.splitlines()]
    return "\n".join(lines).rstrip("\n") + "\n" if lines else ""


def needs_banner(path):
    return path.suffix in BANNERED and path.parts[0] not in NO_BANNER


def check_file(root, name, fix):
    """Faults of one file as lines."""
    path = Path(name)
    data = (root / name).read_bytes()
    if len(data) > 1_000_000:
        return [f"{name}:1: larger than 1 MB"]
    if path.suffix in BINARY or path.name == "LICENSE":
        return []
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return [f"{name}:1: not UTF-8 text"]
    if fix and repaired(text) != text:
        text = repaired(text)
        (root / name).write_text(text)
    found = []
    if repaired(text) != text:
        pairs = zip(text.splitlines(), repaired(text).splitlines())
        number = next((n for n, (a, b) in enumerate(pairs, 1) if a != b), 0)
        found.append(
            f"{name}:{number or len(text.splitlines())}: trailing space, tab or "
            "line end at fault (utils/check-source.py --fix)"
        )
    head = text.splitlines()[:8]
    if needs_banner(path) and text:
        if not any(LICENCE in line for line in head):
            found.append(f"{name}:1: no '{LICENCE}' in the first lines")
        banner = next((line for line in head if f"- {path.name} " in line), None)
        if banner is None:
            found.append(f"{name}:1: no banner with the name {path.name}")
        elif banner.startswith("//") and not banner.endswith("===//"):
            found.append(f"{name}:1: banner goes on after its line")
    if name not in SELF:
        for number, line in enumerate(text.splitlines(), 1):
            if TODO.search(line):
                found.append(f"{name}:{number}: left-over {TODO.search(line)[0]}")
            if MACHINE_PATH.search(line):
                found.append(f"{name}:{number}: path of one machine")
    return found


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--fix", action="store_true")
    parser.add_argument(
        "root", nargs="?", type=Path, default=Path(__file__).resolve().parents[1]
    )
    args = parser.parse_args()
    found = [
        line
        for name in files(args.root)
        for line in check_file(args.root, name, args.fix)
    ]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
