# ===- _errors.py - the exceptions, and how a status becomes one ---------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""Wrong arguments raise ValueError or TypeError; the rest is here."""

from __future__ import annotations

from fa._library import ffi, lib, text


class _Diagnosed(Exception):
    """A message, and beside it what a tool said in lines of its own."""

    def __init__(self, message: str, diagnostics: list[str] | None = None):
        super().__init__(message)
        self.message = message
        self.diagnostics = list(diagnostics or [])

    def __str__(self) -> str:
        more = [line for line in self.diagnostics if self.message not in line]
        return "\n".join([self.message, *more])


class CompileError(_Diagnosed, ValueError):
    """The compiler refused a program.

    `diagnostics` are its messages, one line each, "file:line:column: error: ...".
    """


class DeviceError(_Diagnosed, RuntimeError):
    """A device is missing or failed, or a checker of it stopped a kernel.

    `diagnostics` are the checkers' messages, one line each.
    """


# What an operand of the op is called as an argument of fa.attention.
ARGUMENTS = {
    "query": "q",
    "key": "k",
    "value": "v",
    "alibi": "alibi_slopes",
    "pages": "page_table",
    "dropout": "dropout_p",
    "q_segments": "segments",
    "kv_segments": "segments",
    "q_scales": "scales",
    "k_scales": "scales",
    "v_scales": "scales",
}


class Failure(Exception):
    """An fa_error taken over: code, message, argument, place, diagnostics."""

    def __init__(self, handle):
        self.code = lib.fa_error_code(handle)
        self.message = text(lib.fa_error_message(handle))
        self.argument = text(lib.fa_error_argument(handle))
        self.location = text(lib.fa_error_location(handle))
        self.diagnostics = [
            text(lib.fa_error_diagnostic(handle, n))
            for n in range(lib.fa_error_diagnostic_count(handle))
        ]
        lib.fa_error_free(handle)
        super().__init__(self.message)

    def exception(self) -> BaseException:
        """The exception that users see."""
        code, message = self.code, self.message
        if self.location and self.location not in message:
            message = f"{self.location}: {message}"
        if code == lib.FA_ERROR_COMPILE:
            return CompileError(message, self.diagnostics)
        if code in (lib.FA_ERROR_DEVICE, lib.FA_ERROR_FAULT):
            return DeviceError(message, self.diagnostics)
        if code == lib.FA_ERROR_CANCELLED:
            return KeyboardInterrupt(message)
        if code == lib.FA_ERROR_MEMORY:
            return MemoryError(message)
        if code in (lib.FA_ERROR_INPUT, lib.FA_ERROR_UNSUPPORTED):
            argument = ARGUMENTS.get(self.argument, self.argument)
            named = not argument or argument in message.replace("'", " ").split()
            return ValueError(message if named else f"{argument}: {message}")
        return RuntimeError(message)


_OP = "'fa.attention' op "
# What is MLIR text; the compiler's diagnostics say where it is wrong.
_TEXTS = ("score", "visible")


def refusal(failure: Failure) -> BaseException:
    """A failure as users of fa.attention see it: what the compiler refuses of its
    arguments is a wrong argument, named as they know it."""
    if failure.code != lib.FA_ERROR_COMPILE or not failure.argument:
        return failure.exception()
    argument = ARGUMENTS.get(failure.argument, failure.argument)
    message = failure.message.removeprefix(_OP)
    if not message.startswith(argument):
        message = f"{argument}: {message}"
    if argument in _TEXTS and "is not supported yet" not in message:
        return CompileError(message, failure.diagnostics)
    return ValueError(message)


def new_error():
    """Where a call of the library leaves its error."""
    return ffi.new("fa_error **")


def check(status: int, error) -> None:
    """Raises what a call of the library reported."""
    if status:
        raise Failure(error[0]).exception() from None
