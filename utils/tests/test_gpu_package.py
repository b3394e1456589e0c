# ===- test_gpu_package.py - packages launched by ctypes -------------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
#
# utils/gpu_package.py on the fake CUDA driver (unittests/Runtime/CUDA), which
# checks every call and runs the kernels on the PTX machine. No GPU is needed.

import ctypes
import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "utils"))

import gpu_package as gp  # noqa: E402

BUILD = Path(os.environ.get("FA_BUILD_DIR", ROOT / "build"))
FAKE = BUILD / "unittests/fake-cuda/libcuda.so.1"
ONE_KEY = ROOT / "test/Runner/Inputs/one-key.fapkg"


def can_load_fake():
    """Python itself has no sanitizer, so it cannot load a library that has."""
    cache = BUILD / "CMakeCache.txt"
    lines = cache.read_text().splitlines() if cache.exists() else []
    return FAKE.exists() and "FA_SANITIZERS:STRING=" in lines


needs_fake = pytest.mark.skipif(
    not can_load_fake(), reason="no fake driver is built that Python can load"
)


class Gpu:
    """A context of the fake driver and buffers in it."""

    def __init__(self):
        self.driver = gp.Driver(str(FAKE))
        self.call = self.driver.call
        self.buffers = []
        context = ctypes.c_void_p()
        self.device = ctypes.c_int()
        self.call("cuInit", 0)
        self.call("cuDeviceGet", ctypes.byref(self.device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), self.device)
        self.call("cuCtxPushCurrent_v2", context)

    def upload(self, array):
        """Its address; a buffer has one byte at least."""
        data = np.ascontiguousarray(array)
        address = ctypes.c_uint64()
        size = max(1, data.nbytes)
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        self.buffers.append(address)
        if data.nbytes:
            source = data.ctypes.data_as(ctypes.c_void_p)
            self.call("cuMemcpyHtoD_v2", address, source, ctypes.c_size_t(data.nbytes))
        return address.value

    def download(self, address, shape, dtype):
        array = np.empty(shape, dtype)
        target = array.ctypes.data_as(ctypes.c_void_p)
        size = ctypes.c_size_t(array.nbytes)
        self.call("cuMemcpyDtoH_v2", target, ctypes.c_uint64(address), size)
        return array

    def text(self, name):
        function = getattr(self.driver.library, name)
        function.restype = ctypes.c_char_p
        return function().decode()

    def close(self):
        for address in self.buffers:
            self.call("cuMemFree_v2", address)
        self.call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))
        self.call("cuDevicePrimaryCtxRelease_v2", self.device)


@pytest.fixture
def gpu():
    gpu = Gpu()
    yield gpu
    gpu.close()
    assert gpu.text("fakeCudaMisuses") == ""
    assert gpu.text("fakeCudaLeaks") == ""


def dense(address, shape, type_):
    strides = [1]
    for extent in reversed(shape[1:]):
        strides.insert(0, strides[0] * extent)
    return gp.Tensor(address, tuple(shape), tuple(strides), type_)


@needs_fake
def test_runs_a_package(gpu):
    package = gp.Package(gpu.driver, ONE_KEY)
    assert package.image_kind == "ptx"
    rng = np.random.default_rng(0)
    q = rng.standard_normal((1, 1, 40, 1)).astype(np.float16)
    k, v = np.full((2, 1, 1, 1, 1), 0.5, np.float16)
    v[:] = 1.25
    out = gpu.upload(np.full((1, 1, 40, 1), np.nan, np.float16))
    lse = gpu.upload(np.full((1, 1, 40), np.nan, np.float32))
    tensors = [
        dense(gpu.upload(q), q.shape, "f16"),
        dense(gpu.upload(k), k.shape, "f16"),
        dense(gpu.upload(v), v.shape, "f16"),
        dense(out, q.shape, "f16"),
        dense(lse, q.shape[:3], "f32"),
    ]
    assert package.workspace_bytes(tensors) == 0
    launches = package.bind(tensors)
    assert len(launches) == 1
    launches[0]()
    assert (gpu.download(out, q.shape, np.float16) == 1.25).all()
    np.testing.assert_allclose(
        gpu.download(lse, q.shape[:3], np.float32),
        0.5 * 0.5 * q[..., 0].astype(np.float32),
        rtol=1e-6,
    )
    package.close()
    package.close()


