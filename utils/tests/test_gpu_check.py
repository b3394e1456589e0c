# ===- test_gpu_check.py - the plan, the check and the script --------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
#
# utils/gpu_check.py and utils/gpu-check.sh without a GPU: what they would run,
# what they refuse, and, where PyTorch is installed, a whole run on the CPU with
# a kernel in Python in a package's place.

import ctypes
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "utils"))

import gpu_check  # noqa: E402
import gpu_package as gp  # noqa: E402

SCRIPT = ROOT / "utils/gpu-check.sh"


def operand(role, dims, kind="input"):
    shape = [64 if dim.startswith("D") else None for dim in dims]
    type_ = "f32" if role == "lse" else "bf16"
    return {"role": role, "kind": kind, "type": type_, "shape": shape, "dims": dims}


def write_package(folder, name, lse=True):
    entry = {
        "name": "attention",
        "operands": [
            operand("query", ["B", "Hq", "Sq", "D"]),
            operand("key", ["B", "Hkv", "Sk", "D"]),
            operand("value", ["B", "Hkv", "Sk", "Dv"]),
            operand("out", ["B", "Hq", "Sq", "Dv"], "output"),
        ],
        "parameters": [],
        "launches": [
            {
                "kernel": "k",
                "arguments": [],
                "shared_bytes": 1024,
                "grid": ["ceildiv(Sq, 128) * Hq * B", 1, 1],
                "block": [128, 1, 1],
                "cluster": [1, 1, 1],
            }
        ],
        "shared_bytes": 1024,
        "workspace_bytes": 0,
    }
    if lse:
        entry["operands"].append(operand("lse", ["B", "Hq", "Sq"], "output"))
    package = folder / f"{name}.fapkg"
    package.mkdir()
    manifest = {"format": 1, "ptx": "kernel.ptx", "entries": [entry]}
    (package / "manifest.json").write_text(json.dumps(manifest))
    return package


def test_cases():
    cases = gpu_check.make_cases((64, 128, 256), gpu_check.TOKENS, ("bf16",))
    # Three head dims, causal and not, four lengths; the quoted one twice.
    assert len(cases) == 3 * 2 * 4 + 2
    assert len(set(cases)) == len(cases)
    for case in cases:
        if case.kv_heads == case.heads:
            assert case.batch * case.tokens == 16384
            assert case.heads * case.head_dim == 2048
    assert gpu_check.Case(128, True, "bf16", 8192, 1, 64, 8) in cases
    one = gpu_check.Case(64, False, "f16", 1000, 2, 3, 3)
    assert one.operations() == 4 * 2 * 3 * 1000 * 1000 * 64
    causal = gpu_check.Case(64, True, "f16", 1000, 2, 3, 3)
    assert causal.operations() == 4 * 2 * 3 * 64 * sum(range(1, 1001))


def test_plan(tmp_path, capsys):
    write_package(tmp_path, "hd64-causal-bf16")
    arguments = [str(tmp_path), "--head-dims=64", "--tokens=2048,4096", "--dry-run"]
    assert gpu_check.main(arguments) == 0
    assert capsys.readouterr().out.splitlines() == [
        "hd64-causal-bf16 b=8 h=32/32 s=2048: k grid=[4096, 1, 1] "
        "block=[128, 1, 1] shared=1024",
        "hd64-causal-bf16 b=4 h=32/32 s=4096: k grid=[4096, 1, 1] "
        "block=[128, 1, 1] shared=1024",
        "hd64-full-bf16 b=8 h=32/32 s=2048: no package hd64-full-bf16.fapkg",
        "hd64-full-bf16 b=4 h=32/32 s=4096: no package hd64-full-bf16.fapkg",
    ]


def test_what_is_refused(tmp_path, capsys):
    assert gpu_check.main([str(tmp_path), "--dry-run"]) == 2
    assert capsys.readouterr().err == (
        f"error: {tmp_path} holds no package of the plan\n"
    )
    for option, message in {
        "--types=f32": "--types: no type f32; bf16 or f16",
        "--tokens=0": "--head-dims and --tokens are numbers above 0",
        "--tokens=x": "argument --tokens: invalid numbers value: 'x'",
        "--speed": "unrecognized arguments: --speed",
    }.items():
        with pytest.raises(SystemExit) as stopped:
            gpu_check.main([str(tmp_path), option])
        assert stopped.value.code == 2
        assert message in capsys.readouterr().err
    package = write_package(tmp_path, "hd64-full-bf16")
    manifest = json.loads((package / "manifest.json").read_text())
    manifest["entries"][0]["operands"].append(operand("sink", ["Hq"]))
    (package / "manifest.json").write_text(json.dumps(manifest))
    assert gpu_check.main([str(tmp_path), "--dry-run"]) == 2
    assert capsys.readouterr().err == "error: this check has no operand sink\n"


