# ===- gpu_check.py - check and time packages beside PyTorch's attention ---=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""Checks packages on a GPU and times them beside PyTorch's attention.

gpu-check.sh packs a folder where the compiler is built and runs this where the
GPU is. Needs a CUDA driver and PyTorch, and nothing of MLIR. First fa-launch
checks each package at a small size by the f64 oracle; then each case is checked
on sampled rows by the same rule, and timed in one process with every back end
of scaled_dot_product_attention that takes it. The JSON is written anew after
each case, so that what was measured before a time limit stays.

Exit codes: 0 right, 1 a result is wrong, 2 wrong usage, 3 no GPU, driver or
PyTorch.
"""

import argparse
import ctypes
import json
import math
import os
import statistics
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import gpu_package as gp  # noqa: E402

HEAD_DIMS = (64, 128, 256)
TOKENS = (2048, 4096, 8192, 16384)
# Work of a case does not depend on how it is cut: tokens of all batches, and
# heads times head dim.
ALL_TOKENS = 16384
WIDTH = 2048
# u, e and f of the rule for how near is right (fa/Reference/Tolerance.h).
RULE = {"f16": (2**-11, 2**-20, 2**-24), "bf16": (2**-8, 2**-20, 2**-100)}
# Exit codes of fa-launch: a result is wrong, the kernel was stopped.
WRONG, STOPPED = 1, 4
BACKENDS = ("CUDNN_ATTENTION", "FLASH_ATTENTION", "EFFICIENT_ATTENTION")


@dataclass(frozen=True)
class Case:
    head_dim: int
    causal: bool
    dtype: str
    tokens: int
    batch: int
    heads: int
    kv_heads: int

    def package(self):
        return f"hd{self.head_dim}-{'causal' if self.causal else 'full'}-{self.dtype}"

    def text(self):
        return (
            f"{self.package()} b={self.batch} h={self.heads}/{self.kv_heads} "
            f"s={self.tokens}"
        )

    def shapes(self):
        """Of each role."""
        b, s, d = self.batch, self.tokens, self.head_dim
        query, key = (b, self.heads, s, d), (b, self.kv_heads, s, d)
        return {
            "query": query,
            "key": key,
            "value": key,
            "out": query,
            "lse": query[:3],
        }

    def operations(self):
        """Of both products; a causal row of n keys has (n + 1) / 2 on average."""
        keys = (self.tokens + 1) / 2 if self.causal else self.tokens
        return 4.0 * self.batch * self.heads * self.tokens * keys * self.head_dim


def make_cases(head_dims, tokens, dtypes):
    cases = []
    for dtype in dtypes:
        for head_dim in head_dims:
            for causal in (True, False):
                heads = max(1, WIDTH // head_dim)
                for s in tokens:
                    batch = max(1, ALL_TOKENS // s)
                    cases.append(Case(head_dim, causal, dtype, s, batch, heads, heads))
                if head_dim == 128 and 8192 in tokens:
                    # What cuDNN's figures are quoted for.
                    cases.append(Case(head_dim, causal, dtype, 8192, 1, 64, 8))
    return cases


def shapes_of(entry, case):
    """The shape of each operand of the package."""
    known = case.shapes()
    for operand in entry["operands"]:
        if operand["role"] not in known:
            raise gp.PackageError(f"this check has no operand {operand['role']}")
    return [known[operand["role"]] for operand in entry["operands"]]


def describe_plan(folder, cases):
    """A line a case, from the manifests alone; and whether one can run."""
    lines, count = [], 0
    for case in cases:
        path = folder / f"{case.package()}.fapkg"
        if not path.is_dir():
            lines.append(f"{case.text()}: no package {path.name}")
            continue
        _, entry = gp.read_manifest(path)
        extents = gp.bind_extents(entry, shapes_of(entry, case))
        launches = []
        for launch in entry["launches"]:
            grid, block, _, shared = gp.geometry_of(launch, extents)
            launches.append(
                f"{launch['kernel']} grid={grid} block={block} shared={shared}"
            )
        lines.append(f"{case.text()}: {'; '.join(launches)}")
        count += 1
    return lines, count


class Clocks:
    """What the GPU says of itself, by NVML; nothing where that is missing."""

    def __init__(self, path="libnvidia-ml.so.1"):
        self.handle = None
        try:
            self.library = ctypes.CDLL(path)
        except OSError:
            return
        first = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]
        handle = ctypes.c_void_p()
        index = int(first) if first.isdigit() else 0
        if self.library.nvmlInit_v2() == 0:
            if (
                self.library.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(handle))
                == 0
            ):
                self.handle = handle

    def read(self):
        if self.handle is None:
            return None
        return {
            "sm_mhz": self.value("nvmlDeviceGetClockInfo", 1),
            "memory_mhz": self.value("nvmlDeviceGetClockInfo", 2),
            "temperature_c": self.value("nvmlDeviceGetTemperature", 0),
            "power_mw": self.value("nvmlDeviceGetPowerUsage"),
        }

    def value(self, name, *arguments):
        number = ctypes.c_uint()
        function = getattr(self.library, name)
        failed = function(self.handle, *arguments, ctypes.byref(number))
        return None if failed else number.value


def launch_small(folder, cases, run=subprocess.run):
    """fa-launch on each package, checked by its oracle."""
    tool = folder / "fa-launch"
    rows = []
    if not tool.exists():
        return rows
    for name in dict.fromkeys(case.package() for case in cases):
        path = folder / f"{name}.fapkg"
        if not path.is_dir():
            continue
        command = [str(tool), str(path), "--device=cuda"]
        command += ["--dim=B=1", "--dim=Hq=4", "--dim=Hkv=2", "--dim=Sq=300"]
        command += ["--dim=Sk=333"]
        try:
            result = run(command, capture_output=True, text=True, timeout=30)
            code, output = result.returncode, result.stdout + result.stderr
        except subprocess.TimeoutExpired:
            code, output = STOPPED, "no end within 30 seconds"
        rows.append({"package": name, "exit_code": code, "output": output[-2000:]})
        print(f"fa-launch {name}: exit code {code}", flush=True)
    return rows


def check_rows(torch, case, q, k, v, out, heads=4, rows=64):
    """Sampled rows by the rule: |O - O64| over its bound, at worst."""
    u, e, f = RULE[case.dtype]
    scale = torch.tensor(1 / math.sqrt(case.head_dim), dtype=torch.float32).item()
    generator = torch.Generator().manual_seed(case.tokens + case.head_dim)
    worst = max_error = 0.0
    picked = torch.randint(case.batch * case.heads, (heads,), generator=generator)
    i = torch.randint(case.tokens, (rows,), generator=generator)
    i[0], i[1] = 0, case.tokens - 1
    i = i.to(q.device)
    for n in picked.tolist():
        b, h = divmod(n, case.heads)
        kv = h // (case.heads // case.kv_heads)
        qs, ks, vs = q[b, h, i].double(), k[b, kv].double(), v[b, kv].double()
        scores = qs @ ks.T * scale
        spread = qs.abs() @ ks.abs().T * scale
        largest = vs.abs().cummax(0).values[i] if case.causal else vs.abs().amax(0)
        hidden = torch.arange(case.tokens, device=q.device) > i[:, None]
        plain = qs.float() @ ks.float().T * scale
        if case.causal:
            scores = scores.masked_fill(hidden, -math.inf)
            plain = plain.masked_fill(hidden, -math.inf)
            spread = spread.masked_fill(hidden, 0)
        p = torch.softmax(scores, dim=-1)
        exact = p @ vs
        weights = torch.exp(plain - plain.amax(-1, keepdim=True))
        product = weights.to(q.dtype).float() @ vs.float()
        plain = (product / weights.sum(-1, keepdim=True)).to(out.dtype).double()
        bound = (
            2 * (plain - exact).abs().amax(-1, keepdim=True)
            + 2 * (u + e * spread.amax(-1, keepdim=True)) * (p @ vs.abs())
            + f * largest
        )
        error = (out[b, h, i].double() - exact).abs()
        # NaN is larger than every bound.
        share = torch.nan_to_num(error / bound, nan=math.inf)
        worst = max(worst, share.max().item())
        max_error = max(max_error, torch.nan_to_num(error, nan=math.inf).max().item())
    finite = bool(torch.isfinite(out).all().item())
    return {
        "ok": finite and worst <= 1.0,
        "max_error": max_error,
        "share_of_bound": worst,
        "finite": finite,
        "rows": heads * rows,
    }


def time_runs(torch, clocks, run, seconds):
    """Milliseconds of single runs by events, for about so many seconds."""

    def events(count):
        pairs = []
        for _ in range(count):
            pair = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
            pair[0].record()
            run()
            pair[1].record()
            pairs.append(pair)
        return pairs

    def finish(pairs):
        torch.cuda.synchronize()
        return [start.elapsed_time(end) for start, end in pairs]

    estimate = statistics.median(finish(events(5)))
    count = min(200, max(10, int(seconds * 1e3 / max(estimate, 1e-3))))
    pairs = events(count)
    state = clocks.read()  # while they run
    return finish(pairs), state


def summary(case, name, times, state):
    median = statistics.median(times)
    return {
        "backend": name,
        "runs": len(times),
        "ms": {"min": min(times), "median": median, "max": max(times)},
        "tflops": case.operations() / median / 1e9,
        "clocks": state,
    }


def torch_runs(torch, case, q, k, v):
    """A function for each back end of PyTorch."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    attention = torch.nn.functional.scaled_dot_product_attention
    options = {"enable_gqa": True} if case.heads != case.kv_heads else {}

    def make(backend):
        def run():
            with sdpa_kernel([backend]):
                return attention(q, k, v, is_causal=case.causal, **options)

        return run

    return {
        name: make(getattr(SDPBackend, name))
        for name in BACKENDS
        if hasattr(SDPBackend, name)
    }


