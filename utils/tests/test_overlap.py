# ===- test_overlap.py - what holds the softmax under the product ----------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
#
# ptxas may let the wait for P.V rise above the softmax, without a warning and
# with the same results; only the loop's figures tell. Here it rises: by hand,
# and by ptxas once the arrival behind the row sums asks for them no more
# (docs/Hopper.md). The figures are those that benchmarks/hopper.py holds to
# their limits, of the kernels that the compiler picks.

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("FA_BUILD_DIR", ROOT / "build"))
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "utils")]

import attention  # noqa: E402
import cuda_tools  # noqa: E402

COMPILER = BUILD / "bin/fa-compile"
TOOLS = ("ptxas", "cuobjdump", "nvdisasm")
pytestmark = pytest.mark.skipif(
    not COMPILER.exists() or not all(map(cuda_tools.find, TOOLS)),
    reason="needs fa-compile and " + ", ".join(TOOLS),
)

LIMITS = attention.LIMITS["sm_90a"]
SOURCE = """
func.func @attn(%q: TYPE, %k: TYPE, %v: TYPE) -> TYPE {
  %o = fa.attention %q, %k, %v : TYPE, TYPE, TYPE -> TYPE
  return %o : TYPE
}
"""


@pytest.fixture(scope="module", params=[64, 128])
def head_dim(request):
    return request.param


@pytest.fixture(scope="module")
def kernel(head_dim, tmp_path_factory):
    """The PTX of the kernel that the compiler picks."""
    folder = tmp_path_factory.mktemp(f"d{head_dim}")
    source, ptx = folder / "attn.mlir", folder / "attn.ptx"
    source.write_text(SOURCE.replace("TYPE", f"tensor<?x?x?x{head_dim}xf16>"))
    subprocess.run([COMPILER, source, "--target=sm_90a", "-o", ptx], check=True)
    return ptx.read_text()


def mask_free_loop(ptx, folder):
    """The figures of the loop for full blocks. Of its instructions that are no
    products, and of its exponentials, `covered` are issued under a product."""
    source, cubin = folder / "kernel.ptx", folder / "kernel.cubin"
    source.write_text(ptx)
    cuda_tools.run("ptxas", "-arch=sm_90a", source, "-o", cubin)
    listing = cuda_tools.run("cuobjdump", "-sass", cubin)
    (found,) = attention.load_sass_loop().analyse(listing)
    return attention.mask_free(found["loops"])


def wait_behind_the_commit(ptx):
    """The loop waits for P.V where it waits for the scores alone."""
    wait = "wgmma.wait_group.sync.aligned "
    return ptx.replace(wait + "1;", wait + "0;", 1)


def arrival_without_the_sums(ptx):
    """The address of the arrival does not follow from the row sums."""
    pattern = (
        r"\{ \.reg \.f32 x; \.reg \.b32 y; max\.f32 x, %r\d+, 0f00000000; "
        r"mov\.b32 y, x; shr\.u32 y, y, 31; add\.u32 (%r\d+), (%r\d+), y; \}"
    )
    return re.sub(pattern, r"mov.b32 \1, \2;", ptx)


def test_kernel_as_compiled_keeps_to_the_limits(kernel, head_dim, tmp_path):
    loop = mask_free_loop(kernel, tmp_path)
    assert loop["covered"] >= LIMITS.covered and loop["covered_ex2"] == 1
    assert loop["non_mma_per_mma"] <= LIMITS.per_mma[head_dim]
    assert loop["pipes"] >= LIMITS.pipes[head_dim]
    assert loop["async"] >= LIMITS.overlapped[head_dim]


@pytest.mark.parametrize("mutate", [wait_behind_the_commit, arrival_without_the_sums])
def test_wait_above_the_softmax_shows_in_the_figures(kernel, mutate, tmp_path):
    mutant = mutate(kernel)
    assert mutant != kernel
    loop = mask_free_loop(mutant, tmp_path)
    assert loop["covered"] < LIMITS.covered and loop["covered_ex2"] < 1
