# ===- gpu_package.py - launch a package in somebody's CUDA context --------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""Launches the kernels of a package through libcuda, by ctypes alone.

For programs that have a CUDA context and tensors in it already, as PyTorch has:
the same kernels in the same process beside other people's. What fa-launch does
with a manifest is done here once more, in the words of fa/Support/Manifest.h.

    driver = Driver()
    package = Package(driver, "attention.fapkg")
    launches = package.bind([Tensor(pointer, shape, strides, "bf16"), ...])
    for launch in launches:
        launch(stream)
"""

import ast
import ctypes
import json
import operator
import os
import struct
from dataclasses import dataclass
from pathlib import Path

TENSOR_MAP_BYTES = 128
# CUtensorMapDataType, and bytes of an element.
ELEMENTS = {
    "f64": (8, 8),
    "f32": (7, 4),
    "f16": (6, 2),
    "bf16": (9, 2),
    "f8E4M3FN": (0, 1),
    "f8E5M2": (0, 1),
    "i1": (0, 1),
    "i8": (0, 1),
    "i16": (1, 2),
    "i32": (3, 4),
    "i64": (5, 8),
}
SWIZZLES = {"none": 0, "32B": 1, "64B": 2, "128B": 3}
SCALARS = {"f32": "f", "f64": "d", "f16": "e", "i32": "i", "i64": "q"}


class PackageError(Exception):
    """A package, or what it is given, does not fit."""


class DriverError(Exception):
    """A call of the driver failed; the message names it and its result."""


class ClusterAttribute(ctypes.Structure):
    """CUlaunchAttribute of the kind "cluster dimension"."""

    _fields_ = [
        ("id", ctypes.c_int),
        ("padding", ctypes.c_int),
        ("dims", ctypes.c_uint * 3),
        ("rest", ctypes.c_char * 52),
    ]


class LaunchConfig(ctypes.Structure):
    """CUlaunchConfig."""

    _fields_ = [
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared_bytes", ctypes.c_uint),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.POINTER(ClusterAttribute)),
        ("attribute_count", ctypes.c_uint),
    ]


class Driver:
    """libcuda, opened at run time. FA_CUDA_DRIVER names another file."""

    def __init__(self, path=None):
        path = path or os.environ.get("FA_CUDA_DRIVER") or "libcuda.so.1"
        try:
            self.library = ctypes.CDLL(path)
        except OSError as error:
            raise DriverError(f"the CUDA driver cannot be opened: {error}") from error

    def describe(self, result):
        name, text = ctypes.c_char_p(), ctypes.c_char_p()
        self.library.cuGetErrorName(result, ctypes.byref(name))
        self.library.cuGetErrorString(result, ctypes.byref(text))
        if not name.value:
            return f"the unknown result {result}"
        return f"{name.value.decode()} ({(text.value or b'').decode()})"

    def call(self, name, *arguments):
        """Calls a function by the name of its symbol."""
        try:
            function = getattr(self.library, name)
        except AttributeError as error:
            raise DriverError(f"the CUDA driver has no {name}") from error
        if result := function(*arguments):
            raise DriverError(f"{name} failed with {self.describe(result)}")


@dataclass
class Tensor:
    """An operand in device memory; strides in elements."""

    pointer: int
    shape: tuple
    strides: tuple
    type: str


def truncated(a, b):
    """a / b as C divides."""
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: truncated,
    ast.Mod: lambda a, b: a - b * truncated(a, b),
}
FUNCTIONS = {"ceildiv": lambda a, b: -(-a // b), "min": min, "max": max}


def evaluate(text, extents):
    """A whole number, or the text of an expression over the extents."""

    def value(node):
        match node:
            case ast.Constant(value=int(number)):
                return number
            case ast.Name(id=name) if name in extents:
                return extents[name]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -value(operand)
            case ast.BinOp(op=op, left=left, right=right) if type(op) in OPERATORS:
                return OPERATORS[type(op)](value(left), value(right))
            case ast.Call(func=ast.Name(id=name), args=[a, b]) if name in FUNCTIONS:
                return FUNCTIONS[name](value(a), value(b))
        raise PackageError(f"'{text}' is no size over {', '.join(sorted(extents))}")

    try:
        return value(ast.parse(str(text), mode="eval").body)
    except (SyntaxError, ZeroDivisionError) as error:
        raise PackageError(f"'{text}' is no size: {error}") from error


def describe_tensor(tensor, box):
    """Extents, strides in bytes and the box, innermost first, as the driver takes
    them; None where the tensor can have no tensor map."""
    size = ELEMENTS[tensor.type][1]
    if tensor.pointer % 16 or tensor.strides[-1] != 1 < tensor.shape[-1]:
        return None
    if not all(1 <= extent <= 1 << 32 for extent in tensor.shape):
        return None
    # Nobody steps along a dimension of one.
    strides = [
        16 if extent == 1 else stride * size
        for extent, stride in zip(tensor.shape[:-1], tensor.strides[:-1])
    ]
    if not all(0 < stride < 1 << 40 and stride % 16 == 0 for stride in strides):
        return None
    return tensor.shape[::-1], strides[::-1], box[::-1]


class Launch:
    """A kernel with its geometry and arguments; called with a stream's handle."""

    def __init__(self, driver, function, geometry, arguments):
        self.driver, self.function = driver, function
        # The arrays behind the pointers live as long as this object.
        self.arguments = arguments
        self.pointers = (ctypes.c_void_p * max(1, len(arguments)))(
            *(ctypes.addressof(argument) for argument in arguments)
        )
        grid, block, cluster, shared = geometry
        self.config = LaunchConfig((*grid,), (*block,), shared)
        if cluster != [1, 1, 1]:
            self.cluster = ClusterAttribute(4, 0, (*cluster,))
            self.config.attributes = ctypes.pointer(self.cluster)
            self.config.attribute_count = 1

    def __call__(self, stream=None):
        self.config.stream = stream
        self.driver.call(
            "cuLaunchKernelEx",
            ctypes.byref(self.config),
            self.function,
            self.pointers,
            None,
        )


