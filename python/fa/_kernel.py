# ===- _kernel.py - fa.compile, and what it gives ------------------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fa import _results
from fa._arrays import check_known, readable, view, writable
from fa._checks import kind_of, whole
from fa._dtypes import NAME_OF_CODE, NUMPY
from fa._errors import Failure, check, new_error
from fa._launch import Run, launch
from fa._library import encoded, ffi, lib, struct, text
from fa._types import Array, Result


class Kernel:
    """A compiled program: PTX and what it takes to launch it.

    Made by fa.compile; usable from several threads at once.

    Source: docs/CAPI.md.
    """

    def __init__(self, handle: Any) -> None:
        self._handle = ffi.gc(handle, lib.fa_kernel_free)
        self._last_run: Run | None = None

    def _text(self, ask) -> str:
        place, error = ffi.new("const char **"), new_error()
        check(ask(self._handle, place, error), error)
        return text(place[0])

    @property
    def ptx(self) -> str:
        """The PTX text of all its kernels."""
        return self._text(lib.fa_kernel_ptx)

    @property
    def target(self) -> str:
        """The target that it was compiled for, "sm_80"."""
        return self._text(lib.fa_kernel_target)

    @property
    def source(self) -> str:
        """The attention as MLIR text."""
        return self._text(lib.fa_kernel_source)

    @property
    def manifest(self) -> dict:
        """How to launch it: entries, parameters, launches, bytes of shared memory.

        The same as fa-compile writes beside the PTX.
        """
        return json.loads(self._text(lib.fa_kernel_manifest))

    @property
    def stages(self) -> dict[str, str]:
        """The program after each stage: {"0-input.mlir": text, ...,
        "5-kernel.ptx": text}, in order."""
        count, error = ffi.new("size_t *"), new_error()
        check(lib.fa_kernel_stage_count(self._handle, count, error), error)
        found, name, body = {}, ffi.new("const char **"), ffi.new("const char **")
        for index in range(count[0]):
            status = lib.fa_kernel_stage(self._handle, index, name, body, error)
            check(status, error)
            found[text(name[0])] = text(body[0])
        return found

    @property
    def warnings(self) -> list[str]:
        """What the compiler remarked, one line each."""
        count, error = ffi.new("size_t *"), new_error()
        check(lib.fa_kernel_warning_count(self._handle, count, error), error)
        found, line = [], ffi.new("const char **")
        for index in range(count[0]):
            status = lib.fa_kernel_warning(self._handle, index, line, error)
            check(status, error)
            found.append(text(line[0]))
        return found

    def report(self) -> dict:
        """What is known of it.

        Returns target, source, warnings, entries (as in the manifest), and of the
        last run on this object, if there was one, "run": the report that fa-run
        writes (extents, seconds, launches, checks, counters, trace).

        Source: docs/CAPI.md.
        """
        return {
            "target": self.target,
            "source": self.source,
            "warnings": self.warnings,
            "entries": self.manifest["entries"],
            "run": self._last_run and self._last_run.report(),
        }

    def save(self, path: str | os.PathLike) -> None:
        """Writes a package that fa-run and fa-launch read.

        path        a file's name, as text or os.PathLike: NAME.ptx, with NAME.json
                    beside it, or any other name, for a folder (by custom NAME.fapkg)

        Raises TypeError, and ValueError where nothing can be written.
        Source: docs/CAPI.md.
        """
        if not isinstance(path, (str, os.PathLike)):
            raise TypeError(f"path is a {kind_of(path)}; accepted is a file's name")
        error = new_error()
        name = encoded(os.fspath(path), "path")
        check(lib.fa_kernel_save(self._handle, name, error), error)

    def run(
        self,
        *arrays: Array | float,
        entry: str | None = None,
        out: Array | tuple[Array, ...] | None = None,
        device: str | None = None,
        options: Sequence[str] = (),
        counters: bool = False,
        check: bool = False,
        trace_row: int | None = None,
    ) -> Result | tuple[Result, ...]:
        """Runs an entry on the arrays of its inputs, in order.

        Returns the result, or a tuple of them; they are NumPy arrays, or torch
        tensors where the first input is one. report()["run"] says more.

        arrays      one for each input of the manifest's operands, in their order, of
                    their types and shapes, NumPy arrays or objects with DLPack in host
                    memory; open extents follow from them. A number for a scalar.
        entry       name of the function, where the program has several
        out         an array of the result's type and shape, or a tuple of them for the
                    results, which are written into them and returned; they overlap no
                    input
        device      "auto" (None), or a name of fa.devices()
        options     list of texts as fa-run has them, without dashes: ["sanitize=all",
                    "threads=2"]
        counters    bool: count instructions, bytes of traffic and conflicts
        check       bool: compare with the oracle; the report says how far it is away
        trace_row   record m, l and u of this row, in natural units, after every block
                    of keys: a whole number from 0, b, h and i row-major. The program
                    must have been compiled with trace_state

        Raises TypeError and ValueError that name the operand by its role, as the
        manifest does, or the argument; fa.DeviceError for a device that is missing or
        failed, or a checker that stopped the kernel. KeyboardInterrupt stops it and
        leaves `out` as it was.
        Source: docs/CAPI.md, docs/Devices.md.
        """
        if isinstance(options, str) or not isinstance(options, Sequence):
            raise TypeError(
                f"options is a {kind_of(options)}; accepted is a list of texts"
            )
        if trace_row is not None:
            trace_row = whole(trace_row, "trace_row", 0, "a row, counted from 0")
        operands = self._operands(entry)
        inputs = _read_inputs(operands, arrays)
        shapes = _result_shapes(operands, inputs)
        like = arrays[0]
        places = _result_places(operands, shapes, out, like)
        if counters:
            options = [*options, "counters"]
        try:
            run = launch(
                self._handle,
                inputs,
                [place for _, place in places],
                device=device,
                entry=entry,
                options=options,
                check=bool(check),
                trace_row=trace_row,
                want_run=True,
            )
        except Failure as failure:
            raise failure.exception() from None
        self._last_run = run
        made = tuple(result for result, _ in places)
        if out is None:
            made = tuple(_results.finish(result, like) for result in made)
        return made if len(made) != 1 else made[0]

    def _operands(self, entry: str | None) -> list:
        """Role, kind, type, shape and dimension names of each operand."""
        index, error = ffi.new("size_t *"), new_error()
        name = encoded(entry, "entry")
        check(lib.fa_kernel_find_entry(self._handle, name, index, error), error)
        info = struct("fa_entry_info")
        check(lib.fa_kernel_entry(self._handle, index[0], info, error), error)
        found = []
        for n in range(info.operand_count):
            one = struct("fa_operand_info")
            status = lib.fa_kernel_operand(self._handle, index[0], n, one, error)
            check(status, error)
            found.append(_Operand(one))
        return found

    def __repr__(self) -> str:
        names = ", ".join(entry["name"] for entry in self.manifest["entries"])
        return f"<fa.Kernel {names} for {self.target}>"


