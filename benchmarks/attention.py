#!/usr/bin/env python3
# ===- attention.py - figures of the attention kernels ---------------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""Figures of forward attention, with the schedule that the compiler picks.

    attention.py --build=DIR --json=FILE [--target=sm_80|sm_90a]

Run by ./fa bench. Head dimensions 64 and 128, causal and not, f16, all other
extents dynamic. No GPU: machine code is read, not run; bytes, conflicts and
exponentials are counted by the PTX machine, on a result that the oracle has
checked. docs/Benchmarks.md says what each figure means.

A figure whose tool is missing has the value null and the reason as its note.
"""

import argparse
import importlib.util
import json
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from math import lcm
from pathlib import Path

UTILS = Path(__file__).resolve().parents[1] / "utils"
sys.path.insert(0, str(UTILS))

import cuda_tools  # noqa: E402

LENGTH = 512  # the counted run: the next multiple of both tiles
COMPILE_RUNS = 12
EMULATOR_RUNS = 3
BYTES = 2  # f16


@dataclass(frozen=True)
class Limits:
    """What the figures of a target may be, by head dimension where they differ.
    Those of the overlap are of targets whose products run by themselves."""

    per_mma: dict
    pipes: dict
    compile_seconds: float
    partial_per_mma: dict = None  # of the causal loop for partial blocks
    covered: float = None  # share of instructions under a running product
    overlapped: dict = None  # tensor-core time of one warp by its own code


LIMITS = {
    "sm_80": Limits({64: 4.0, 128: 3.4}, {64: 0.98, 128: 0.98}, 0.5),
    "sm_90a": Limits(
        {64: 3.0, 128: 1.62},
        {64: 0.95, 128: 0.98},
        0.6,
        partial_per_mma={128: 2.4},
        covered=0.7,
        overlapped={64: 0.82, 128: 0.88},
    ),
}


class BenchError(Exception):
    """A program failed; the message says which and how."""


def load_sass_loop():
    """utils/sass-loop.py, whose name no import statement can spell."""
    spec = importlib.util.spec_from_file_location("sass_loop", UTILS / "sass-loop.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["sass_loop"] = module
    spec.loader.exec_module(module)
    return module


@dataclass(frozen=True)
class Case:
    head_dim: int
    causal: bool

    @property
    def name(self):
        return f"d{self.head_dim}" + (" causal" if self.causal else "")

    def source(self):
        """The program, all extents but the head dimension dynamic."""
        tensor = f"tensor<?x?x?x{self.head_dim}xf16>"
        masks = " masks [#fa.causal<top_left>]" if self.causal else ""
        return (
            f"func.func @attention(%q: {tensor}, %k: {tensor}, %v: {tensor})\n"
            f"    -> {tensor} {{\n"
            f"  %o = fa.attention %q, %k, %v{masks}\n"
            f"       : {tensor}, {tensor}, {tensor} -> {tensor}\n"
            f"  return %o : {tensor}\n}}\n"
        )


CASES = [Case(d, causal) for d in (64, 128) for causal in (False, True)]


def visible_keys(first_row, rows, keys, causal):
    """How many keys, from the first on, some row of a block sees (top left)."""
    return min(keys, first_row + rows) if causal else keys


def query_blocks(queries, tile_q):
    """(first row, number of rows) of each block of query rows."""
    starts = range(0, queries, tile_q)
    return [(first, min(tile_q, queries - first)) for first in starts]


def bound_bytes(queries, keys, head_dim, tile_q, causal, heads=1, unit=1):
    """The least that must cross global memory: Q and O once, and K and V once
    for each block of query rows, as far as one of its rows sees them, in whole
    tiles of `unit` keys where they come as such."""
    rows_bytes = 2 * queries * head_dim * BYTES
    moved = 0
    for first, rows in query_blocks(queries, tile_q):
        tiles = -(-visible_keys(first, rows, keys, causal) // unit)
        moved += min(keys, tiles * unit)
    return heads * (rows_bytes + 2 * moved * head_dim * BYTES)


def needed_scores(queries, keys, tile_q, tile_kv, causal, heads=1):
    """Scores of the blocks that hold a visible one, whole blocks counted."""
    blocks = sum(
        -(-visible_keys(first, rows, keys, causal) // tile_kv)
        for first, rows in query_blocks(queries, tile_q)
    )
    return heads * blocks * tile_q * tile_kv


def processed_scores(mma_flops, head_dim):
    """Scores that the products were made for: each takes part in Q·K and P·V,
    2 * head_dim multiply-adds of two operations."""
    return mma_flops / (4 * head_dim)


def counted_length(tile_q, tile_kv):
    """The least multiple of both tiles from LENGTH on."""
    step = lcm(tile_q, tile_kv)
    return -(-LENGTH // step) * step


def mask_free(loops):
    """The loop for full blocks: the one that compares and selects least."""
    known = [loop for loop in loops if loop["non_mma_per_mma"] is not None]
    if not known:
        raise BenchError("the kernel has no loop with tensor-core products")
    return min(known, key=lambda loop: loop["per_mma"].get("predicate", 0))


def run(*command):
    """(wall, processor) seconds of a program that must succeed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if result.returncode:
        text = (result.stderr or result.stdout).strip()[-2000:]
        raise BenchError(f"{command[0].name} gave {result.returncode}: {text}")
    user, system = after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime
    return wall, user + system


