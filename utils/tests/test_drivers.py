# ===- test_drivers.py - demo, bench and the README runner -----------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
#
# The drivers against a stub of fa-run and made-up benchmarks: what they print
# and return when all is well, when a check fails, and when a tool is missing.
# The real fa-run goes through the same scripts in ./fa demo.

import json
import subprocess
import sys
from pathlib import Path
from unittest.mock import ANY

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]

STUB = """#!{python}
import json, sys, pathlib
import numpy as np
options = dict(a[2:].split("=", 1) for a in sys.argv[2:] if not a.startswith("--input"))
out = pathlib.Path(options["output"])
np.save(out / "out0.npy", np.full((1, 1, 1, 16), {value}, np.float32))
check = dict(result=0, ok={state}, problem="", max_error=1e-7, bound=1e-3)
report = dict(
    operands=[dict(role="query", type="f16", shape=[1, 1, 1, 16])],
    target=options["target"], device="emulator", checks=[check],
    traffic=dict(naive_bytes=2048, naive_stored_bytes=512),
    counters={{"global": dict(loaded_bytes=1000, stored_bytes=24)}},
    trace=[dict(block=0, m=0.6931472, l=1.5, u=[20]), dict(block=1, m=1.3862944, l={row_sum}, u=[40])],
    seconds=dict(compile=0.1, device=0.25, oracle=0),
)
pathlib.Path(options["report"]).write_text(json.dumps(report | {extra}))
if "trace-state" in options:
    print("trace: block=0 m=0.693147 l=1.5 u=[20]")
sys.exit({code})
"""


def run(script, *args):
    return subprocess.run(
        [sys.executable, str(ROOT / script), *map(str, args)],
        capture_output=True,
        text=True,
    )


@pytest.fixture
def build(tmp_path):
    (tmp_path / "bin").mkdir()

    def stub(value="160 / 7", state=True, code=0, row_sum="1.75", extra="{}"):
        path = tmp_path / "bin" / "fa-run"
        path.write_text(
            STUB.format(
                python=sys.executable,
                value=value,
                state=state,
                code=code,
                row_sum=row_sum,
                extra=extra,
            )
        )
        path.chmod(0o755)
        return tmp_path

    return stub


def test_demo_prints_the_table_and_writes_the_report(build):
    folder = build()
    result = run("examples/demo.py", f"--build={folder}")
    assert result.returncode == 0, result.stdout + result.stderr
    lines = result.stdout.splitlines()
    assert "  trace: block=0 m=0.693147 l=1.5 u=[20]" in lines
    assert any(line.startswith("  O = 160/7 = 22.857142857; ") for line in lines)
    assert "  query 1x1x1x16 f16" in lines
    assert "  sm_80 on emulator" in lines
    assert "  result 0: ok, max error 1e-07, bound 0.001" in lines
    moved = "  global memory: 1 KiB moved; 2 KiB where S and P are written and read"
    assert moved in lines
    assert "  S would store 512 B; this kernel stores none of it" in lines
    assert "  after block 1: m = ln 4, l = 1.75, u = 40, as by hand" in lines
    assert any(line.endswith("s: 0.10 compiling, 0.25 running") for line in lines)
    table = [line.split() for line in lines if line.startswith("worked  ")]
    assert table == ["worked ok 1e-07 / 0.001 1 KiB 2 KiB 0 512 B".split() + [ANY]]
    assert "S for 8192 x 8192 in f16 would be 128 MiB a head; ours is 0." in lines
    report = Path(lines[-1].removeprefix("report: "))
    cases = json.loads(report.read_text())["cases"]
    assert [case["name"] for case in cases] == ["worked", "minilm", "causal-gqa"]
    assert cases[0]["report"]["counters"]["global"]["loaded_bytes"] == 1000


def test_demo_gives_its_cases_real_files():
    for case in json.loads((ROOT / "examples/demo.json").read_text())["cases"]:
        assert (ROOT / "examples" / case["file"]).exists()
        text = (ROOT / "examples" / case["file"]).read_text()
        for name in case["inputs"]:
            assert np.load(ROOT / "examples" / name).ndim > 0
        assert len(case["inputs"]) in (0, text.split("->")[0].count(": tensor"))


