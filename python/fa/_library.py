# ===- _library.py - libFA-C, loaded once --------------------------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""The shared library of the C API (include/fa-c/FA.h) through cffi's ABI mode:
nothing is compiled for a Python version, so one wheel serves all of them.

The library and its header lie beside this file, in the build tree and in the
wheel alike; FA_LIBRARY names another library for experiments.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path

import cffi

from fa._checks import utf8

HERE = Path(__file__).parent

ffi = cffi.FFI()


def _declarations() -> str:
    header = (HERE / "FA.h").read_text()
    return header.split("// cffi: begin", 1)[1].split("// cffi: end", 1)[0]


def _open():
    path = os.environ.get("FA_LIBRARY") or str(HERE / "libFA-C.so")
    try:
        # RTLD_LOCAL: our copy of LLVM stays out of everybody's sight.
        return ffi.dlopen(path, ffi.RTLD_NOW | ffi.RTLD_LOCAL)
    except OSError as error:
        raise ImportError(
            f"fa could not load its library {path}: {error}; './fa build' makes it "
            "in a source tree, and FA_LIBRARY may name another one"
        ) from None


ffi.cdef(_declarations())
lib = _open()


def text(pointer) -> str:
    """A C string of the library as str; '' for a null pointer."""
    return ffi.string(pointer).decode() if pointer else ""


def encoded(value: str | None, name: str):
    """An argument as a C string that lives as long as the result; NULL for None."""
    return ffi.NULL if value is None else ffi.new("char[]", utf8(value, name))


@functools.cache
def _layout(kind: str):
    return ffi.typeof(kind + " *"), ffi.sizeof(kind)


def struct(kind: str):
    """A struct of the API, zeroed, with its size filled in."""
    pointer, size = _layout(kind)
    made = ffi.new(pointer)
    made.struct_size = size
    return made


def _check_version() -> None:
    error = ffi.new("fa_error **")
    if lib.fa_abi_check(lib.FA_ABI_VERSION, error):
        message = text(lib.fa_error_message(error[0]))
        lib.fa_error_free(error[0])
        raise ImportError(f"fa and its library do not fit: {message}")


_check_version()
