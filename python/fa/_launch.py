# ===- _launch.py - a launch: progress, Ctrl-C, and what it came to ------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""fa_kernel_launch with a progress function in Python. The library calls it every
20 ms or so on the launching thread, which is where a signal handler can run: an
exception in it (KeyboardInterrupt) stops the kernel, and the results stay as
they were."""

from __future__ import annotations

import json
import sys
import time

from fa._arrays import Arrays
from fa._errors import Failure, new_error
from fa._library import encoded, ffi, lib, struct, text

QUIET_SECONDS = 2.0


class _Progress:
    """A bar on a terminal, once a launch has taken a while."""

    def __init__(self):
        self.begin = time.monotonic()
        self.bar = None
        self.error = None

    def update(self, done: int, total: int) -> None:
        if self.bar is None:
            if time.monotonic() - self.begin < QUIET_SECONDS:
                return
            self.bar = _make_bar(total)
        if self.bar:
            self.bar.update(done - self.bar.n)

    def close(self) -> None:
        if self.bar:
            self.bar.close()


def _make_bar(total: int):
    """tqdm's bar; False where there is no terminal or no tqdm."""
    if not (sys.stderr and sys.stderr.isatty()):
        return False
    try:
        from tqdm import tqdm
    except ImportError:
        return False
    return tqdm(total=total, desc="fa", unit="block", leave=False, file=sys.stderr)


def _keep_error(kind, error, traceback) -> None:
    """What the progress function raised, for the launch to raise again."""
    data = traceback.tb_frame.f_locals.get("data") if traceback else None
    if data:
        ffi.from_handle(data).error = error


@ffi.callback("int32_t(void *, uint64_t, uint64_t)", error=1, onerror=_keep_error)
def _tick(data, done, total):
    ffi.from_handle(data).update(done, total)
    return 0


class Run:
    """What a launch came to (fa_run)."""

    def __init__(self, handle):
        self._handle = ffi.gc(handle, lib.fa_run_free)

    def _json(self, ask):
        place, error = ffi.new("const char **"), new_error()
        if ask(self._handle, place, error):
            raise Failure(error[0]).exception() from None
        return json.loads(text(place[0]) or "null")

    def report(self) -> dict:
        return self._json(lib.fa_run_report)


def launch(
    kernel,
    inputs,
    results,
    *,
    device=None,
    entry=None,
    options=(),
    check=False,
    trace_row=None,
    want_run=False,
) -> Run | None:
    """Runs an entry of an fa_kernel on NumPy arrays; fa._errors.Failure."""
    kept = [encoded(device, "device"), encoded(entry, "entry")]
    given = struct("fa_launch_options")
    given.device = kept[0]
    if options:
        kept += [encoded(option, "options") for option in options]
        kept.append(ffi.new("char *[]", kept[2:]))
        given.options, given.option_count = kept[-1], len(options)
    given.check = check
    if trace_row is not None:
        given.trace, given.trace_row = True, trace_row
    progress = _Progress()
    handle = ffi.new_handle(progress)
    given.progress, given.progress_data = _tick, handle
    run = ffi.new("fa_run **") if want_run else ffi.NULL
    error = new_error()
    ins, outs = Arrays(inputs), Arrays(results)
    try:
        status = lib.fa_kernel_launch(
            kernel,
            kept[1],
            ins.pointer,
            ins.count,
            outs.pointer,
            outs.count,
            given,
            run,
            error,
        )
    finally:
        progress.close()
    if progress.error is not None:
        if status:
            lib.fa_error_free(error[0])
        raise progress.error
    if status:
        raise Failure(error[0])
    return Run(run[0]) if want_run else None