@pytest.mark.parametrize(
    "stub, code, message",
    [
        (dict(state=False, code=1), 1, "result 0: FAILED"),
        (dict(code=4), 4, "FAILED, exit code 4"),
        (dict(value="65 / 3"), 1, "the kernel gives 21.66"),  # l not rescaled
        (dict(row_sum="2.5"), 1, "m = ln 4, l = 1.75, u = 40, NOT as by hand"),
    ],
)
def test_demo_fails_where_the_kernel_does(build, stub, code, message):
    folder = build(**stub)
    result = run("examples/demo.py", f"--build={folder}", "worked")
    assert result.returncode == code
    assert message in result.stdout


def test_demo_says_what_a_device_does_not_count(build):
    folder = build(extra="dict(counters={})")
    result = run("examples/demo.py", f"--build={folder}", "minilm")
    assert "  global memory: not counted on this device; 2 KiB where" in result.stdout
    assert result.returncode == 0


def test_demo_refusals(tmp_path):
    result = run("examples/demo.py", f"--build={tmp_path}")
    assert result.returncode == 3 and "fa-run is not built" in result.stderr
    result = run("examples/demo.py", f"--build={tmp_path}", "nonsense")
    assert result.returncode == 2 and "no case 'nonsense': worked" in result.stderr


def benchmark(folder, figures):
    (folder / "benchmarks").mkdir(exist_ok=True)
    path = folder / "benchmarks" / "made-up"
    path.write_text(
        f"#!{sys.executable}\nimport sys\nopen(sys.argv[2][7:], 'w').write("
        f"{json.dumps(figures)!r})\n"
    )
    path.chmod(0o755)


@pytest.mark.parametrize("value, code", [(3, 0), (5, 1)])
def test_bench_collects_and_holds_to_limits(tmp_path, value, code):
    benchmark(tmp_path, [{"name": "n", "value": value, "unit": "s", "at_most": 4}])
    result = run("utils/bench.py", f"--build={tmp_path}", "made-up")
    assert result.returncode == code, result.stdout + result.stderr
    assert ("above 4" in result.stdout) == (code == 1)
    document = json.loads((tmp_path / "reports" / "bench.json").read_text())
    assert document["figures"][0]["value"] == value
    assert document["figures"][0]["benchmark"] == "made-up"


def test_bench_without_git(tmp_path, monkeypatch):
    benchmark(tmp_path, [{"name": "n", "value": 1, "unit": "s"}])
    monkeypatch.setenv("PATH", str(tmp_path))
    result = run("utils/bench.py", f"--build={tmp_path}", "made-up")
    assert result.returncode == 0, result.stdout + result.stderr
    document = json.loads((tmp_path / "reports" / "bench.json").read_text())
    assert document["commit"] == "unknown"


def test_bench_refuses_an_unknown_name(tmp_path):
    assert run("utils/bench.py", f"--build={tmp_path}", "none").returncode == 2


@pytest.mark.parametrize(
    "page, code, message",
    [
        ("```sh\ntrue\n```\n", 0, ""),
        ("```sh\nfalse\n```\n", 1, ":1: exit code 1"),
        ("x\n```sh\nfalse\ntrue\n```\n", 1, ":2: exit code 1"),
        ("```sh\necho a 1 b\n```\n\n```text\na ... b\n```\n", 0, ""),
        ("```sh\necho a\n```\n```text\nb\n```\n", 1, "lacks 'b'"),
        # Order counts; text between the blocks parts them.
        ("```sh\nprintf 'a\\nb\\n'\n```\n```text\nb\na\n```\n", 1, "lacks 'a'"),
        ("```sh\necho a\n```\nunlike\n```text\nb\n```\n", 0, ""),
        ("```sh\n./fa test\n```\n", 0, ""),
    ],
)
def test_readme_runner(tmp_path, page, code, message):
    (tmp_path / "page.md").write_text(page)
    result = run("utils/run-readme.py", tmp_path / "page.md", "--skip=./fa test")
    assert result.returncode == code, result.stderr
    assert message in result.stderr