def run_case(torch, clocks, driver, folder, case, seconds):
    """Checks and times one case; a row of the JSON."""
    row = {"case": asdict(case), "package": case.package(), "results": []}
    dtype = {"bf16": torch.bfloat16, "f16": torch.float16}[case.dtype]
    generator = torch.Generator("cuda").manual_seed(0)
    arrays = {}
    for role, shape in case.shapes().items():
        if role in ("out", "lse"):
            kind = dtype if role == "out" else torch.float32
            arrays[role] = torch.full(shape, math.nan, dtype=kind, device="cuda")
        else:
            arrays[role] = torch.randn(shape, generator=generator, device="cuda").to(
                dtype
            )
    q, k, v, out = (arrays[role] for role in ("query", "key", "value", "out"))

    package = gp.Package(driver, folder / f"{case.package()}.fapkg")
    row["image"] = package.image_kind
    shapes_of(package.entry, case)
    tensors = [
        gp.Tensor(a.data_ptr(), tuple(a.shape), a.stride(), operand["type"])
        for operand in package.entry["operands"]
        for a in [arrays[operand["role"]]]
    ]
    workspace = torch.empty(
        max(1, package.workspace_bytes(tensors)), dtype=torch.uint8, device="cuda"
    )
    launches = package.bind(tensors, workspace=workspace.data_ptr())
    stream = torch.cuda.current_stream().cuda_stream

    def ours():
        for launch in launches:
            launch(stream)

    ours()
    torch.cuda.synchronize()
    row["check"] = check_rows(torch, case, q, k, v, out)
    runs = {"fa-mlir": ours, **torch_runs(torch, case, q, k, v)}
    for name, run in runs.items():
        try:
            times, state = time_runs(torch, clocks, run, seconds)
        except RuntimeError as error:
            # A back end that does not take the case says so.
            row["results"].append({"backend": name, "error": str(error)[:300]})
            continue
        row["results"].append(summary(case, name, times, state))
    package.close()
    return row