class _Operand:
    def __init__(self, info):
        self.role = text(info.role)
        self.is_result = info.kind == lib.FA_OPERAND_RESULT
        self.is_scalar = info.kind == lib.FA_OPERAND_SCALAR
        self.dtype = NUMPY[NAME_OF_CODE[info.dtype]]
        self.shape = [info.shape[d] for d in range(info.rank)]
        self.dims = [text(info.dims[d]) for d in range(info.rank)]


def _read_inputs(operands, arrays) -> list:
    wanted = [one for one in operands if not one.is_result]
    if len(arrays) != len(wanted):
        roles = ", ".join(one.role for one in wanted)
        raise TypeError(
            f"run() got {len(arrays)} arrays; accepted are {len(wanted)}: {roles}"
        )
    found = []
    for value, operand in zip(arrays, wanted):
        if operand.is_scalar and isinstance(value, (int, float)):
            value = np.asarray(value, operand.dtype)
        array = view(value, operand.role)
        check_known(array, operand.role)
        found.append(readable(array))
    return found


def _result_shapes(operands, inputs) -> list:
    """The shapes of results by the names of the inputs' dimensions; what does not
    fit together is the library's to refuse."""
    extents: dict[str, int] = {}
    wanted = [one for one in operands if not one.is_result]
    for operand, array in zip(wanted, inputs):
        if array.ndim == len(operand.dims):
            for dim, extent in zip(operand.dims, array.shape):
                extents.setdefault(dim, extent)
    return [
        tuple(
            extents.get(dim, 1) if extent < 0 else extent
            for dim, extent in zip(one.dims, one.shape)
        )
        for one in operands
        if one.is_result
    ]


def _result_places(operands, shapes, out, like) -> list:
    results = [one for one in operands if one.is_result]
    if out is None:
        return [
            _results.make(shape, one.dtype, like) for one, shape in zip(results, shapes)
        ]
    given = out if isinstance(out, (tuple, list)) else (out,)
    if len(given) != len(results):
        raise ValueError(f"out is {len(given)} arrays; accepted are {len(results)}")
    return [
        (value, writable(value, one.role, shape, one.dtype))
        for value, one, shape in zip(given, results, shapes)
    ]


def _is_text(source) -> bool:
    return isinstance(source, str) and ("\n" in source or "fa." in source)


def compile(
    text_or_path: str | os.PathLike,
    target: str = "sm_80",
    schedule: str | None = None,
    *,
    trace_state: bool = False,
) -> Kernel:
    """Compiles MLIR text, or a file of it, with fa.attention in its functions.

    text_or_path
                text (it has a line break or the word "fa."), or a file's name, which
                may be os.PathLike
    target      "sm_80", ...; python -m fa lists them
    schedule    "tile_q=64,stages=3,...", the keys and numbers of #fa.schedule; None:
                chosen
    trace_state
                bool: let a run record m, l and u of a row after every block of keys

    Returns a Kernel: .ptx .stages .manifest .report() .save(path) .run(*arrays).

    Raises fa.CompileError with the diagnostics, each with its line and column;
    TypeError; ValueError for an unknown target; FileNotFoundError.
    Source: docs/generated/dialect.md, docs/Overview.md for the stages.
    """
    if not isinstance(text_or_path, (str, os.PathLike)):
        raise TypeError(
            f"text_or_path is a {kind_of(text_or_path)}; accepted is MLIR text or the "
            "name of a file"
        )
    options = struct("fa_compile_options")
    kept = [encoded(target, "target"), encoded(schedule, "schedule")]
    options.target, options.schedule = kept
    options.keep_stages, options.trace_state = True, bool(trace_state)
    build, source = lib.fa_compile_text, os.fspath(text_or_path)
    if not _is_text(text_or_path):
        build = lib.fa_compile_file
        if not Path(source).is_file():
            raise FileNotFoundError(f"text_or_path is {source!r}, which is no file")
    kernel, error = ffi.new("fa_kernel **"), new_error()
    check(build(encoded(source, "text_or_path"), options, kernel, error), error)
    return Kernel(kernel[0])