class Package:
    """A package whose module is loaded in the current context."""

    def __init__(self, driver, folder):
        self.driver, self.folder = driver, Path(folder)
        self.manifest, self.entry = read_manifest(self.folder)
        cubin = self.folder / "kernel.cubin"
        self.image_kind = "cubin" if cubin.exists() else "ptx"
        path = cubin if cubin.exists() else self.folder / self.manifest["ptx"]
        self.module = ctypes.c_void_p()
        # Text ends with a zero byte.
        self.load(path.read_bytes() + b"\0")

    def load(self, image):
        log = ctypes.create_string_buffer(8192)
        options = (ctypes.c_int * 2)(5, 6)  # the error log and its size
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), len(log))
        try:
            self.driver.call(
                "cuModuleLoadDataEx",
                ctypes.byref(self.module),
                image,
                2,
                options,
                values,
            )
        except DriverError as error:
            said = log.value.decode(errors="replace").strip()
            raise DriverError(f"{self.folder}: {error}: {said}") from error

    def close(self):
        if self.module:
            self.driver.call("cuModuleUnload", self.module)
            self.module = ctypes.c_void_p()

    def workspace_bytes(self, tensors):
        """Of device memory that bind() is given as `workspace`."""
        return evaluate(self.entry["workspace_bytes"], self.extents(tensors))

    def extents(self, tensors):
        return bind_extents(self.entry, [tensor.shape for tensor in tensors])

    def bind(self, tensors, scalars=None, workspace=0):
        """The launches on these operands, inputs first. `scalars` are numbers by
        the index of their operand, `workspace` is an address."""
        extents = self.extents(tensors)
        for operand, tensor in zip(self.entry["operands"], tensors):
            if operand["kind"] != "scalar" and operand["type"] != tensor.type:
                raise PackageError(
                    f"operand {operand['role']} is of {operand['type']}, "
                    f"found {tensor.type}"
                )
        values = [
            self.parameter(parameter, tensors, extents, scalars or {}, workspace)
            for parameter in self.entry["parameters"]
        ]
        launches = []
        for launch in self.entry["launches"]:
            geometry = geometry_of(launch, extents)
            if 0 in geometry[0]:
                continue
            function = self.function(launch["kernel"], geometry)
            arguments = [values[index] for index in launch["arguments"]]
            launches.append(Launch(self.driver, function, geometry, arguments))
        return launches

    def function(self, name, geometry):
        _, _, cluster, shared = geometry
        function = ctypes.c_void_p()
        self.driver.call(
            "cuModuleGetFunction", ctypes.byref(function), self.module, name.encode()
        )
        if shared:
            self.driver.call("cuFuncSetAttribute", function, 8, shared)
        if cluster[0] * cluster[1] * cluster[2] > 8:
            self.driver.call("cuFuncSetAttribute", function, 14, 1)
        return function

    def parameter(self, parameter, tensors, extents, scalars, workspace):
        """The value of a parameter as a ctypes array of its bytes."""
        kind, type_ = parameter["kind"], parameter["type"]
        index = parameter.get("operand")
        match kind:
            case "pointer":
                return packed("Q", tensors[index].pointer)
            case "workspace":
                return packed("Q", workspace)
            case "trace":
                # Nobody asks for a row; the buffer is not touched.
                return packed("Q", 0) if type_ == "ptr" else number(type_, -1)
            case "scalar":
                return number(type_, scalars[index])
            case "stride":
                return number(type_, tensors[index].strides[parameter["dim"]])
            case "extent":
                dim = parameter["dim"]
                value = (
                    extents[dim] if isinstance(dim, str) else tensors[index].shape[dim]
                )
                return number(type_, value)
            case "tensormap":
                return self.tensor_map(parameter, tensors[index])
        raise PackageError(f"a parameter is of the unknown kind '{kind}'")

    def tensor_map(self, parameter, tensor):
        # The driver wants 64 bytes of alignment, which ctypes does not give.
        memory = (ctypes.c_ubyte * (2 * TENSOR_MAP_BYTES))()
        offset = -ctypes.addressof(memory) % TENSOR_MAP_BYTES
        map_ = (ctypes.c_ubyte * TENSOR_MAP_BYTES).from_buffer(memory, offset)
        described = describe_tensor(tensor, parameter["box"])
        if described is None:
            return map_
        extents, strides, box = described
        rank = len(extents)
        self.driver.call(
            "cuTensorMapEncodeTiled",
            map_,
            ELEMENTS[tensor.type][0],
            rank,
            ctypes.c_void_p(tensor.pointer),
            (ctypes.c_uint64 * rank)(*extents),
            (ctypes.c_uint64 * rank)(*strides),
            (ctypes.c_uint32 * rank)(*box),
            (ctypes.c_uint32 * rank)(*[1] * rank),
            0,  # no interleave
            SWIZZLES[parameter["swizzle"]],
            2,  # L2 lines of 128 bytes
            0,  # zeros outside
        )
        return map_


