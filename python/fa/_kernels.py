# ===- _kernels.py - kernels, compiled once for each description ---------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""The cache behind fa.attention. Its key is all that a kernel depends on, and no
extent is in it: other lengths, batches and head counts compile nothing."""

from __future__ import annotations

import itertools
import os
import threading

from fa._description import Description, to_struct
from fa._errors import Failure, new_error
from fa._library import encoded, ffi, lib, struct

# A bound for programs that sweep a scale or another number in a clause.
CAPACITY = 1024


_clock = itertools.count()


class Slot:
    """A kernel, or one that a thread is compiling."""

    def __init__(self):
        self.lock = threading.Lock()
        self.kernel = None
        self.plans = []  # whose calls end here (fa._plans)
        self.touch()

    def touch(self) -> None:
        """What was touched long ago is forgotten first."""
        self.used = next(_clock)


_slots: dict[tuple, Slot] = {}
_lock = threading.Lock()


def _forget_locks() -> None:
    """A child of fork() may have inherited locks that nobody will give back."""
    global _lock
    _lock = threading.Lock()
    for slot in _slots.values():
        slot.lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_locks)


def compile_count() -> int:
    """How often this process has compiled a kernel. A call of fa.attention with
    other lengths than before does not raise it."""
    return lib.fa_compile_count()


def _compile(description: Description, schedule: str | None, target: str):
    op, kept = to_struct(description)
    options = struct("fa_compile_options")
    kept += [encoded(target, "target"), encoded(schedule, "schedule")]
    options.target, options.schedule = kept[-2:]
    kernel, error = ffi.new("fa_kernel **"), new_error()
    if lib.fa_compile_attention(op, options, kernel, error):
        raise Failure(error[0])
    return ffi.gc(kernel[0], lib.fa_kernel_free)


def find(description: Description, schedule: str | None, target: str) -> Slot:
    """The slot of a description, with its fa_kernel; fa._errors.Failure."""
    key = (description, schedule, target)
    with _lock:
        slot = _slots.get(key)
        if slot is None:
            slot = _slots[key] = Slot()
        slot.touch()
        while len(_slots) > CAPACITY:
            oldest = min(_slots, key=lambda one: _slots[one].used)
            _slots.pop(oldest).plans.clear()
    if slot.kernel is None:
        with slot.lock:
            if slot.kernel is None:
                slot.kernel = _compile(*key)
    return slot
