# ===- math.py - functions of symbolic scores and indices ----------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""What `score` and `visible` of fa.attention are made of.

    def score(s, b, h, i, j):          # s float32; b, h, i, j integers
        return fa.math.tanh(s / 30) * 30 - 0.1 * fa.math.abs(i - j)

Such a function is called once, with symbols; operators and the functions here
write the region of the op. Integers mixed with floats become float32; `/` is a
float; `//` and `%` round to minus infinity, as in Python. Comparisons give truth
values, joined by & | ~ and chosen by `where`, since `if` and `and` would ask
for the value of a symbol.
"""

from __future__ import annotations

import math as _math
import numbers
from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, overload

import numpy as np

__all__ = [
    "abs",
    "exp",
    "floor",
    "log",
    "maximum",
    "minimum",
    "sqrt",
    "tanh",
    "where",
]

_FLOAT = {"+": "addf", "-": "subf", "*": "mulf", "/": "divf"}
_INTEGER = {"+": "addi", "-": "subi", "*": "muli", "//": "floordivsi"}
_ORDER = {
    "<": ("olt", "slt"),
    "<=": ("ole", "sle"),
    ">": ("ogt", "sgt"),
    ">=": ("oge", "sge"),
    "==": ("oeq", "eq"),
    "!=": ("une", "ne"),
}


class Trace:
    """The lines of a region as they are written."""

    def __init__(self):
        self.lines = []

    def emit(self, kind: str, text: str) -> Value:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return Value(self, name, kind)

    def constant(self, value) -> Value:
        if isinstance(value, (bool, np.bool_)):
            return self.emit("i1", f"arith.constant {str(bool(value)).lower()}")
        if isinstance(value, numbers.Integral):
            if not -(2**63) <= int(value) < 2**63:
                raise ValueError(f"{int(value)} is no 64-bit whole number")
            return self.emit("index", f"arith.constant {int(value)} : index")
        if isinstance(value, numbers.Real):
            single = np.float32(value)
            text = f"{single:.9e}" if np.isfinite(single) else hex(single.view("u4"))
            return self.emit("f32", f"arith.constant {text} : f32")
        raise TypeError(
            f"a {type(value).__name__} cannot be part of a region; accepted are "
            "numbers and what the arguments of the function give"
        )


class Value:
    """A symbol: kind "f32", "index" or "i1"."""

    __array_ufunc__ = None  # NumPy's numbers leave the operator to us
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, trace: Trace, name: str, kind: str) -> None:
        self.trace, self.name, self.kind = trace, name, kind

    def __bool__(self) -> bool:
        raise TypeError(
            "the value of a symbol is not known while a kernel is made; use "
            "fa.math.where, & | ~ and comparisons instead of if, and, or, not"
        )

    def __add__(self, other: Operand) -> Value:
        return _binary("+", self, other)

    def __radd__(self, other: Operand) -> Value:
        return _binary("+", other, self)

    def __sub__(self, other: Operand) -> Value:
        return _binary("-", self, other)

    def __rsub__(self, other: Operand) -> Value:
        return _binary("-", other, self)

    def __mul__(self, other: Operand) -> Value:
        return _binary("*", self, other)

    def __rmul__(self, other: Operand) -> Value:
        return _binary("*", other, self)

    def __truediv__(self, other: Operand) -> Value:
        return _binary("/", self, other)

    def __rtruediv__(self, other: Operand) -> Value:
        return _binary("/", other, self)

    def __floordiv__(self, other: Operand) -> Value:
        return _binary("//", self, other)

    def __rfloordiv__(self, other: Operand) -> Value:
        return _binary("//", other, self)

    def __mod__(self, other: Operand) -> Value:
        return self - (self // other) * other

    def __rmod__(self, other: Operand) -> Value:
        return other - (other // self) * self

    def __neg__(self) -> Value:
        return 0 - self if self.kind != "f32" else _unary("arith.negf", self)

    def __pos__(self) -> Value:
        return self

    def __abs__(self) -> Value:
        return abs(self)

    def __lt__(self, other: Operand) -> Value:
        return _compare("<", self, other)

    def __le__(self, other: Operand) -> Value:
        return _compare("<=", self, other)

    def __gt__(self, other: Operand) -> Value:
        return _compare(">", self, other)

    def __ge__(self, other: Operand) -> Value:
        return _compare(">=", self, other)

    def __eq__(self, other: Operand) -> Value:  # type: ignore[override]
        return _compare("==", self, other)

    def __ne__(self, other: Operand) -> Value:  # type: ignore[override]
        return _compare("!=", self, other)

    def __and__(self, other: Operand) -> Value:
        return _logical("andi", self, other)

    def __rand__(self, other: Operand) -> Value:
        return _logical("andi", other, self)

    def __or__(self, other: Operand) -> Value:
        return _logical("ori", self, other)

    def __ror__(self, other: Operand) -> Value:
        return _logical("ori", other, self)

    def __xor__(self, other: Operand) -> Value:
        return _logical("xori", self, other)

    def __invert__(self) -> Value:
        return _logical("xori", self, True)


# Python's numbers, of which int and bool are floats to a type checker.
Operand: TypeAlias = Value | float


def _trace_of(*values: Operand) -> Trace:
    """Of the first symbol; there is one."""
    return next(v.trace for v in values if isinstance(v, Value))


def _are_plain(*values: Operand) -> bool:
    return not any(isinstance(value, Value) for value in values)


def _symbol(trace: Trace, value) -> Value:
    return value if isinstance(value, Value) else trace.constant(value)


def _to_float(value: Value) -> Value:
    if value.kind == "f32":
        return value
    if value.kind == "i1":
        raise TypeError("a truth value is no number; use fa.math.where")
    trace = value.trace
    wide = trace.emit("i64", f"arith.index_cast {value.name} : index to i64")
    return trace.emit("f32", f"arith.sitofp {wide.name} : i64 to f32")


def _same(left, right, force_float=False) -> tuple[Value, Value]:
    """Both as integers, or both as floats."""
    trace = _trace_of(left, right)
    pair = _symbol(trace, left), _symbol(trace, right)
    if not force_float and all(value.kind == "index" for value in pair):
        return pair
    return _to_float(pair[0]), _to_float(pair[1])


def _binary(sign: str, left, right) -> Value:
    left, right = _same(left, right, force_float=sign == "/")
    trace = left.trace
    if left.kind == "index":
        names = f"{left.name}, {right.name} : index"
        return trace.emit("index", f"arith.{_INTEGER[sign]} {names}")
    if sign == "//":
        return floor(_binary("/", left, right))
    names = f"{left.name}, {right.name} : f32"
    return trace.emit("f32", f"arith.{_FLOAT[sign]} {names}")


def _compare(sign: str, left, right) -> Value:
    left, right = _same(left, right)
    for_floats, for_integers = _ORDER[sign]
    op = f"cmpf {for_floats}" if left.kind == "f32" else f"cmpi {for_integers}"
    text = f"arith.{op}, {left.name}, {right.name} : {left.kind}"
    return left.trace.emit("i1", text)


def _logical(op: str, left, right) -> Value:
    trace = _trace_of(left, right)
    left, right = _symbol(trace, left), _symbol(trace, right)
    if left.kind != "i1" or right.kind != "i1":
        raise TypeError("& | ^ and ~ join truth values; a number was given")
    return trace.emit("i1", f"arith.{op} {left.name}, {right.name} : i1")


def _unary(op: str, value: Value) -> Value:
    value = _to_float(value)
    return value.trace.emit("f32", f"{op} {value.name} : f32")


class _Function(Protocol):
    @overload
    def __call__(self, x: Value) -> Value: ...
    @overload
    def __call__(self, x: float) -> float: ...


def _function(name: str, op: str, plain: Callable[[float], float]) -> _Function:
    def traced(x: Any) -> Any:
        return _unary(op, x) if isinstance(x, Value) else plain(x)

    traced.__name__ = traced.__qualname__ = name
    traced.__doc__ = f"{name}(x), in float32 for a symbol."
    return traced


exp = _function("exp", "math.exp", _math.exp)
log = _function("log", "math.log", _math.log)
sqrt = _function("sqrt", "math.sqrt", _math.sqrt)
tanh = _function("tanh", "math.tanh", _math.tanh)
floor = _function("floor", "math.floor", _math.floor)
_abs = abs


@overload
def abs(x: Value) -> Value: ...
@overload
def abs(x: float) -> float: ...
def abs(x: Operand) -> Operand:
    """|x|, an integer for an integer."""
    if not isinstance(x, Value):
        return _abs(x)
    if x.kind == "index":
        return where(x < 0, -x, x)
    return _unary("math.absf", x)


def _extreme(left, right, sign: str, op: str, plain):
    if _are_plain(left, right):
        return plain(left, right)
    left, right = _same(left, right)
    if left.kind == "index":
        return where(_compare(sign, left, right), left, right)
    return left.trace.emit("f32", f"arith.{op} {left.name}, {right.name} : f32")


@overload
def minimum(x: Value, y: Operand) -> Value: ...
@overload
def minimum(x: Operand, y: Value) -> Value: ...
@overload
def minimum(x: float, y: float) -> float: ...
def minimum(x: Operand, y: Operand) -> Operand:
    """The smaller of two; NaN where one is."""
    return _extreme(x, y, "<", "minimumf", min)


@overload
def maximum(x: Value, y: Operand) -> Value: ...
@overload
def maximum(x: Operand, y: Value) -> Value: ...
@overload
def maximum(x: float, y: float) -> float: ...
def maximum(x: Operand, y: Operand) -> Operand:
    """The larger of two; NaN where one is."""
    return _extreme(x, y, ">", "maximumf", max)


@overload
def where(condition: Value, x: Operand, y: Operand) -> Value: ...
@overload
def where(condition: bool, x: Operand, y: Operand) -> Operand: ...
def where(condition: Value | bool, x: Operand, y: Operand) -> Operand:
    """x where the condition holds, else y."""
    if _are_plain(condition, x, y):
        return x if condition else y
    trace = _trace_of(condition, x, y)
    condition = _symbol(trace, condition)
    if condition.kind != "i1":
        raise TypeError("the condition of fa.math.where is a number, not a truth value")
    x, y = _symbol(trace, x), _symbol(trace, y)
    if x.kind != "i1" or y.kind != "i1":
        x, y = _same(x, y)
    names = f"{condition.name}, {x.name}, {y.name}"
    return trace.emit(x.kind, f"arith.select {names} : {x.kind}")


def trace_region(function: Callable[..., Operand], name: str) -> str:
    """The region that a Python function of symbols describes, as MLIR text."""
    trace = Trace()
    indices = [Value(trace, f"%{n}", "index") for n in "bhij"]
    arguments = [f"%{n}: index" for n in "bhij"]
    if name == "score":
        indices.insert(0, Value(trace, "%s", "f32"))
        arguments.insert(0, "%s: f32")
    try:
        result = _symbol(trace, function(*indices))
        if name == "score":
            result = _to_float(result)
    except TypeError as error:
        symbols = ", ".join(one.name.removeprefix("%") for one in indices)
        raise TypeError(
            f"{name} is a function of ({symbols}) that raised: {error}"
        ) from error
    except ValueError as error:
        raise ValueError(f"{name} is a function that raised: {error}") from error
    if name != "score" and result.kind != "i1":
        raise TypeError(
            f"{name} gives a number; accepted is a truth value, such as i >= j"
        )
    body = "\n  ".join([*trace.lines, f"fa.yield {result.name} : {result.kind}"])
    return "{\n^bb0(" + ", ".join(arguments) + "):\n  " + body + "\n}"