# Waits for a box of 8 rows of 16 halves, and writes it down; with a tensor map
# of zeros, 1 in every place.
COPY = """
.version 8.6
.target sm_90a
.address_size 64
.visible .entry copy(.param .align 64 .b8 map[128], .param .u64 out,
                     .param .u32 row, .param .f32 fill)
{
  .reg .b32 %r<8>;
  .reg .b16 %h;
  .reg .f32 %f;
  .reg .b64 %rd<8>;
  .reg .pred %p<4>;
  .shared .align 128 .b8 tile[256];
  .shared .align 8 .b64 bar;
  mov.u32 %r1, %tid.x;
  ld.param.u64 %rd1, [out];
  mul.wide.u32 %rd2, %r1, 2;
  add.u64 %rd1, %rd1, %rd2;
  ld.param.u64 %rd3, [map];
  ld.param.u64 %rd4, [map+8];
  or.b64 %rd3, %rd3, %rd4;
  setp.eq.u64 %p1, %rd3, 0;
  @%p1 bra NONE;
  setp.eq.u32 %p2, %r1, 0;
  mov.u32 %r2, tile;
  @%p2 mbarrier.init.shared.b64 [bar], 1;
  @%p2 fence.proxy.async.shared::cta;
  bar.sync 0;
  mov.b64 %rd5, map;
  cvta.param.u64 %rd6, %rd5;
  ld.param.u32 %r3, [row];
  mov.u32 %r4, 0;
  @%p2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 256;
  @%p2 cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r2], [%rd6, {%r4, %r3, %r4, %r4}], [bar];
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p3, [bar], 0;
  @!%p3 bra WAIT;
  shl.b32 %r5, %r1, 1;
  add.u32 %r5, %r5, %r2;
  ld.shared.b16 %h, [%r5];
  st.global.b16 [%rd1], %h;
  ret;
NONE:
  ld.param.f32 %f, [fill];
  cvt.rn.f16.f32 %h, %f;
  st.global.b16 [%rd1], %h;
  ret;
}
"""


@pytest.fixture
def copy_package(tmp_path):
    manifest = json.loads((ONE_KEY / "manifest.json").read_text())
    entry = manifest["entries"][0]
    for operand in entry["operands"]:
        operand["shape"] = [None] * len(operand["dims"])
    entry["operands"].insert(
        3, {"role": "scale", "kind": "scalar", "type": "f32", "shape": [], "dims": []}
    )
    entry["parameters"] = [
        {
            "kind": "tensormap",
            "operand": 1,
            "box": [1, 1, 8, 16],
            "swizzle": "none",
            "type": "tensormap",
        },
        {"kind": "pointer", "operand": 4, "type": "ptr"},
        {"kind": "extent", "dim": "Sq", "type": "i32"},
        {"kind": "scalar", "operand": 3, "type": "f32"},
    ]
    entry["launches"] = [
        {
            "kernel": "copy",
            "arguments": [0, 1, 2, 3],
            "shared_bytes": "1024 * 100",
            "grid": ["16 * B", 1, 1],
            "block": ["ceildiv(D, 16) * 128 / max(1, min(D, 1))", 1, 1],
            "cluster": [16, 1, 1],
        }
    ]
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    (tmp_path / "kernel.ptx").write_text(COPY)
    return tmp_path


def copy_operands(gpu, keys, strides, shape):
    """Out is 8x16; Sq = 5 is the first row of the box."""
    b, _, s, d = shape
    out = gpu.upload(np.zeros((8, 16), np.float16))
    empty = gpu.upload(np.zeros(1, np.float16))
    key = gp.Tensor(gpu.upload(keys), shape, strides, "f16")
    return out, [
        dense(empty, (b, 1, 5, d), "f16"),
        key,
        dense(empty, (b, 1, s, d), "f16"),
        gp.Tensor(0, (), (), "f32"),
        dense(out, (b, 1, 5, d), "f16"),
        dense(empty, (b, 1, 5), "f32"),
    ]


