# ===- test_benchmarks.py - bounds and tables of the benchmarks ------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
#
# The pure functions of benchmarks/attention.py against sums over single rows
# and keys, and the page against the recorded results. No test measures.

import importlib.util
import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "utils"))


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, ROOT / path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


attention = load(Path("benchmarks/attention.py"))
clauses = load(Path("benchmarks/clauses.py"))
bench = load(Path("utils/bench.py"))


def test_bound_by_hand():
    # Four blocks of 128 rows; K and V of 512 keys each, 128 bytes a key.
    assert attention.bound_bytes(512, 512, 64, 128, False) == 655360
    # The causal blocks see 128, 256, 384 and 512 keys.
    assert attention.bound_bytes(512, 512, 64, 128, True) == 458752
    assert attention.bound_bytes(512, 512, 64, 128, True, heads=3) == 3 * 458752
    # In tiles of 96 keys: 192, 288, 384 and, since there are no more, 512.
    assert attention.bound_bytes(512, 512, 64, 128, True, unit=96) == 131072 + 256 * (
        192 + 288 + 384 + 512
    )


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("queries, keys", [(64, 64), (70, 50), (33, 100), (1, 1)])
@pytest.mark.parametrize("tile_q, tile_kv", [(16, 8), (32, 64)])
def test_bound_and_blocks_row_by_row(causal, queries, keys, tile_q, tile_kv):
    seen, blocks = set(), set()
    for i in range(queries):
        for j in range(keys):
            if not causal or j <= i:
                seen.add((i // tile_q, j))
                blocks.add((i // tile_q, j // tile_kv))
    # Two bytes a number: Q and O, then K and V.
    expected = 2 * 64 * (2 * queries + 2 * len(seen))
    assert attention.bound_bytes(queries, keys, 64, tile_q, causal) == expected
    # A key is there with each that shares its tile.
    tiles = sum(
        (block, j // tile_kv) in blocks
        for block in {b for b, _ in blocks}
        for j in range(keys)
    )
    in_tiles = attention.bound_bytes(queries, keys, 64, tile_q, causal, unit=tile_kv)
    assert in_tiles == 2 * 64 * (2 * queries + 2 * tiles)
    needed = attention.needed_scores(queries, keys, tile_q, tile_kv, causal)
    assert needed == len(blocks) * tile_q * tile_kv


def test_instructions_of_a_score():
    # At D = 64 a tile of 16 by 8 scores is 4 MMAs of Q.K and 4 of P.V, and a
    # lane has 4 of its scores.
    assert clauses.instructions_per_score(3.5, 64) == 8 * 3.5 / 4


def test_every_clause_has_its_operands():
    for case in clauses.cases(64):
        source = case.source()
        for name in "xy"[: len(case.clause.operands)]:
            assert source.count(f"%{name}") == 2


def test_clauses_stand_beside_causal_masks():
    names = [case.name for case in clauses.cases(64)]
    assert len(set(names)) == len(names) == 3 * len(clauses.CLAUSES) - 4
    for case in clauses.cases(64):
        clause = case.clause.text
        count = 1 if case.beside or clause.startswith("masks [#fa.causal") else 0
        assert case.source().count("#fa.causal") == count, case.name
        assert clauses.MASKS[case.beside] in case.source()
        assert case.source().count("masks [") == max(count, clause.count("masks ["))


class Recorder:
    """A bench that compiles nothing; every kernel spills 8 bytes."""

    def __init__(self, args, folder):
        self.target, self.folder = args.target, Path(folder)
        self.limits, self.rows = attention.LIMITS[args.target], []

    def write(self, case):
        return case

    def compile(self, source):
        schedule = {"tile_q": 128, "tile_kv": 80}
        manifest = {"entries": [{"attention": {"schedule": schedule}}]}
        (self.folder / "attention.json").write_text(json.dumps(manifest))

    def read_machine_code(self, with_loops=True):
        values = {"registers": (168, ""), "spilled": (8, "8 stored, 0 loaded")}
        return values | {"warnings of wgmma": (0, "")}, "not asked for"


def test_a_spill_fails_where_only_spills_are_asked_for(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(attention, "Bench", Recorder)
    monkeypatch.setattr(clauses.attention, "Bench", Recorder)
    out = tmp_path / "rows.json"
    options = ["--target=sm_90a", "--head-dim=192", f"--json={out}", "--build=."]
    monkeypatch.setattr(sys, "argv", ["clauses.py", *options, "--no-loops"])
    assert clauses.main() == 1
    assert "sm_90a d192 causal + bias spilled" in capsys.readouterr().out
    rows = json.loads(out.read_text())
    figures = {row["name"].rsplit(" ", 1)[-1] for row in rows}
    assert figures == {"spilled", "wgmma"}
    assert len(rows) == 2 * len(clauses.cases(192))
    # Asked for all figures, rows outside of their limits are ./fa bench's.
    monkeypatch.setattr(sys, "argv", ["clauses.py", *options])
    assert clauses.main() == 0


def test_processed_scores():
    # 128 rows, 64 keys, Q·K and P·V at D = 32: 2 operations a multiply-add.
    flops = 2 * (128 * 64 * 32) * 2
    assert attention.processed_scores(flops, 32) == 128 * 64


@pytest.mark.parametrize(
    "tiles, length", [((128, 64), 512), ((128, 32), 512), ((128, 96), 768)]
)
def test_counted_length_is_a_multiple(tiles, length):
    assert attention.counted_length(*tiles) == length


def test_mask_free_loop_is_the_one_without_compares():
    full = {"non_mma_per_mma": 4, "per_mma": {"predicate": 0.1}}
    partial = {"non_mma_per_mma": 3, "per_mma": {"predicate": 1.2}}
    unknown = {"non_mma_per_mma": None}
    assert attention.mask_free([unknown, partial, full]) is full
    with pytest.raises(attention.BenchError, match="no loop"):
        attention.mask_free([unknown])


def test_missing_tool_leaves_figures_unmeasured(monkeypatch, tmp_path):
    monkeypatch.setattr(attention.cuda_tools, "find", lambda tool: None)
    args = type("Args", (), {"build": tmp_path, "target": "sm_80"})
    one = attention.Bench(args, tmp_path)
    one.machine_code(attention.CASES[0], "128x64")
    assert {row["figure"] for row in one.rows} >= {"registers", "spilled", "pipes"}
    for row in one.rows:
        assert row["value"] is None
        assert row["note"] == "not measured: no ptxas"
        assert bench.verdict(row) == ""
        assert bench.value_text(row) == "n/a"


LOG = """ptxas info    : Function properties for attention_kernel
    32 bytes stack frame, 32 bytes spill stores, 52 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 32 bytes cumulative stack size
"""


def test_registers_need_ptxas_alone(monkeypatch, tmp_path):
    tools = attention.cuda_tools
    monkeypatch.setattr(tools, "find", lambda tool: tool == "ptxas" or None)
    monkeypatch.setattr(tools, "run", lambda *command: LOG)
    args = type("Args", (), {"build": tmp_path, "target": "sm_80"})
    one = attention.Bench(args, tmp_path)
    one.machine_code(attention.CASES[0], "128x64")
    found = {row["figure"]: (row["value"], row["note"]) for row in one.rows}
    assert found["registers"] == (255, "128x64")
    assert found["spilled"] == (84, "32 stored, 52 loaded")
    assert found["pipes"] == (None, "not measured: no cuobjdump")


def test_a_limit_is_not_held_unmeasured():
    row = {"name": "f", "value": None, "at_most": 1}
    assert bench.verdict(row) == "not measured"
    assert bench.verdict({**row, "note": "not measured: no ptxas"}) == ""


def test_a_kernel_without_the_loop_is_an_error(monkeypatch, tmp_path):
    args = type("Args", (), {"build": tmp_path, "target": "sm_80"})
    one = attention.Bench(args, tmp_path)
    monkeypatch.setattr(one, "read_machine_code", lambda: ({"registers": (1, "")}, ""))
    with pytest.raises(attention.BenchError, match="spilled"):
        one.machine_code(attention.CASES[0], "128x64")


def test_no_rounding_hides_a_broken_limit(tmp_path):
    args = type("Args", (), {"build": tmp_path, "target": "sm_80"})
    one = attention.Bench(args, tmp_path)
    one.add(attention.CASES[0], "pipes", 0.97996, at_least=0.98)
    assert bench.verdict(one.rows[0]) == "below 0.98"


def test_table_marks_what_breaks_its_limit():
    rows = [
        {"name": "n", "case": "a", "figure": "f", "value": 5, "at_most": 4},
        {"name": "n", "case": "b", "figure": "f", "value": None, "at_most": 3},
        {"name": "other", "value": 1},
    ]
    rows[1]["note"] = "not measured: no ptxas"
    document = {"date": "d", "commit": "c", "tools": {"t": "1"}, "figures": rows}
    document |= {"processors": 2, "load_at_start": 0.5}
    lines = bench.table(document).splitlines()
    assert lines[0] == "Measured on d at c, 2 processors, load 0.5, with t 1."
    assert lines[-1] == "| f | ≤ 4 / ≤ 3 | **5** | n/a |"


@pytest.mark.parametrize("path", sorted(ROOT.glob("benchmarks/results/*.json")))
def test_page_shows_the_recorded_result(path):
    page = (ROOT / "docs/Benchmarks.md").read_text()
    assert f"begin results/{path.name}" in page
    assert bench.with_table(page, path.stem, json.loads(path.read_text())) == page
