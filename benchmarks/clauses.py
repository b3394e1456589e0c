#!/usr/bin/env python3
# ===- clauses.py - what each clause costs a kernel -----------------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""What each clause costs where it is used: instructions a score, registers,
spills; on both targets, with the schedule that the compiler picks.

    clauses.py --build=DIR --json=FILE [--target=TARGET] [--head-dim=N]
               [--no-loops]

Counted in the loop for full blocks, by what machine code has beyond the kernel
without a clause. Each clause beside causal masks, and each of wide heads, is
asked for spills and ptxas' warnings alone; --no-loops asks all for these alone,
and ends with 1 where one is outside of its limit. No GPU. docs/Benchmarks.md says
what each figure means.
"""

import argparse
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import attention
from attention import cuda_tools
from bench import show, verdict

DISTANCE = """score { ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: index):
    %d = arith.subi %i, %j : index
    %n = arith.index_cast %d : index to i64
    %x = arith.sitofp %n : i64 to f32
    %c = arith.constant 0.05 : f32
    %p = arith.mulf %x, %c : f32
    %r = arith.addf %s, %p : f32
    fa.yield %r : f32 }"""
BEFORE = """visible { ^bb0(%b: index, %h: index, %i: index, %j: index):
    %c = arith.cmpi sge, %i, %j : index
    fa.yield %c : i1 }"""


@dataclass(frozen=True)
class Clause:
    name: str
    text: str = ""  # as in the op, its operands named %x, %y
    operands: tuple = ()  # their types
    per_score: float | None = None  # instructions that it may cost


PLANES = "tensor<?x?x?x?xf16>"
CLAUSES = [
    Clause("none"),
    Clause("causal", "masks [#fa.causal<top_left>]", per_score=0),
    Clause(
        "window", "masks [#fa.window<top_left, left = 127, right = 0>]", per_score=0
    ),
    Clause("chunk", "masks [#fa.chunk<top_left, size = 512>]", per_score=0),
    Clause("kv_lengths", "kv_lengths(%x : tensor<?xi32>)", ("tensor<?xi32>",), 0),
    Clause("sink", "sink(%x : tensor<?xf32>)", ("tensor<?xf32>",), 0),
    Clause("softcap", "softcap(30.0)", per_score=3),
    Clause("alibi", "alibi(%x : tensor<?xf32>)", ("tensor<?xf32>",), 2),
    Clause("bias", f"bias(%x : {PLANES})", (PLANES,), 2),
    Clause("mask", "mask(%x : tensor<?x?x?x?xi1>)", ("tensor<?x?x?x?xi1>",)),
    Clause(
        "segments",
        "segments(%x, %y : tensor<?x?xi32>, tensor<?x?xi32>)",
        ("tensor<?x?xi32>",) * 2,
    ),
    Clause("visible", BEFORE, per_score=0),
    Clause("score", DISTANCE),
    Clause("dropout", "dropout(0.1, seed = %x : i64)", ("i64",)),
]


# What a clause stands beside, by its name in a row.
MASKS = {
    "": "",
    "causal + ": "#fa.causal<top_left>",
    "bottom-right causal + ": "#fa.causal<bottom_right>",
}


@dataclass(frozen=True)
class Case:
    """A clause at a head dimension, as attention.Case, alone or beside a mask."""

    clause: Clause
    head_dim: int
    beside: str = ""

    @property
    def name(self):
        return self.beside + self.clause.name

    def text(self):
        """The clauses of the op."""
        mask = MASKS[self.beside]
        if not mask:
            return self.clause.text
        if self.clause.text.startswith("masks ["):
            return self.clause.text.replace("masks [", f"masks [{mask}, ")
        return f"masks [{mask}] {self.clause.text}"

    def source(self):
        tensor = f"tensor<?x?x?x{self.head_dim}xf16>"
        names = [f", %{n}: {t}" for n, t in zip("xy", self.clause.operands)]
        return (
            f"func.func @attention(%q: {tensor}, %k: {tensor}, %v: {tensor}"
            f"{''.join(names)})\n    -> {tensor} {{\n"
            f"  %o = fa.attention %q, %k, %v {self.text()}\n"
            f"       : {tensor}, {tensor}, {tensor} -> {tensor}\n"
            f"  return %o : {tensor}\n}}\n"
        )


# By target; what a score costs is asked at those of sm_80 alone.
HEAD_DIMS = {"sm_80": (64, 128), "sm_90a": (64, 128, 192, 256)}


def cases(head_dim):
    """Each clause alone, and each that may be there beside causal masks."""
    return [
        Case(clause, head_dim, beside)
        for beside in MASKS
        for clause in CLAUSES
        if not beside or (clause.text and "#fa.causal" not in clause.text)
    ]


def instructions_per_score(per_mma, head_dim):
    """A score takes part in 2 * head_dim multiply-adds of the 2048 of an MMA,
    whose instructions are issued for 32 scores at once."""
    return per_mma * 2 * head_dim / 2048 * 32


def measure(bench, head_dim, with_loops):
    """The rows of one target and head dimension."""
    place = f"{bench.target} d{head_dim}"
    plain = None
    for case in cases(head_dim):
        clause = case.clause
        bench.compile(bench.write(case))
        manifest = json.loads((bench.folder / "attention.json").read_text())
        (entry,) = manifest["entries"]
        picked = "{tile_q}x{tile_kv}".format(**entry["attention"]["schedule"])
        has_costs = not case.beside and head_dim in HEAD_DIMS["sm_80"]
        values, missing = bench.read_machine_code(with_loops and has_costs)

        def add(figure, value, note, unit="", case=case, **limits):
            if value is None:
                note = f"not measured: {missing}"
            value = round(value, 4) if isinstance(value, float) else value
            row = {"name": f"{place} {case.name} {figure}", "value": value}
            row |= {"unit": unit, "case": place, "figure": f"{case.name}: {figure}"}
            bench.rows.append(row | limits | {"note": note})

        spilled, note = values.get("spilled", (None, ""))
        add("spilled", spilled, f"{picked}, {note}", "bytes", at_most=0)
        if bench.limits.overlapped:
            warnings, note = values.get("warnings of wgmma", (None, ""))
            add("warnings of wgmma", warnings, note, at_most=0)
        if not has_costs:
            continue
        registers, _ = values.get("registers", (None, ""))
        add("registers", registers, picked, at_most=255)
        if not with_loops:
            continue
        per_mma, note = values.get("non-MMA per MMA", (None, ""))
        count = per_mma and instructions_per_score(per_mma, head_dim)
        if clause == CLAUSES[0]:
            plain = count
            add("instructions a score", count, note)
            continue
        cost = count - plain if count and plain else None
        limits = {} if clause.per_score is None else {"at_most": clause.per_score}
        add("more instructions a score", cost, picked, **limits)


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--target", choices=HEAD_DIMS, action="append")
    parser.add_argument("--head-dim", type=int, action="append")
    parser.add_argument("--no-loops", action="store_true")
    return parser.parse_args()


def main():
    args = parse_arguments()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            for args.target in args.target or HEAD_DIMS:
                bench = attention.Bench(args, Path(folder))
                for head_dim in args.head_dim or HEAD_DIMS[args.target]:
                    measure(bench, head_dim, not args.no_loops)
                rows += bench.rows
        except (attention.BenchError, OSError, cuda_tools.ToolError) as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
    args.json.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
    broken = [row for row in rows if args.no_loops and verdict(row)]
    show(broken)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
