# ===- test_sass_loop.py - the figures of sass-loop.py ---------------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
#
# One listing that nvcc made (data/small-loop.cu), its figures counted by hand,
# and a few lines of listing for what that one does not hold.

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

UTILS = Path(__file__).resolve().parents[1]
DATA = Path(__file__).resolve().parent / "data"
sys.path.insert(0, str(UTILS))
spec = importlib.util.spec_from_file_location("sass_loop", UTILS / "sass-loop.py")
sass_loop = importlib.util.module_from_spec(spec)
sys.modules["sass_loop"] = sass_loop
spec.loader.exec_module(sass_loop)


def run(*args, **env):
    return subprocess.run(
        [sys.executable, str(UTILS / "sass-loop.py"), *map(str, args)],
        capture_output=True,
        text=True,
        env=dict(os.environ, **env),
    )


def listing(*lines, arch=80):
    """A listing whose instructions lie 16 bytes apart."""
    body = [f"  /*{16 * n:04x}*/  {line} ;" for n, line in enumerate(lines)]
    return "\n".join([f"arch = sm_{arch}", "Function : k", *body])


def loops(*lines, arch=80):
    (kernel,) = sass_loop.analyse(listing(*lines, arch=arch))
    return kernel["loops"]


def test_listing_of_nvcc(tmp_path):
    out = tmp_path / "figures.json"
    result = run(DATA / "small-loop.sass", f"--json={out}")
    assert result.returncode == 0, result.stderr
    (kernel,) = json.loads(out.read_text())["kernels"]
    assert (kernel["kernel"], kernel["arch"]) == ("small_loop", "sm_80")
    (loop,) = kernel["loops"]  # the second loop has no product
    assert loop["at"] == "0x230"
    assert loop["mma"] == {"HMMA.16816": 2}
    assert loop["instructions"] == 50
    assert loop["conditional"] == 27  # the store that i == rare guards
    assert loop["non_mma_per_mma"] == (50 - 2) / 2
    assert loop["kinds"]["ex2"] == 1 and loop["kinds"]["minmax"] == 2
    # Two HMMA of 2048 over 256 a clock; one MUFU; FADD and FFMA and two IMADs.
    cycles = loop["cycles"]
    assert (cycles["tensor"], cycles["mufu"], cycles["fma"]) == (16, 8, 8)
    # One ldmatrix.x4 of 512 bytes and two 16-byte stores for each lane.
    assert cycles["smem"] == (512 + 2 * 512) / 32
    assert loop["bound_by"] == "issue" and loop["pipes"] == 16 / 50


def test_inner_loop_with_products_is_the_main_loop():
    (loop,) = loops(
        "MOV R0, RZ",
        "FADD R1, R1, R1",  # outer loop
        "HMMA.16816.F32 R4, R8, R2, R4",  # inner loop
        "@P0 BRA 0x20",
        "@P1 BRA 0x10",
        "EXIT",
    )
    assert loop["at"] == "0x20" and loop["instructions"] == 2


def test_polling_loop_is_left_out():
    (loop,) = loops(
        "HMMA.16816.F32 R4, R8, R2, R4",
        "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R1], R2",
        "@!P0 BRA 0x10",
        "@P1 BRA 0x0",
        "EXIT",
    )
    assert loop["spin"] == 2 and loop["instructions"] == 2


def test_warpgroup_products_cover_what_runs_under_them():
    (loop,) = loops(
        "HGMMA.64x64x16.F32 R24, gdesc[UR8], R24, gsb0",
        "MUFU.EX2 R1, R1",
        "WARPGROUP.DEPBAR.LE gsb0, 0x0",
        "MUFU.EX2 R2, R2",
        "@P1 BRA 0x0",
        "EXIT",
        arch=90,
    )
    assert loop["mma_units"] == 64 * 64 * 16 / 4 / 2048
    assert loop["covered"] == 1 / 4 and loop["covered_ex2"] == 1 / 2
    # 16384 multiply-adds over 512; one exponential is covered, one exposed.
    assert loop["async"] == 32 / (max(32, 8) + max(8, 3))


def test_moves_in_disguise_and_types():
    make = sass_loop.Instruction
    assert make(0, "", "IMAD.MOV.U32 R1, RZ, RZ, R2").kind == "move"
    assert make(0, "", "IMAD R1, R3, R4, R2").kind == "integer"
    assert make(0, "", "HADD2.F32 R1, -RZ, R2.H0_H0").kind == "convert"
    assert make(0, "", "UIADD3 UR4, UR4, 0x1, URZ").kind == "uniform"
    assert make(0, "", "HMMA.1688.F32.TF32 R4, R8, R2, R4").rate_factor() == 0.5
    assert make(0, "", "HMMA.1688.F32 R4, R8, R2, R4").multiply_adds() == 1024
    assert make(0, "", "LDSM.16.MT88.4 R4, [R5]").shared_bytes() == 512


def test_spills_come_from_the_log():
    log = """ptxas info    : Compiling entry function 'k' for 'sm_80'
ptxas info    : Function properties for k
    72 bytes stack frame, 100 bytes spill stores, 84 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers"""
    (kernel,) = sass_loop.analyse(listing("EXIT"), log=log)
    assert (kernel["spill_stores"], kernel["registers"]) == (100, 255)


def test_missing_file_and_missing_tool(tmp_path):
    assert run(tmp_path / "none.sass").returncode == 2
    (tmp_path / "k.cubin").write_bytes(b"")
    found = run(tmp_path / "k.cubin", PATH="", CUDA_HOME=str(tmp_path))
    assert found.returncode == 3 and found.stderr.startswith("error: cuobjdump ")


@pytest.mark.skipif(
    not all(sass_loop.cuda_tools.find(t) for t in ("ptxas", "cuobjdump", "nvdisasm")),
    reason="needs ptxas, cuobjdump and nvdisasm",
)
def test_ptx_is_assembled(tmp_path):
    ptx = tmp_path / "k.ptx"
    ptx.write_text(
        ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n"
    )
    result = run(ptx)
    assert result.returncode == 0, result.stderr
    assert "k (sm_80)" in result.stdout and "spill_stores 0" in result.stdout