@needs_fake
def test_tensor_maps_clusters_and_scalars(gpu, copy_package):
    package = gp.Package(gpu.driver, copy_package)
    keys = np.arange(1, 9 * 24 + 1).reshape(9, 24).astype(np.float16)
    # 9 rows of 16 of 24 columns: four from row 5 on, the rest is outside.
    out, tensors = copy_operands(gpu, keys, (7, 0, 24, 1), (1, 1, 9, 16))
    for launch in package.bind(tensors, scalars={3: 1.5}):
        launch()
    expected = np.zeros((8, 16), np.float16)
    expected[:4] = keys[5:, :16]
    assert (gpu.download(out, (8, 16), np.float16) == expected).all()
    log = gpu.text("fakeCudaLog")
    assert "swizzle 0: 16/16 9/8@48 1/1@16 1/1@16\n" in log
    assert "grid 16,1,1 block 128,1,1 cluster 16,1,1 shared 102400" in log
    # Rows of 20 bytes can have no tensor map.
    out, tensors = copy_operands(gpu, keys, (7, 0, 10, 1), (1, 1, 9, 16))
    for launch in package.bind(tensors, scalars={3: 1.5}):
        launch()
    assert (gpu.download(out, (8, 16), np.float16) == 1.5).all()
    package.close()


@needs_fake
def test_failures_name_the_call(gpu, tmp_path, copy_package):
    (copy_package / "kernel.ptx").write_text("this is no PTX")
    with pytest.raises(gp.DriverError) as failure:
        gp.Package(gpu.driver, copy_package)
    assert str(failure.value) == (
        f"{copy_package}: cuModuleLoadDataEx failed with CUDA_ERROR_INVALID_PTX "
        "(a PTX JIT compilation failed): expected a directive at module level"
    )
    with pytest.raises(gp.PackageError, match="manifest.json: .*No such file"):
        gp.Package(gpu.driver, tmp_path / "none")
    package = gp.Package(gpu.driver, ONE_KEY)
    shape = (1, 1, 40, 1)
    tensors = [dense(4096, shape, "f16")] * 4 + [dense(4096, shape[:3], "f32")]
    with pytest.raises(gp.PackageError, match="extent Sk of operand key is 40"):
        package.bind(tensors)
    with pytest.raises(gp.PackageError, match="there are 5 operands, found 4"):
        package.bind(tensors[:4])
    one = dense(4096, (1, 1, 1, 1), "f16")
    with pytest.raises(gp.PackageError, match="operand lse is of f32, found f16"):
        package.bind([tensors[0], one, one, tensors[0], dense(0, shape[:3], "f16")])
    with pytest.raises(gp.PackageError, match="operand key has dimensions"):
        package.bind([tensors[0], dense(0, (1, 1), "f16"), one, one, one])
    package.close()
    with pytest.raises(gp.DriverError, match="the CUDA driver cannot be opened"):
        gp.Driver("/nowhere/libcuda.so.1")
    with pytest.raises(gp.DriverError, match="the CUDA driver has no cuInit"):
        gp.Driver("libm.so.6").call("cuInit", 0)


def test_sizes():
    extents = {"B": 3, "Sq": 100}
    for text, value in {
        7: 7,
        "Sq": 100,
        "ceildiv(Sq, 64) * B": 6,
        "min(Sq, 7) + max(B, 5) - 1": 11,
        "(Sq - 1) % 64": 35,
        "-Sq / 64": -1,
        "-Sq % 64": -36,
    }.items():
        assert gp.evaluate(text, extents) == value
    for text in ("Sk", "Sq +", "Sq / 0", "__import__('os')", "Sq ** 2", "1.5"):
        with pytest.raises(gp.PackageError, match="is no size"):
            gp.evaluate(text, extents)


def test_what_can_have_no_tensor_map():
    def describe(pointer, shape, strides):
        return gp.describe_tensor(gp.Tensor(pointer, shape, strides, "bf16"), [1, 8, 8])

    assert describe(16, (7, 100, 40), (4000, 40, 1)) == (
        (40, 100, 7),
        [80, 8000],
        [8, 8, 1],
    )
    assert describe(16, (1, 1, 40), (3, 0, 1)) == ((40, 1, 1), [16, 16], [8, 8, 1])
    assert describe(16, (7, 100, 1), (4000, 40, 9))
    assert describe(8, (7, 100, 40), (4000, 40, 1)) is None
    assert describe(16, (7, 0, 40), (4000, 40, 1)) is None
    assert describe(16, (7, 100, 40), (4000, 40, 2)) is None
    assert describe(16, (7, 100, 40), (4000, 41, 1)) is None
    assert describe(16, (7, 100, 40), (0, 40, 1)) is None
    assert describe(16, (7, 100, 40), (-4000, 40, 1)) is None
    assert describe(16, (7, 100, 40), (1 << 39, 40, 1)) is None
    assert describe(16, (1, 1, (1 << 32) + 1), (1, 1, 1)) is None
