#!/usr/bin/env python3
# ===- generate-docs.py - the pages that the sources hold ------------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""Writes docs/generated (the dialect, the passes, the layers) and docs/Support.md.

    generate-docs.py [--check]     --check writes nothing, exit code 1 if stale

The dialect's page comes from its TableGen file, one page of passes from each
Passes.td, both through mlir-tblgen; the layers from utils/check-layering.py;
the instructions of the PTX machine from its tables, lib/Emulator/Decoder/*.def;
what is compiled from the table that refuses the rest.
"""

import argparse
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "docs" / "generated"
LLVM = Path("/usr/lib/llvm-22")
NOTE = "<!-- Written by ./fa docs from {}; edit that. -->\n\n"


def find_tablegen():
    """mlir-tblgen of the LLVM that we build with, else of the path, or None."""
    path = os.pathsep.join([str(LLVM / "bin"), os.environ.get("PATH", "")])
    return shutil.which("mlir-tblgen", path=path)


def tablegen(source, *flags):
    """mlir-tblgen's page for one file."""
    tool = find_tablegen()
    if tool is None:
        sys.exit("error: mlir-tblgen not found (Debian package mlir-22-tools)")
    include = Path(tool).resolve().parents[1] / "include"
    command = [tool, *flags, str(source), f"-I{ROOT / 'include'}", f"-I{include}"]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"error: {source}: {result.stderr}")
    lines = [line.rstrip() for line in result.stdout.splitlines()]
    name = source.relative_to(ROOT)
    return NOTE.format(name) + "\n".join(lines).strip() + "\n"


def layers():
    """The table of utils/check-layering.py in words."""
    script = ROOT / "utils" / "check-layering.py"
    spec = importlib.util.spec_from_file_location("check_layering", script)
    module = importlib.util.module_from_spec(spec)
    sys.modules["check_layering"] = module
    spec.loader.exec_module(module)
    lines = [
        "# Layers",
        "",
        "A folder below `include/fa/` and `lib/` may include its own headers, those",
        "of the folders in the second column, and MLIR's where the third says so.",
        "`X/**` means X and all below it.",
        "",
        "| folder | may use | MLIR and LLVM |",
        "|---|---|---|",
    ]
    for name, layer in module.LAYERS.items():
        uses = ", ".join(f"`{use}`" for use in layer.uses) or "nothing of ours"
        upstream = "yes" if layer.upstream else "no"
        if layer.never:
            upstream = "no GPU dialect, no lowering"
        lines.append(f"| `{name}` | {uses} | {upstream} |")
    return NOTE.format("utils/check-layering.py") + "\n".join(lines) + "\n"


STRING = r'"([^"]*)"'
ROW = re.compile(r"INST\(\s*" + r",\s*".join([STRING] * 4))


def instruction_rows(path):
    """(mnemonic, types, required, optional) of a table, its macros expanded."""
    compiler = os.environ.get("CXX") or "c++"
    command = [compiler, "-E", "-P", "-x", "c++", str(path)]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"error: {path}: {result.stderr}")
    text = re.sub(r'"\s+"', "", result.stdout)  # adjacent strings are one
    return [row for row in ROW.findall(text) if row[0] != "-"]


def instructions():
    """What the PTX machine runs, one line for each form."""
    table = ROOT / "lib/Emulator/Decoder/Instructions.def"
    lines = [
        "# Instructions of the PTX machine",
        "",
        "Every form that the decoder takes; anything else is refused by name, with",
        "file, line and column, before a kernel runs. The words of an opcode may come",
        "in any order. `a|b` means one of them; types are in the order of the opcode,",
        "`*` stands for every pair that the PTX ISA has.",
        "What needs a later chip or PTX version than the file names is refused too.",
        "",
        "| instruction | types | needs | may have |",
        "|---|---|---|---|",
    ]

    def code(words, separator):
        words = [w for w in words.split(separator) if w]
        return " ".join(f"`{w}`" for w in words).replace("|", "\\|")

    # The order of one mnemonic's rows is that in which they are tried.
    rows = dict.fromkeys(instruction_rows(table))
    for row in sorted(rows, key=lambda r: r[0]):
        name, types, required, optional = row
        cells = [code(types, " "), code(required, ","), code(optional, ",")]
        lines.append(f"| `{name}` | " + " | ".join(cells) + " |")
    return NOTE.format("lib/Emulator/Decoder/*.def") + "\n".join(lines) + "\n"


CLAUSE = re.compile(r'\{"([^"]+)",\s+(true|false),')
REGION_OP = re.compile(r'X\(\w+, "([^"]+)"')


def support():
    """What is compiled: the rows of getClauseSupport, and the ops of regions."""
    table = ROOT / "lib/Dialect/FA/IR/AttentionSupport.cpp"
    ops = ROOT / "include/fa/Support/RegionProgram.h"
    lines = [
        "# What is compiled",
        "",
        "The dialect says all that attention can mean; this is what becomes a kernel.",
        "Anything else is refused by its name, before anything is lowered. Element",
        "types, head dims and extents have limits of their own, in the same file.",
        "",
        "| clause or word | compiled |",
        "|---|---|",
    ]
    for name, is_supported in CLAUSE.findall(table.read_text()):
        lines.append(f"| `{name}` | {'yes' if is_supported == 'true' else 'no'} |")
    names = [f"`{name}`" for name in REGION_OP.findall(ops.read_text())]
    lines += [
        "",
        "A `score` or `visible` region is one block of these, where `load` is",
        "`tensor.extract` or `memref.load`:",
        "",
        ", ".join(names) + ".",
    ]
    source = "lib/Dialect/FA/IR/AttentionSupport.cpp and fa/Support/RegionProgram.h"
    return NOTE.format(source) + "\n".join(lines) + "\n"


def pages():
    """{path below docs/generated: text} of every generated page."""
    found = {"layers.md": layers(), "ptx-instructions.md": instructions()}
    found["../Support.md"] = support()
    dialect = ROOT / "include/fa/Dialect/FA/IR/FAOps.td"
    if dialect.exists():
        found["dialect.md"] = tablegen(dialect, "-gen-dialect-doc", "-dialect=fa")
    for passes in sorted((ROOT / "include/fa").rglob("Passes.td")):
        folder = passes.parent.relative_to(ROOT / "include/fa")
        name = "passes-" + str(folder).replace("/", "-").lower() + ".md"
        found[name] = tablegen(passes, "-gen-pass-doc")
    return found


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    wanted = pages()
    present = {path.name for path in OUT.glob("*.md")}
    stale = sorted(present - wanted.keys())
    for name, text in wanted.items():
        path = OUT / name
        if not path.exists() or path.read_text() != text:
            stale.append(name)
            if not check:
                OUT.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
    for name in present - wanted.keys():
        if not check:
            (OUT / name).unlink()
    for name in stale:
        state = "is stale: run ./fa docs" if check else "written"
        place = os.path.relpath(OUT / name, ROOT)
        print(f"{place} {state}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