def row_text(case, row):
    parts = []
    for result in row["results"]:
        if "error" in result:
            parts.append(f"{result['backend']} n/a")
            continue
        clock = (result["clocks"] or {}).get("sm_mhz")
        parts.append(
            f"{result['backend']} {result['tflops']:.1f} TFLOP/s "
            f"({result['ms']['median']:.3f} ms, {clock or '?'} MHz)"
        )
    check = row["check"]
    verdict = "ok" if check["ok"] else "FAILED"
    return (
        f"{case.text()}: check: {verdict} {check['share_of_bound']:.3f} of the "
        f"bound; {'; '.join(parts)}"
    )


def gpu_facts(torch):
    properties = torch.cuda.get_device_properties(0)
    return {
        "name": properties.name,
        "compute_capability": f"{properties.major}.{properties.minor}",
        "sms": properties.multi_processor_count,
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "cudnn": torch.backends.cudnn.version(),
    }


def write_json(path, document):
    part = path.with_name(path.name + ".partial")
    part.write_text(json.dumps(document, indent=2) + "\n")
    part.replace(path)


def measure(torch, folder, cases, output, budget, seconds, now=time.monotonic):
    """Runs the cases until the time is up; the document, as written."""
    start = now()
    document = {
        "format": 1,
        "measured": datetime.now(UTC).strftime("%Y-%m-%d"),
        "gpu": gpu_facts(torch),
        "launches": [],
        "cases": [],
        "left_out": [],
    }
    document["launches"] = launch_small(folder, cases)
    write_json(output, document)
    torch.zeros(1, device="cuda")  # makes the context current
    clocks, driver = Clocks(), gp.Driver()
    # A kernel that is wrong, faults or hangs when it is small is not timed.
    bad = {
        row["package"]
        for row in document["launches"]
        if row["exit_code"] in (WRONG, STOPPED)
    }
    for case in cases:
        reason = None
        if not (folder / f"{case.package()}.fapkg").is_dir():
            reason = "no package"
        elif case.package() in bad:
            reason = "fa-launch found it wrong"
        elif now() - start > budget:
            reason = "no time left"
        if reason:
            document["left_out"].append({"case": asdict(case), "reason": reason})
            continue
        try:
            row = run_case(torch, clocks, driver, folder, case, seconds)
        except (gp.PackageError, gp.DriverError, RuntimeError) as error:
            document["left_out"].append(
                {"case": asdict(case), "reason": f"failed: {error}"}
            )
            print(f"{case.text()}: failed: {error}", flush=True)
            continue
        document["cases"].append(row)
        print(row_text(case, row), flush=True)
        document["seconds"] = now() - start
        write_json(output, document)
    document["seconds"] = now() - start
    write_json(output, document)
    return document


