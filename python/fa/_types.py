# ===- _types.py - names for the annotations -----------------------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
from __future__ import annotations

from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np


@runtime_checkable
class SupportsDLPack(Protocol):
    """An array of any library, a torch.Tensor for one."""

    def __dlpack__(self, **options: Any) -> Any: ...

    def __dlpack_device__(self) -> tuple[int, int]: ...


Array: TypeAlias = np.ndarray | SupportsDLPack
# What a call returns: an array of the kind of its first argument.
Result: TypeAlias = Any
