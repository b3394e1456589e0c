#!/usr/bin/env python3
# ===- check-layering.py - who may include whom --------------------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""Checks that no file includes what its layer may not (docs/Overview.md), and
that no pass asks for a clause of attention.

    check-layering.py [ROOT]     exit code 1 and one line for each fault

A layer is a folder below include/fa/ and lib/ alike. Its row names the layers
that it may use besides itself: `Emulator` is the headers of that folder alone,
`Emulator/**` all below it too, and `Target/TargetInfo.h` one header.
"""

import argparse
import posixpath
import re
import sys
from dataclasses import dataclass
from pathlib import Path

# Upstream headers, as prefixes of the include path.
NOTHING = ()
MLIR = ("mlir/", "llvm/")
# What an IR library must not know: the GPU side and the way down to LLVM.
BELOW_IR = (
    "mlir/Dialect/GPU/",
    "mlir/Dialect/NVGPU/",
    "mlir/Dialect/LLVMIR/",
    "mlir/Conversion/",
    "mlir/Target/",
    "mlir/ExecutionEngine/",
)
# The compiler and its judge share no code, and nothing below knows the tools.
COMPILER = (
    "Dialect/**",
    "Analysis/**",
    "GPU/**",
    "Conversion/**",
    "Target/**",
    "Pipelines/**",
)


@dataclass
class Layer:
    uses: tuple  # our own layers
    upstream: tuple = NOTHING  # prefixes of MLIR and LLVM headers
    never: tuple = NOTHING  # exceptions from upstream


# From the bottom up; the longest matching folder gives a file's row.
LAYERS = {
    "Support": Layer(()),
    "Reference": Layer(("Support",)),
    # The PTX machine: no MLIR, no LLVM, nothing of the compiler.
    "Emulator": Layer(("Support", "Emulator/**")),
    "Emulator/Parser": Layer(("Support", "Emulator")),
    "Emulator/Decoder": Layer(
        ("Support", "Emulator", "Emulator/Parser", "Emulator/Memory")
    ),
    "Emulator/Memory": Layer(("Support", "Emulator")),
    "Emulator/Executor": Layer(
        (
            "Support",
            "Emulator",
            "Emulator/Parser",
            "Emulator/Decoder",
            "Emulator/Memory",
        )
    ),
    "Emulator/Checkers": Layer(
        ("Support", "Emulator", "Emulator/Decoder", "Emulator/Memory")
    ),
    "Emulator/Counters": Layer(
        ("Support", "Emulator", "Emulator/Decoder", "Emulator/Memory")
    ),
    "Emulator/Setup": Layer(("Support", "Emulator")),
    # Devices: the interface knows no back end, back ends not each other.
    "Runtime": Layer(("Support",)),
    "Runtime/Emulator": Layer(("Support", "Runtime", "Emulator")),
    "Runtime/Reference": Layer(("Support", "Runtime", "Reference")),
    "Runtime/CUDA": Layer(("Support", "Runtime")),
    "Runtime/RegisterDevices": Layer(("Support", "Runtime/**")),
    "Runner": Layer(("Support", "Runtime", "Reference")),
    # The compiler.
    "Dialect/FA/IR": Layer(("Support", "Target/TargetInfo.h"), MLIR, BELOW_IR),
    # The attribute names are the words in which stages speak to each other.
    "Analysis": Layer(
        (
            "Support",
            "Dialect/FA/IR",
            "Dialect/FA/Transforms/AttributeNames.h",
            "Target",
        ),
        MLIR,
    ),
    "Target": Layer(("Support",), MLIR),
    "Target/PTX": Layer(("Support", "Target"), MLIR),
    "Dialect/FA/Transforms": Layer(
        ("Support", "Dialect/FA/IR", "Analysis/**", "Target/**"), MLIR
    ),
    "GPU": Layer(
        (
            "Support",
            "Dialect/FA/IR",
            "Dialect/FA/Transforms/AttributeNames.h",
            "Analysis/**",
            "Target/**",
            "GPU/**",
        ),
        MLIR,
    ),
    "Conversion": Layer(
        (
            "Support",
            "Dialect/FA/IR",
            "Dialect/FA/Transforms/AttributeNames.h",
            "Analysis/**",
            "Target/**",
            "GPU/**",
            "Conversion/**",
        ),
        MLIR,
    ),
    "Pipelines": Layer(("Support",) + COMPILER, MLIR),
    "Compiler": Layer(("Support",) + COMPILER, MLIR),
    "CAPI": Layer(
        ("Support", "Compiler", "Runner", "Runtime/**", "Reference") + COMPILER,
        MLIR + ("mlir-c/",),
    ),
    "Plugin": Layer(("Support",) + COMPILER, MLIR),
}

# What passes do not ask of the op: a clause is noted for the manifest, and read
# where the tile program is begun and where scores are defined; visibility and the
# end of a row have it from there. What it takes of a lane is a table of its own.
PASSES = ("Analysis", "Dialect/FA/Transforms", "GPU", "Conversion", "Pipelines")
KNOW_CLAUSES = (
    "AttentionFacts.cpp",
    "AttentionTiler.cpp",
    "ClauseRegisters.cpp",
    "Scores.cpp",
)
CLAUSE = re.compile(
    r"\b(?:(?:Causal|Window|Chunk)Attr\b|has(?:Score|Visible)\(|get(?:MaskAttrs|"
    r"Softcap|Bias|Alibi|Sink|Score|Visible|Dropout|Seed|QSegments|KvSegments|"
    r"QLengths|KvLengths)(?:Attr)?\()"
)

INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]')
SUFFIXES = (".h", ".cpp", ".def", ".td")
TD_INCLUDE = re.compile(r'^\s*include\s+"([^"]+)"')


def layer_of(folder):
    """The row of a folder such as Emulator/Parser/Tables, or None."""
    while folder not in LAYERS and folder not in (".", ""):
        folder = str(Path(folder).parent)
    return folder if folder in LAYERS else None


def matches(header, pattern):
    """Whether a header path below fa/ is one that the pattern names."""
    if pattern.endswith("/**"):
        return header.startswith(pattern[:-2])
    return header == pattern or str(Path(header).parent) == pattern


def fault(layer, folder, header):
    """Why a file of this layer and folder may not include the header, or None."""
    row = LAYERS[layer]
    if ".." in header.split("/"):
        # A private header of the same library; what is resolved must fit, too.
        resolved = posixpath.normpath(posixpath.join(folder, header))
        if resolved.startswith(".."):
            return "leaves the libraries by '..'"
        header = "fa/" + resolved
    if header.startswith("fa/"):
        inner = header[len("fa/") :]
        own = layer_of(str(Path(inner).parent)) == layer
        if own or any(matches(inner, pattern) for pattern in row.uses):
            return None
        return f"may use only {', '.join(row.uses) or 'the standard library'}"
    if header.startswith(("mlir/", "llvm/", "mlir-c/", "llvm-c/")):
        if not header.startswith(row.upstream):
            return "may not use MLIR or LLVM"
        if row.never and header.startswith(row.never):
            return "may not use the GPU side or the way down to LLVM"
    return None


def check(root):
    """All faults below root, as lines."""
    found = []
    for base in ("include/fa", "lib"):
        for path in sorted((root / base).rglob("*")):
            if path.suffix not in SUFFIXES:
                continue
            folder = str(path.parent.relative_to(root / base))
            layer = layer_of(folder)
            where = path.relative_to(root)
            if layer is None:
                found.append(
                    f"{where}:1: folder {folder} has no row in utils/check-layering.py"
                )
                continue
            pattern = TD_INCLUDE if path.suffix == ".td" else INCLUDE
            may_ask = layer not in PASSES or path.name in KNOW_CLAUSES
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if match := pattern.match(line):
                    why = fault(layer, folder, match[1])
                    if why:
                        found.append(f"{where}:{number}: {match[1]}: {layer} {why}")
                if not may_ask and (clause := CLAUSE.search(line)):
                    found.append(
                        f"{where}:{number}: {clause[0]}: a clause is asked for in "
                        f"{' and '.join(KNOW_CLAUSES)} alone"
                    )
    return found


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "root",
        nargs="?",
        type=Path,
        default=Path(__file__).resolve().parents[1],
        help="the repository (default: the one of this script)",
    )
    found = check(parser.parse_args().root)
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
