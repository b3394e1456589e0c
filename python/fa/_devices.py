# ===- _devices.py - what this machine can run kernels on ----------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
from __future__ import annotations

import functools
import json
from dataclasses import dataclass

from fa._errors import check, new_error
from fa._library import ffi, lib, text


@dataclass(frozen=True)
class Device:
    """A device and what it can do.

    name            the word for `device=`
    description     what it is, in a line
    available       whether it can be used here
    reason          why not; "" where it can
    runs_ptx        whether it runs kernels (the oracle computes without them)
    default_target  the target that kernels are compiled for on it, "sm_80"
    checkers        {name: what it finds}, for the option "sanitize=NAME,..."
    """

    name: str
    description: str
    available: bool
    reason: str
    runs_ptx: bool
    default_target: str
    checkers: dict


@functools.cache
def facts() -> dict:
    """What fa_devices() says, once for the process."""
    place, error = ffi.new("const char **"), new_error()
    check(lib.fa_devices(place, error), error)
    return json.loads(text(place[0]))


def devices() -> list[Device]:
    """The devices of this build, also those that do not answer here.

    Returns a Device for each; its name is the word for `device=`.

    >>> [d.name for d in fa.devices() if d.available]
    ['emulator', 'reference']

    Source: the library (fa_devices), asked once for the process.
    """
    return [
        Device(
            name=one["name"],
            description=one["description"],
            available=one["available"],
            reason=one["reason"],
            runs_ptx=one.get("runs_ptx", False),
            default_target=one.get("default_target", ""),
            checkers={c["name"]: c["description"] for c in one["checkers"]},
        )
        for one in facts()["devices"]
    ]


@functools.cache
def default_target(name: str | None = None) -> str:
    """The target of the device of that name; None and "auto" choose one."""
    chosen = facts()["default_device"] if name in (None, "auto") else name
    for device in devices():
        if device.name == chosen and device.default_target:
            return device.default_target
    return "sm_80"
