# ===- __main__.py - python -m fa: versions and devices ------------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
from __future__ import annotations

import sys

import fa
from fa._devices import facts


def main() -> int:
    known = facts()
    print(f"fa {known['version']}, LLVM {known['llvm_version'] or 'none'}")
    print(f"targets: {', '.join(known['targets']) or 'none, built without a compiler'}")
    print("devices:")
    for device in fa.devices():
        state = "available" if device.available else f"no: {device.reason}"
        chosen = " (default)" if device.name == known["default_device"] else ""
        print(f"  {device.name:10} {state}{chosen}; {device.description}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
