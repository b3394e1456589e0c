# ===- _plans.py - calls that are like one before ------------------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""What fa.attention finds out about a call follows from the types, shapes and
strides of its arrays and from its other arguments; not from the elements, and
whether `out` may be written is asked each time. So a call that has these in common
with one that went well takes that one's kernel and launch.

This holds for NumPy arrays that the library reads as they are, and for arguments
whose value is all there is to them: other calls have no plan."""

from __future__ import annotations

import weakref

import numpy as np

from fa._launch import Launch

# Of one kernel; a program whose lengths grow has many.
CAPACITY = 256
# Types whose equal values mean the same in every call.
_FIXED = {type(None), bool, int, float, str, tuple, type, np.dtype}

# A plan lives as long as its kernel is remembered.
_plans: weakref.WeakValueDictionary = weakref.WeakValueDictionary()


class Plan:
    """What a call came to: its kernel, the shapes and types of its results, and
    launches that no thread runs now."""

    def __init__(self, slot, results, options: dict):
        self.slot, self.options = slot, options
        self.results = [(array.shape, array.dtype) for array in results]
        self.idle: list[Launch] = []

    def run(self, arrays, out):
        """Launches on other arrays; fa._errors.Failure. Gives the results."""
        inputs = [array for array in arrays if array is not None]
        results = [np.empty(*one) for one in self.results[out is not None :]]
        if out is not None:
            results.insert(0, out)
        try:
            launch = self.idle.pop()
            launch.point_to(inputs, results)
        except IndexError:
            launch = Launch(self.slot.kernel, inputs, results, **self.options)
        launch.run()
        self.idle.append(launch)
        self.slot.touch()
        return results[0] if len(results) == 1 else tuple(results)


def key_of(arrays, out, words, window) -> tuple | None:
    """What the plan of a call depends on, None where it can have none. `arrays` are
    its arguments of that kind in the library's order, `words` the others."""
    forms: list = []
    for array in (*arrays, out):
        if type(array) is np.ndarray:
            forms.append((array.dtype, array.shape, array.strides))
        elif array is None:
            forms.append(None)
        else:
            return None
    # To a dictionary 1, 1.0 and True are one; they are not to fa.attention.
    types = tuple(map(type, words))
    sides = tuple(map(type, window)) if type(window) is tuple else None
    return tuple(forms), words, types, sides


def find(key: tuple | None, out) -> Plan | None:
    """The plan for a call; None where it needs to be looked at."""
    if key is None or not (out is None or out.flags.writeable):
        return None
    try:
        return _plans.get(key)
    except TypeError:  # something in it has no hash
        return None


def keep(key: tuple | None, arrays, inputs, slot, results, options: dict) -> None:
    """Remembers what a call that went well came to, if the library read the arrays
    that were given."""
    if key is None or not _FIXED.issuperset(key[2]):
        return
    given = [array for array in arrays if array is not None]
    if len(given) != len(inputs) or any(map(lambda a, b: a is not b, given, inputs)):
        return
    if len(slot.plans) >= CAPACITY:
        slot.plans.clear()
    plan = Plan(slot, results, options)
    slot.plans.append(plan)
    _plans[key] = plan
