# ===- cuda_tools.py - where CUDA's command-line tools are -----------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
#
# ptxas, cuobjdump and nvdisasm come from PATH, from $CUDA_HOME or the usual
# folder of a toolkit, or from the PyPI packages that utils/requirements-bench
# names. They are optional: without them there is PTX, but no figure about
# machine code.

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path


class ToolError(Exception):
    """A tool is missing or failed; the message says which and how."""


def search_path():
    """PATH and behind it every folder that may hold the tools."""
    folders = [os.environ.get("PATH", "")]
    for home in (os.environ.get("CUDA_HOME"), "/usr/local/cuda"):
        if home:
            folders.append(os.path.join(home, "bin"))
    prefixes = {sys.prefix, str(Path(__file__).resolve().parents[1] / "build/venv")}
    for prefix in sorted(prefixes):
        pattern = "lib/python3*/site-packages/nvidia/*/bin"
        folders += sorted(map(str, Path(prefix).glob(pattern)))
    return os.pathsep.join(folders)


def find(tool):
    """The tool's path, or None."""
    return shutil.which(tool, path=search_path())


def run(tool, *args):
    """Standard output and error of the tool, as one text."""
    executable = find(tool)
    if executable is None:
        raise ToolError(
            f"{tool} not found in PATH, $CUDA_HOME or build/venv "
            "(./fa bench installs it)"
        )
    result = subprocess.run(
        [executable, *map(str, args)],
        capture_output=True,
        text=True,
        # cuobjdump looks for nvdisasm in PATH.
        env=dict(os.environ, PATH=search_path()),
    )
    text = result.stdout + result.stderr
    if result.returncode != 0:
        raise ToolError(f"{tool} failed: {text.strip()[-2000:]}")
    return text


def version(tool):
    """The version that the tool states, such as 13.0.88, or None."""
    if find(tool) is None:
        return None
    match = re.search(r"V(\d+\.\d+\.\d+)", run(tool, "--version"))
    return match[1] if match else None