def test_needs_pytorch_and_a_gpu(tmp_path, capsys, monkeypatch):
    write_package(tmp_path, "hd64-full-bf16")
    monkeypatch.setitem(sys.modules, "torch", None)
    assert gpu_check.main([str(tmp_path)]) == 3
    assert "error: PyTorch is needed: " in capsys.readouterr().err
    no_gpu = SimpleNamespace(cuda=SimpleNamespace(is_available=lambda: False))
    monkeypatch.setitem(sys.modules, "torch", no_gpu)
    assert gpu_check.main([str(tmp_path)]) == 3
    assert capsys.readouterr().err == "error: PyTorch finds no GPU\n"


def test_small_launches_are_asked_of_fa_launch(tmp_path):
    cases = gpu_check.make_cases((64,), (2048, 4096), ("bf16",))
    write_package(tmp_path, "hd64-full-bf16")
    commands = []

    def run(command, **options):
        commands.append(command)
        return SimpleNamespace(returncode=4, stdout="out ", stderr="err")

    assert gpu_check.launch_small(tmp_path, cases, run) == []
    (tmp_path / "fa-launch").touch()
    assert gpu_check.launch_small(tmp_path, cases, run) == [
        {"package": "hd64-full-bf16", "exit_code": 4, "output": "out err"}
    ]

    def hang(command, **options):
        raise subprocess.TimeoutExpired(command, options["timeout"])

    assert gpu_check.launch_small(tmp_path, cases, hang) == [
        {
            "package": "hd64-full-bf16",
            "exit_code": 4,
            "output": "no end within 30 seconds",
        }
    ]
    assert commands == [
        [str(tmp_path / "fa-launch"), str(tmp_path / "hd64-full-bf16.fapkg")]
        + ["--device=cuda", "--dim=B=1", "--dim=Hq=4", "--dim=Hkv=2"]
        + ["--dim=Sq=300", "--dim=Sk=333"]
    ]


@pytest.mark.parametrize(
    "checks, launches, left_out, code",
    [
        ([True], [], [], 0),
        ([True], [0], ["no time left"], 0),
        ([True, False], [], [], 1),
        ([True], [0, 1], [], 1),
        ([True], [4], [], 1),
        ([True], [3], [], 3),
        ([True], [], ["failed: cuInit failed"], 3),
        ([], [], ["no time left"], 3),
    ],
)
def test_exit_codes(checks, launches, left_out, code):
    document = {
        "cases": [{"check": {"ok": ok}} for ok in checks],
        "launches": [{"exit_code": exit_code} for exit_code in launches],
        "left_out": [{"reason": reason} for reason in left_out],
    }
    assert gpu_check.exit_code(document) == code


def test_clocks_without_nvml():
    assert gpu_check.Clocks("/nowhere/libnvidia-ml.so.1").read() is None


# ===- The script ----------------------------------------------------------=== #


def script(*arguments, **environment):
    result = subprocess.run(
        [str(SCRIPT), *map(str, arguments)],
        capture_output=True,
        text=True,
        env=dict(os.environ, **environment),
    )
    return result.returncode, result.stdout, result.stderr


def test_script_usage(tmp_path):
    code, out, _ = script("--help")
    assert code == 0 and out.startswith("usage: gpu-check.sh pack FOLDER")
    assert script()[0] == 0
    for arguments, message in {
        ("time",): "error: unknown command 'time'",
        ("pack",): "error: pack needs a folder",
        ("run",): "error: run needs a folder",
        ("pack", tmp_path, "--speed"): "error: unknown option '--speed'",
    }.items():
        code, _, err = script(*arguments)
        assert code == 2 and err.endswith(f"gpu-check: {message}\n")
    code, _, err = script("pack", tmp_path, FA_BUILD=str(tmp_path))
    assert code == 3
    assert err == f"gpu-check: error: {tmp_path}/bin/fa-compile is not built\n"
    code, _, err = script("run", tmp_path, PYTHON="no-python")
    assert code == 3
    assert err == "gpu-check: error: no no-python here; PYTHON names one\n"


def make_build(folder, body):
    """A build folder whose compiler is a few lines of shell."""
    (folder / "bin").mkdir(parents=True)
    for name, text in {"fa-compile": body, "fa-launch": "exit 0"}.items():
        tool = folder / "bin" / name
        tool.write_text(f"#!/bin/sh\n{text}\n")
        tool.chmod(0o755)
    return str(folder)


