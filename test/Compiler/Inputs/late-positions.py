# ===- late-positions.py - run one query over many equal keys ----------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------=== #
"""late-positions.py KERNEL.ptx KEYS VISIBLE

Runs a kernel of one head of 16 over KEYS keys that all lie at one address
(stride 0), Q = 0 and K = V = 1, and expects O = 1 and LSE = ln VISIBLE.
"""

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np

kernel = Path(sys.argv[1])
keys, visible = int(sys.argv[2]), int(sys.argv[3])
entry = json.loads(kernel.with_suffix(".json").read_text())["entries"][0]
launch = entry["launches"][0]
folder = kernel.parent

ones = np.ones((1, 16), np.float16)
np.save(folder / "zeros.npy", np.zeros((1, 16), np.float16))
np.save(folder / "ones.npy", ones)
np.save(folder / "lse.npy", np.array([math.log(visible)], np.float32))

ROLES = {
    "query": [f"in:{folder}/zeros.npy"],
    "key": [f"in:{folder}/ones.npy"],
    "value": [f"in:{folder}/ones.npy"],
    "out": [f"out:{folder}/o.npy:f16[1,16]", f"expect:{folder}/ones.npy"],
    "lse": [f"out:{folder}/l.npy:f32[1]", f"expect:{folder}/lse.npy:1e-6"],
}


def arguments(parameter):
    operand = entry["operands"][parameter["operand"]]
    name = operand["dims"][parameter["dim"]] if "dim" in parameter else None
    if parameter["kind"] == "pointer":
        return ROLES[operand["role"]]
    if parameter["kind"] == "extent":
        return [f"{parameter['type']}:{keys if name == 'Sk' else 1}"]
    return [f"{parameter['type']}:{1 if name in ('D', 'Dv') else 0}"]


command = [
    "fa-ptx-emu",
    str(kernel),
    *(f"--{axis}={','.join(map(str, launch[axis]))}" for axis in ("grid", "block")),
    f"--smem={launch['shared_bytes']}",
    "--sanitize",
]
for number in launch["arguments"]:
    command += [f"--arg={a}" for a in arguments(entry["parameters"][number])]
sys.exit(subprocess.run(command).returncode)