def packed(code, value):
    data = struct.pack("<" + code, value)
    return (ctypes.c_ubyte * len(data))(*data)


def number(type_, value):
    if type_ not in SCALARS:
        raise PackageError(f"no number of type {type_} can be passed from here")
    return packed(SCALARS[type_], value)


def read_manifest(folder):
    """The manifest and its only entry."""
    path = Path(folder) / "manifest.json"
    try:
        manifest = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise PackageError(f"{path}: {error}") from error
    if manifest.get("format") != 1 or len(manifest.get("entries", [])) != 1:
        raise PackageError(f"{path}: no manifest of format 1 with one entry")
    return manifest, manifest["entries"][0]


def bind_extents(entry, shapes):
    """Extents by name from the shape of every operand."""
    operands = entry["operands"]
    if len(shapes) != len(operands):
        raise PackageError(f"there are {len(operands)} operands, found {len(shapes)}")
    extents = {}
    for operand, shape in zip(operands, shapes):
        uses = [operand["dims"], *(use["dims"] for use in operand.get("also", []))]
        for dims in uses:
            if len(dims) != len(shape):
                raise PackageError(
                    f"operand {operand['role']} has dimensions {dims}, "
                    f"found shape {list(shape)}"
                )
            for dim, known, extent in zip(dims, operand["shape"], shape):
                if known not in (None, extent) or (
                    dim != "1" and extents.setdefault(dim, extent) != extent
                ):
                    raise PackageError(
                        f"extent {dim} of operand {operand['role']} is {extent}, "
                        f"where {known or extents.get(dim)} is known"
                    )
    return extents


def geometry_of(launch, extents):
    """Grid, block, cluster and bytes of shared memory."""
    grid, block, cluster = (
        [evaluate(text, extents) for text in launch.get(key, [1, 1, 1])]
        for key in ("grid", "block", "cluster")
    )
    return grid, block, cluster, evaluate(launch["shared_bytes"], extents)