def test_script_packs_a_folder_of_its_own(tmp_path):
    build = make_build(tmp_path / "build", 'echo "$@" >>"$FA_LOG"')
    folder = tmp_path / "folder"
    log = tmp_path / "log"
    options = ["--head-dims=64,256", "--types=f16", "--target=sm_90", "--cubin"]
    code, _, err = script("pack", folder, *options, FA_BUILD=build, FA_LOG=str(log))
    assert code == 0, err
    names = [f"hd{d}-{m}-f16" for d in (64, 256) for m in ("causal", "full")]
    assert log.read_text().splitlines() == [
        f"{folder}/{name}.mlir --target=sm_90 --cubin -o {folder}/{name}.fapkg"
        for name in names
    ]
    assert {path.name for path in folder.iterdir()} == {
        "fa-launch",
        "gpu-check.sh",
        "gpu_check.py",
        "gpu_package.py",
        *(f"{name}.mlir" for name in names),
    }
    text = (folder / "hd256-causal-f16.mlir").read_text()
    assert "tensor<?x?x?x256xf16>" in text and "#fa.causal<bottom_right>" in text
    assert "masks" not in (folder / "hd64-full-f16.mlir").read_text()
    # The copy runs by itself.
    write_package(folder, "hd64-full-bf16")
    result = subprocess.run(
        [folder / "gpu-check.sh", "run", folder, "--dry-run", "--tokens=2048"],
        capture_output=True,
        text=True,
        env=dict(os.environ, PYTHON=sys.executable),
    )
    assert result.returncode == 0, result.stderr
    assert "hd64-full-bf16 b=8 h=32/32 s=2048: k grid=[4096, 1, 1]" in result.stdout


def test_script_says_what_did_not_compile(tmp_path):
    build = make_build(tmp_path / "build", "case $1 in *hd256*) exit 2;; esac")
    code, _, err = script("pack", tmp_path / "f", FA_BUILD=build)
    assert code == 1
    assert err.splitlines() == [
        "gpu-check: hd64-causal-bf16 for sm_90a",
        "gpu-check: hd64-full-bf16 for sm_90a",
        "gpu-check: hd128-causal-bf16 for sm_90a",
        "gpu-check: hd128-full-bf16 for sm_90a",
        "gpu-check: hd256-causal-bf16 did not compile",
        "gpu-check: hd256-full-bf16 did not compile",
    ]


BUILD = Path(os.environ.get("FA_BUILD_DIR", ROOT / "build"))


@pytest.mark.skipif(
    not (BUILD / "bin/fa-compile").exists(), reason="no compiler is built"
)
def test_packs_what_the_compiler_takes(tmp_path):
    folder = tmp_path / "packages"
    options = ["--head-dims=64", "--target=sm_80"]
    code, _, err = script("pack", folder, *options, FA_BUILD=str(BUILD))
    assert code == 0, err
    cases = gpu_check.make_cases((64,), (2048,), ("bf16",))
    lines, count = gpu_check.describe_plan(folder, cases)
    assert count == 2, lines


# ===- A whole run, where PyTorch is ---------------------------------------=== #


class Event:
    """Event n is n milliseconds after the start."""

    count = 0

    def __init__(self, enable_timing):
        assert enable_timing

    def record(self):
        Event.count += 1
        self.at = Event.count

    def elapsed_time(self, end):
        return float(end.at - self.at)


class OnCPU:
    """PyTorch with the CPU in the GPU's place."""

    def __init__(self, torch):
        self.torch = torch
        self.cuda = SimpleNamespace(
            Event=Event,
            synchronize=lambda: None,
            current_stream=lambda: SimpleNamespace(cuda_stream=5),
            get_device_properties=lambda index: SimpleNamespace(
                name="CPU", major=9, minor=0, multi_processor_count=132
            ),
        )

    def __getattr__(self, name):
        value = getattr(self.torch, name)
        if name == "Generator":
            return lambda device="cpu": value("cpu")
        if name not in ("randn", "full", "empty", "zeros"):
            return value
        return lambda *a, device="cpu", **k: value(*a, device="cpu", **k)


def view(torch, tensor):
    """A tensor of PyTorch on somebody's memory."""
    dtype = {"bf16": torch.bfloat16, "f32": torch.float32}[tensor.type]
    count = math.prod(tensor.shape)
    memory = (ctypes.c_ubyte * (count * dtype.itemsize)).from_address(tensor.pointer)
    return torch.frombuffer(memory, dtype=dtype).view(tensor.shape)