class Bench:
    """One case after the other; `rows` collects the figures."""

    def __init__(self, args, folder):
        self.bin, self.target, self.folder = args.build / "bin", args.target, folder
        self.limits = LIMITS[args.target]
        self.rows = []

    def add(self, case, figure, value, unit="", note="", **limits):
        # Digits enough that no rounding brings a figure inside of its limit.
        value = round(value, 6) if isinstance(value, float) else value
        row = {"name": f"{self.target} {case.name} {figure}", "value": value}
        row |= {"unit": unit, "case": case.name, "figure": figure}
        self.rows.append(row | limits | ({"note": note} if note else {}))

    def write(self, case):
        source = self.folder / "attention.mlir"
        source.write_text(case.source())
        return source

    def measure(self, case, seconds):
        source = self.write(case)
        self.compile(source)
        manifest = json.loads((self.folder / "attention.json").read_text())
        (entry,) = manifest["entries"]
        schedule = entry["attention"]["schedule"]
        picked = "{tile_q}x{tile_kv}, {warps} warps, {stages} stages".format(**schedule)
        self.machine_code(case, picked)
        self.add(case, "shared memory", entry["shared_bytes"], "bytes", picked)
        self.counts(case, source, entry)
        wall, processor = map(min, zip(*seconds))
        note = f"new processes, one thread, least of {len(seconds)}; "
        note += f"least processor time {processor:.2f} s"
        limit = self.limits.compile_seconds
        self.add(case, "source to PTX", wall, "s", note, at_most=limit)
        if case == CASES[0]:
            self.emulator_seconds(case, source)

    def compile(self, source):
        """(wall, processor) seconds of a run that leaves PTX and manifest."""
        command = [self.bin / "fa-compile", source, f"--target={self.target}"]
        return run(*command, "-o", self.folder / "attention.ptx")

    def compile_seconds(self):
        """Those of all runs by case; in rounds, since other work on the machine
        comes in bursts."""
        seconds = {case: [] for case in CASES}
        for _ in range(COMPILE_RUNS):
            for case in CASES:
                seconds[case].append(self.compile(self.write(case)))
        return seconds

    def machine_code(self, case, picked):
        """Registers, spills and the mask-free loop, as far as tools are here."""
        limits = {
            "registers": {"at_most": 255},
            "spilled": {"at_most": 0},
            "non-MMA per MMA": {"at_most": self.limits.per_mma[case.head_dim]},
            "pipes": {"at_least": self.limits.pipes[case.head_dim]},
        }
        if self.limits.overlapped:
            limits |= {
                "warnings of wgmma": {"at_most": 0},
                "under a product": {"at_least": self.limits.covered},
                "exponentials under a product": {"at_least": 1},
                "tensor time alone": {
                    "at_least": self.limits.overlapped[case.head_dim]
                },
            }
        partial = (self.limits.partial_per_mma or {}).get(case.head_dim)
        if case.causal and partial:
            limits["non-MMA per MMA, partial blocks"] = {"at_most": partial}
        values, missing = self.read_machine_code()
        if not missing and not limits.keys() <= values.keys():
            raise BenchError(f"no loop gives {limits.keys() - values.keys()}")
        for figure, limit in limits.items():
            value, note = values.get(figure, (None, f"not measured: {missing}"))
            unit = "bytes" if figure == "spilled" and value is not None else ""
            self.add(case, figure, value, unit, note or picked, **limit)

    def read_machine_code(self, with_loops=True):
        """({figure: (value, note)}, what is missing for the others)."""
        sass_loop = load_sass_loop()
        if cuda_tools.find("ptxas") is None:
            return {}, "no ptxas"
        ptx, cubin = self.folder / "attention.ptx", self.folder / "attention.cubin"
        log = cuda_tools.run("ptxas", "-v", f"-arch={self.target}", ptx, "-o", cubin)
        (used,) = [u for u in sass_loop.resources("", log).values() if "registers" in u]
        stores, loads = used["spill_stores"], used["spill_loads"]
        values = {
            "registers": (used["registers"], ""),
            "spilled": (stores + loads, f"{stores} stored, {loads} loaded"),
            "warnings of wgmma": (log.count("C75"), "ptxas C75xx"),
        }
        if not with_loops:
            return values, "not asked for"
        for tool in ("cuobjdump", "nvdisasm"):
            if cuda_tools.find(tool) is None:
                return values, f"no {tool}"
        listing = cuda_tools.run("cuobjdump", "-sass", cubin)
        (kernel,) = sass_loop.analyse(listing)
        loop = mask_free(kernel["loops"])
        text = f"{loop['instructions']} instructions"
        text += f", {loop['conditional']} of them conditional, {loop['mma']}"
        values["non-MMA per MMA"] = (
            loop["non_mma_per_mma"],
            text.translate(str.maketrans("", "", "{}'")),
        )
        values["pipes"] = (loop["pipes"], f"bound by {loop['bound_by']}")
        if "async" in loop:
            values["under a product"] = (loop["covered"], "of other instructions")
            values["exponentials under a product"] = (loop["covered_ex2"], "")
            values["tensor time alone"] = (loop["async"], "one warp by its own code")
        # In the order of the code the one behind: the loop for partial blocks.
        later = kernel["loops"][kernel["loops"].index(loop) + 1 :]
        if later:
            partial = later[0]
            text = f"{partial['instructions']} instructions"
            values["non-MMA per MMA, partial blocks"] = (
                partial["non_mma_per_mma"],
                text,
            )
        return values, ""

    def emulate(self, source, length, *options):
        """fa-run's report of one head."""
        report = self.folder / "report.json"
        extents = [f"--dim={e}=1" for e in ("B", "Hq", "Hkv")]
        extents += [f"--dim={e}={length}" for e in ("Sq", "Sk")]
        command = [self.bin / "fa-run", source, f"--target={self.target}"]
        command += ["--device=emulator", f"--report={report}"]
        run(*command, *extents, *options)
        return json.loads(report.read_text())

    def counts(self, case, source, entry):
        """What the PTX machine counts on a result that the oracle checked."""
        schedule = entry["attention"]["schedule"]
        tile_q, tile_kv = schedule["tile_q"], schedule["tile_kv"]
        length = counted_length(tile_q, tile_kv)
        counters = self.emulate(source, length, "--check")["counters"]
        shared, traffic = counters["shared"], counters["global"]
        at = f"S = {length}"
        for figure, kind in (
            ("conflicts of matrix loads", "ldmatrix"),
            ("conflicts of matrix stores", "stmatrix"),
            ("conflicts of cp.async stores", "cp_async"),
            ("conflicts of boxes", "bulk_write"),
            ("conflicts of wgmma", "wgmma"),
        ):
            if shared[kind]["wavefronts"] == 0:
                continue
            note = f"{shared[kind]['wavefronts']} wavefronts, {at}"
            self.add(case, figure, shared[kind]["conflicts"], "", note, at_most=0)
        # A box is a whole tile.
        has_boxes = any(p["kind"] == "tensormap" for p in entry["parameters"])
        unit = tile_kv if has_boxes else 1
        bound = bound_bytes(
            length, length, case.head_dim, tile_q, case.causal, unit=unit
        )
        moved = traffic["loaded_bytes"] + traffic["stored_bytes"]
        sectors = traffic["loaded_sectors"] + traffic["stored_sectors"]
        note = f"{moved} of {bound} bytes, {at}"
        ratio = moved / bound
        self.add(case, "global bytes / bound", ratio, "", note, at_most=1.02)
        note = "32 bytes each; two stores to one sector count twice"
        ratio = 32 * sectors / bound
        self.add(case, "global sectors / bound", ratio, "", note)
        scores = processed_scores(counters["mma"]["flops"], case.head_dim)
        needed = needed_scores(length, length, tile_q, tile_kv, case.causal)
        ratio = scores / needed
        note = f"blocks of {tile_q}x{tile_kv}, {at}"
        self.add(case, "processed / needed blocks", ratio, "", note, at_most=1)
        ex2 = counters["special"]["ex2"]
        self.add(
            case,
            "exponentials per score",
            ex2 / scores,
            "",
            "1, and 4 / tile_kv for the rescale",
            at_most=round(1 + 4 / tile_kv, 6),
        )

    def emulator_seconds(self, case, source):
        options = ("--no-check", "--threads=1", "--sanitize=none")
        runs = [
            self.emulate(source, 1024, *options)["seconds"]["device"]
            for _ in range(EMULATOR_RUNS)
        ]
        note = f"S = 1024, one head and thread, counting, least of {EMULATOR_RUNS}"
        self.add(case, "emulator", min(runs), "s", note)


def main(arguments=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--target", default="sm_80", choices=LIMITS)
    args = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(args, Path(folder))
        try:
            for case, seconds in bench.compile_seconds().items():
                bench.measure(case, seconds)
        except (BenchError, OSError, cuda_tools.ToolError) as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
    args.json.write_text(json.dumps(bench.rows, indent=1, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
