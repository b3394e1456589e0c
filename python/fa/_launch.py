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

    def start(self) -> None:
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


class Launch:
    """fa_kernel_launch of an entry on arrays of some types, shapes and strides; it
    keeps no array. One thread at a time may run it."""

    def __init__(
        self,
        kernel,
        inputs,
        results,
        *,
        device=None,
        entry=None,
        options=(),
        check=False,
        trace_row=None,
        stream=0,
    ):
        self.inputs, self.results = Arrays(inputs), Arrays(results)
        self.progress, self.error = _Progress(), new_error()
        given = struct("fa_launch_options")
        names = [encoded(device, "device"), encoded(entry, "entry")]
        words = [encoded(option, "options") for option in options]
        place = ffi.new("char *[]", words)
        handle = ffi.new_handle(self.progress)
        self.kept = kernel, names, words, place, handle
        given.device = names[0]
        given.options, given.option_count = place, len(words)
        given.check = check
        if trace_row is not None:
            given.trace, given.trace_row = True, trace_row
        given.progress, given.progress_data = _tick, handle
        given.stream = ffi.cast("void *", stream)
        self.arguments = (
            kernel,
            names[1],
            self.inputs.pointer,
            self.inputs.count,
            self.results.pointer,
            self.results.count,
            given,
        )

    def point_to(self, inputs, results) -> None:
        """Other arrays of the same types, shapes and strides."""
        self.inputs.point_to(inputs)
        self.results.point_to(results)

    def run(self, want_run: bool = False) -> Run | None:
        """Launches; fa._errors.Failure. On a GPU only `want_run` waits."""
        run = ffi.new("fa_run **") if want_run else ffi.NULL
        progress = self.progress
        progress.start()
        try:
            status = lib.fa_kernel_launch(*self.arguments, run, self.error)
        finally:
            progress.close()
        if progress.error is not None:
            if status:
                lib.fa_error_free(self.error[0])
            raise progress.error
        if status:
            raise Failure(self.error[0])
        return Run(run[0]) if want_run else None


def launch(kernel, inputs, results, *, want_run=False, **options) -> Run | None:
    """Runs an entry of an fa_kernel on arrays, once; fa._errors.Failure."""
    return Launch(kernel, inputs, results, **options).run(want_run)