def exit_code(document):
    wrong = any(not row["check"]["ok"] for row in document["cases"])
    codes = [row["exit_code"] for row in document["launches"]]
    failed = any(row["reason"].startswith("failed") for row in document["left_out"])
    if wrong or any(code in (WRONG, STOPPED) for code in codes):
        return 1
    return 3 if failed or any(codes) or not document["cases"] else 0


def numbers(text):
    return [int(word) for word in text.split(",")]


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="gpu-check.sh run", description=__doc__.split("\n")[0]
    )
    parser.add_argument("folder", type=Path, help="what gpu-check.sh pack made")
    parser.add_argument("--output", type=Path, help="default: FOLDER/gpu-check.json")
    parser.add_argument("--head-dims", type=numbers, default=list(HEAD_DIMS))
    parser.add_argument("--tokens", type=numbers, default=list(TOKENS))
    parser.add_argument("--types", default="bf16", help="bf16, f16 or bf16,f16")
    parser.add_argument(
        "--budget", type=float, default=300, help="seconds in which cases are begun"
    )
    parser.add_argument(
        "--seconds", type=float, default=0.2, help="of timed runs for each back end"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="print the plan; needs no GPU"
    )
    options = parser.parse_args(argv)
    dtypes = options.types.split(",")
    if unknown := set(dtypes) - set(RULE):
        parser.error(f"--types: no type {', '.join(sorted(unknown))}; bf16 or f16")
    if min(options.head_dims + options.tokens) < 1:
        parser.error("--head-dims and --tokens are numbers above 0")
    cases = make_cases(options.head_dims, options.tokens, dtypes)
    try:
        lines, count = describe_plan(options.folder, cases)
    except gp.PackageError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if count == 0:
        print(f"error: {options.folder} holds no package of the plan", file=sys.stderr)
        return 2
    if options.dry_run:
        print("\n".join(lines))
        return 0
    try:
        import torch
    except ImportError as error:
        print(f"error: PyTorch is needed: {error}", file=sys.stderr)
        return 3
    if not torch.cuda.is_available():
        print("error: PyTorch finds no GPU", file=sys.stderr)
        return 3
    output = options.output or options.folder / "gpu-check.json"
    document = measure(
        torch, options.folder, cases, output, options.budget, options.seconds
    )
    print(f"written: {output}")
    return exit_code(document)


if __name__ == "__main__":
    sys.exit(main())
