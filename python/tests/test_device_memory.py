# ===- test_device_memory.py - arrays on a GPU ---------------------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""On the fake CUDA driver, in whose stead FA_CUDA_DRIVER must stand before fa asks
for devices: CTest sets it for this file alone."""

import os
import sys
import types

import numpy as np
import pytest

if "fake-cuda" not in os.environ.get("FA_CUDA_DRIVER", ""):
    pytest.skip("FA_CUDA_DRIVER names no fake driver", allow_module_level=True)

import fa  # noqa: E402
import fake_gpu  # noqa: E402
from fake_gpu import Tensor  # noqa: E402
from oracle import random  # noqa: E402

SHAPES = {"q": (1, 2, 20, 32), "k": (1, 1, 33, 32), "v": (1, 1, 33, 32)}
COPIES = ("cuMemAlloc", "cuMemcpy", "cuMemset", "cuMemFree")


@pytest.fixture(scope="module")
def gpus():
    return fake_gpu.Machine(2)


@pytest.fixture
def host():
    return {
        name: random(s, np.float16, n) for n, (name, s) in enumerate(SHAPES.items())
    }


def upload(gpus, arrays, ordinal=0):
    return {name: gpus.upload(array, ordinal) for name, array in arrays.items()}


def results(gpus, ordinal=0):
    """Places for out and lse, full of something else."""
    out = gpus.upload(np.full(SHAPES["q"], 7, np.float16), ordinal)
    return out, gpus.upload(np.full(SHAPES["q"][:3], 7, np.float32), ordinal)


def test_devices(gpus):
    devices = {device.name: device for device in fa.devices()}
    for name in ("cuda", "cuda:1"):
        assert devices[name].available and devices[name].default_target == "sm_90a"


def test_host_arrays(gpus, host):
    """Are copied there and back, on a GPU as on the PTX machine."""
    expected = fa.attention(**host, device="emulator", target="sm_90a")
    for device in ("cuda", "cuda:0", "cuda:1"):
        gpus.said()
        assert np.array_equal(fa.attention(**host, device=device), expected)
        assert "cuMemcpyDtoH" in gpus.said()


CLAUSES = {
    "plain": {},
    "causal": {"causal": "bottom_right", "window": (9, -1)},
    "lengths": {"kv_lengths": np.array([17], np.int32)},
    "mask": {"mask": np.arange(33) % 3 > 0},
    "bias": {"bias": np.linspace(-2, 2, 33, dtype=np.float32), "scale": 0.3},
}


@pytest.mark.parametrize("ordinal", [0, 1])
@pytest.mark.parametrize("name", CLAUSES)
def test_where_they_are(gpus, host, name, ordinal):
    """Without a copy, with the numbers of the PTX machine."""
    clauses = CLAUSES[name]
    expected = fa.attention(
        **host, **clauses, return_lse=True, device="emulator", target="sm_90a"
    )
    arrays = upload(gpus, host, ordinal)
    there = {
        name: gpus.upload(value, ordinal) if isinstance(value, np.ndarray) else value
        for name, value in clauses.items()
    }
    places = results(gpus, ordinal)
    gpus.said()
    made = fa.attention(**arrays, **there, return_lse=True, out=places)
    said = gpus.said()
    assert made[0] is places[0] and made[1] is places[1]
    assert not [call for call in COPIES if call in said], said
    # Nobody can say which stream such an array is used in: the default one, whose
    # end is waited for.
    assert arrays["q"].streams == [1] and "cuEventSynchronize" in said
    for place, wanted in zip(places, expected):
        assert np.array_equal(gpus.download(place), wanted, equal_nan=True)


def test_strides(gpus, host):
    """Backwards and in steps, also where results go."""
    expected = fa.attention(**host, device="emulator", target="sm_90a")
    arrays = upload(gpus, host)
    wide = np.full((1, 1, 66, 32), np.nan, np.float16)
    wide[:, :, ::-2] = host["k"]
    arrays["k"] = gpus.upload(wide).view(SHAPES["k"], (0, 0, -64, 1), 65 * 32)
    place = gpus.upload(np.full((1, 20, 2, 32), 7, np.float16))
    out = place.view(SHAPES["q"], (1280, 32, 64, 1))
    fa.attention(**arrays, out=out)
    assert np.array_equal(gpus.download(place).swapaxes(1, 2), expected)


@pytest.fixture
def torch(gpus, monkeypatch):
    """As much of PyTorch as fa asks for: tensors on a GPU, and a current stream."""

    class StubTensor(Tensor):
        def is_neg(self):
            return False

        device = property(lambda self: f"cuda:{self.ordinal}")

    def empty(shape, dtype, device):
        ordinal = int(device.removeprefix("cuda:"))
        address = gpus.allocate(int(np.prod(shape)) * dtype.itemsize, ordinal)
        return StubTensor(address, shape, dtype, ordinal)

    streams = {f"cuda:{n}": gpus.stream(n) for n in range(2)}
    stub = types.ModuleType("torch")
    stub.Tensor, stub.empty = StubTensor, empty
    stub.float16, stub.float32 = np.dtype(np.float16), np.dtype(np.float32)
    stub.cuda = types.SimpleNamespace(
        current_stream=lambda device: types.SimpleNamespace(cuda_stream=streams[device])
    )
    stub.streams = streams
    monkeypatch.setitem(sys.modules, "torch", stub)
    return stub


@pytest.mark.parametrize("ordinal", [0, 1])
def test_torch_in_its_stream(gpus, host, torch, ordinal):
    """On the device of the tensors, in the current stream, without waiting; results
    are tensors there."""
    expected = fa.attention(**host, return_lse=True, device="emulator", target="sm_90a")
    arrays = upload(gpus, host, ordinal)
    for tensor in arrays.values():
        tensor.__class__ = torch.Tensor
    fa.attention(**arrays, return_lse=True)  # compiled and loaded
    gpus.said()
    made = fa.attention(**arrays, return_lse=True)
    said = gpus.said()
    number = (torch.streams[f"cuda:{ordinal}"] & 0xFFFFFFFF) // 16
    assert f" in stream{number}\n" in said
    assert "Synchronize" not in said and "cuModuleLoad" not in said
    # The program's own two allocations alone.
    assert said.count("cuMemAlloc") == 2 and "cuMemcpy" not in said
    assert arrays["q"].streams == [-1, -1]
    for tensor, wanted in zip(made, expected):
        assert isinstance(tensor, torch.Tensor) and tensor.ordinal == ordinal
        assert np.array_equal(gpus.download(tensor), wanted)


def test_mistakes(gpus, host):
    arrays, places = upload(gpus, host), results(gpus)
    long = gpus.upload(np.array([17], np.int64))
    scale = gpus.upload(np.array([0.5], np.float32))
    nowhere = Tensor(4096, SHAPES["v"], np.float16, 0)
    for change, error, words in (
        (
            {"k": host["k"]},
            ValueError,
            "k lies in host memory and q on cuda; the arrays of a call lie in one place",
        ),
        (
            {"v": gpus.upload(host["v"], 1)},
            ValueError,
            "v lies on cuda:1 and q on cuda; the arrays of a call lie in one place",
        ),
        (
            {"mask": np.ones(33, bool)},
            ValueError,
            "mask lies in host memory and q on cuda",
        ),
        ({"kv_lengths": [17]}, ValueError, "kv_lengths lies in host memory and q on"),
        (
            {"kv_lengths": long},
            TypeError,
            "kv_lengths has dtype int64; accepted on cuda is int32",
        ),
        (
            {"scale": scale},
            fa.DeviceError,
            "scale lies on cuda; accepted are arrays in",
        ),
        (
            {"out": np.empty(SHAPES["q"], np.float16)},
            ValueError,
            "out lies in host memory and q on cuda",
        ),
        (
            {"out": results(gpus, 1)[0]},
            ValueError,
            "out lies on cuda:1 and q on cuda",
        ),
        (
            {"out": None},
            ValueError,
            "out is None, and q lies on cuda and is no torch tensor; accepted is an",
        ),
        (
            {"device": "emulator"},
            ValueError,
            "device is 'emulator', and q lies on cuda; accepted are None, 'auto' and",
        ),
        ({"device": "cuda:1"}, ValueError, "device is 'cuda:1', and q lies on cuda;"),
        ({"device": "cuda:2"}, ValueError, "device is 'cuda:2'; accepted are 'auto', "),
        ({"v": nowhere}, ValueError, "v: value is at 0x1000, which is in no memory"),
        ({"out": arrays["q"]}, ValueError, "overlaps"),
    ):
        given = {**arrays, "out": places[0], **change}
        with pytest.raises(error) as raised:
            fa.attention(**given)
        assert words in str(raised.value), raised.value
    with pytest.raises(fa.DeviceError, match="q lies on cuda; the oracle takes arrays"):
        fa.reference.attention(**arrays)
    with pytest.raises(
        fa.DeviceError, match="lies on cuda; accepted are arrays in host"
    ):
        fa.merge([places])


def test_nothing_was_misused(gpus):
    assert gpus.text("fakeCudaMisuses") == ""