@pytest.fixture
def run_on_cpu(tmp_path, monkeypatch):
    """Runs `attention(q, k, v, causal)` as the kernel of every package."""
    torch = pytest.importorskip("torch")

    def run(attention, **options):
        class Package(gp.Package):
            def load(self, image):
                pass

            def bind(self, tensors, scalars=None, workspace=0):
                assert workspace
                super().extents(tensors)

                def launch(stream):
                    assert stream == 5
                    q, k, v, out, *_ = (view(torch, tensor) for tensor in tensors)
                    out.copy_(attention(q, k, v, "causal" in str(self.folder)))

                return [launch]

        folder = tmp_path / "packages"
        folder.mkdir()
        for name in ("hd64-causal-bf16", "hd64-full-bf16"):
            (write_package(folder, name) / "kernel.ptx").write_text("")
        monkeypatch.setattr(gpu_check.gp, "Package", Package)
        monkeypatch.setattr(gpu_check.gp, "Driver", lambda: None)
        monkeypatch.setattr(gpu_check, "ALL_TOKENS", 256)
        monkeypatch.setattr(gpu_check, "WIDTH", 128)
        cases = gpu_check.make_cases((64,), (128, 200), ("bf16",))
        cases.append(gpu_check.Case(64, True, "bf16", 96, 1, 8, 2))
        output = tmp_path / "out.json"
        document = gpu_check.measure(
            OnCPU(torch), folder, cases, output, options.get("budget", 60), 0.01
        )
        assert json.loads(output.read_text()) == document
        return document

    return run


def sdpa(q, k, v, causal):
    import torch

    return torch.nn.functional.scaled_dot_product_attention(
        q, k, v, is_causal=causal, enable_gqa=True
    )


def test_run_of_a_right_kernel(run_on_cpu, capsys):
    document = run_on_cpu(sdpa)
    assert gpu_check.exit_code(document) == 0
    assert document["gpu"]["name"] == "CPU"
    assert len(document["cases"]) == 5
    for row in document["cases"]:
        assert row["check"]["ok"] and row["check"]["share_of_bound"] < 1
        assert row["image"] == "ptx"
        ours = row["results"][0]
        assert ours["backend"] == "fa-mlir" and ours["runs"] == 10
        assert ours["ms"] == {"min": 1.0, "median": 1.0, "max": 1.0}
        case = gpu_check.Case(**row["case"])
        assert ours["tflops"] == case.operations() / 1e9
        assert {"CUDNN_ATTENTION", "FLASH_ATTENTION"} <= {
            result["backend"] for result in row["results"]
        }
    out = capsys.readouterr().out
    assert "hd64-causal-bf16 b=2 h=2/2 s=128: check: ok 0." in out
    assert "fa-mlir 0.0 TFLOP/s (1.000 ms, ? MHz)" in out


def test_run_of_wrong_kernels(run_on_cpu, capsys):
    def without_mask(q, k, v, causal):
        return sdpa(q, k, v, False)

    document = run_on_cpu(without_mask)
    for row in document["cases"]:
        assert row["check"]["ok"] == (not row["case"]["causal"])
    assert gpu_check.exit_code(document) == 1
    assert "hd64-causal-bf16 b=2 h=2/2 s=128: check: FAILED" in capsys.readouterr().out


def test_a_row_that_is_missing_is_wrong(run_on_cpu):
    def without_last(q, k, v, causal):
        out = sdpa(q, k, v, causal).clone()
        out[-1, -1, -1, -1] = math.nan
        return out

    document = run_on_cpu(without_last)
    assert not any(row["check"]["ok"] for row in document["cases"])


def test_without_time_the_rest_is_left_out(run_on_cpu):
    document = run_on_cpu(sdpa, budget=-1)
    assert document["cases"] == []
    assert {row["reason"] for row in document["left_out"]} == {"no time left"}
    assert gpu_check.exit_code(document) == 3


def test_what_fa_launch_found_wrong_is_not_timed(run_on_cpu, monkeypatch):
    rows = [
        {"package": "hd64-causal-bf16", "exit_code": 1, "output": ""},
        {"package": "hd64-full-bf16", "exit_code": 0, "output": ""},
    ]
    monkeypatch.setattr(gpu_check, "launch_small", lambda folder, cases: rows)
    document = run_on_cpu(sdpa)
    assert {row["package"] for row in document["cases"]} == {"hd64-full-bf16"}
    assert {(row["case"]["causal"], row["reason"]) for row in document["left_out"]} == {
        (True, "fa-launch found it wrong")
    }
    assert gpu_check.exit_code(document) == 1


def test_a_kernel_that_cannot_be_launched_is_told(run_on_cpu, capsys):
    def fail(q, k, v, causal):
        raise gp.DriverError("cuLaunchKernelEx failed with CUDA_ERROR_UNKNOWN")

    document = run_on_cpu(fail)
    assert gpu_check.exit_code(document) == 3
    assert "failed: cuLaunchKernelEx failed with" in capsys.readouterr().out
