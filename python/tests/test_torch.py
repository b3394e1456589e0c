# ===- test_torch.py - the operator, beside PyTorch's own attention ------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import fa  # noqa: E402
import fa.torch  # noqa: E402
import oracle  # noqa: E402

TYPES = [torch.float16, torch.bfloat16, torch.float32]


def tensors(Hq=2, Hkv=2, Sq=20, Sk=33, D=32, dtype=torch.float16, B=1):
    torch.manual_seed(1)
    shapes = [(B, Hq, Sq, D), (B, Hkv, Sk, D), (B, Hkv, Sk, D)]
    return [torch.randn(shape).to(dtype) for shape in shapes]


def to_numpy(tensor):
    return tensor.double().numpy()


# sizes, arguments of ours, of scaled_dot_product_attention
AGREEMENT = {
    "plain": ({}, {}, {}),
    "scale": ({}, {"scale": 0.3}, {"scale": 0.3}),
    "causal": ({"Sk": 20}, {"causal": True}, {"is_causal": True}),
    # PyTorch aligns the causal mask at the top left.
    "causal, longer keys": ({}, {"causal": "top_left"}, {"is_causal": True}),
    "mask": (
        {},
        {"mask": torch.arange(33) % 3 > 0},
        {"attn_mask": (torch.arange(33) % 3 > 0).expand(20, 33)},
    ),
    "mask of a row": (
        {},
        {"mask": torch.eye(20, 33, dtype=torch.bool)},
        {"attn_mask": torch.eye(20, 33, dtype=torch.bool)},
    ),
    "grouped heads": ({"Hq": 4}, {}, {"enable_gqa": True}),
    "one query": ({"Sq": 1}, {}, {}),
    "batches": ({"B": 3}, {}, {}),
}


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("name", AGREEMENT)
def test_agreement(name, dtype):
    """PyTorch's attention in float64, from the same stored inputs."""
    sizes, ours, theirs = AGREEMENT[name]
    q, k, v = tensors(**sizes, dtype=dtype)
    out = fa.attention(q, k, v, **ours)
    assert isinstance(out, torch.Tensor) and out.dtype == dtype
    wide = [x.double() for x in (q, k, v)]
    expected = torch.nn.functional.scaled_dot_product_attention(*wide, **theirs)
    _, bounds = fa.reference.attention(q, k, v, return_bounds=True, **ours)
    oracle.check_near(to_numpy(out), expected.numpy(), bounds.numpy())
    assert torch.equal(fa.torch.attention(q, k, v, **ours), out)


def test_tensors_are_not_copied():
    from fa import _dlpack

    for dtype in TYPES:
        tensor = torch.zeros(3, 4, dtype=dtype).t()
        view = _dlpack.to_numpy(tensor, "q")
        view[1, 2] = 5
        assert tensor[1, 2] == 5


def test_out():
    q, k, v = tensors()
    out = torch.full((1, 20, 2, 32), 7.0, dtype=torch.float32).transpose(1, 2)
    assert fa.attention(q, k, v, out=out) is out
    assert torch.equal(out, fa.attention(q, k, v, out_dtype=torch.float32))


def test_mixed_with_numpy():
    q, k, v = tensors()
    out = fa.attention(q, k.numpy(), v.numpy())
    assert isinstance(out, torch.Tensor)
    assert isinstance(fa.attention(q.numpy(), k, v), np.ndarray)
    assert torch.equal(out, fa.attention(q, k, v))


def test_lengths_and_lse():
    q, k, v = tensors(B=2)
    lengths = torch.tensor([5, 33])
    out, lse = fa.attention(q, k, v, kv_lengths=lengths, return_lse=True)
    assert lse.dtype == torch.float32 and lse.shape == (2, 2, 20)
    pair = fa.torch.attention(q, k, v, kv_lengths=lengths, return_lse=True)
    assert torch.equal(pair[0], out) and torch.equal(pair[1], lse)


def test_gradient_is_refused():
    q, k, v = tensors()
    q.requires_grad_()
    with pytest.raises(ValueError, match="q gives no DLPack capsule"):
        fa.attention(q, k, v)
    out = fa.torch.attention(q, k, v)
    with pytest.raises(RuntimeError):
        out.sum().backward()


def test_meta_tensors():
    q, k, v = (x.to("meta") for x in tensors(Hq=4))
    out, lse = torch.ops.fa.attention(q, k, v[..., :8], out_dtype=torch.float32)
    assert out.shape == (1, 4, 20, 8) and out.dtype == torch.float32
    assert lse.shape == (1, 4, 20) and lse.dtype == torch.float32
    bshd = [x.transpose(1, 2) for x in (q, k, v)]
    out, lse = torch.ops.fa.attention(*bshd, layout="bshd")
    assert out.shape == (1, 20, 4, 32) and lse.shape == (1, 4, 20)


def test_opcheck():
    q, k, v = tensors()
    arguments = {"causal": "bottom_right", "scale": 0.5}
    checks = ("test_schema", "test_faketensor", "test_autograd_registration")
    torch.library.opcheck(
        torch.ops.fa.attention, (q, k, v), arguments, test_utils=checks
    )


class Layer(torch.nn.Module):
    def forward(self, q, k, v):
        return fa.torch.attention(q * 2, k, v, causal="bottom_right") + 1


def calls(graph):
    operator = torch.ops.fa.attention
    return [n for n in graph.nodes if n.target in (operator, operator.default)]


def test_export_keeps_it_whole():
    q, k, v = tensors()
    length = torch.export.Dim("length", min=2, max=4096)
    exported = torch.export.export(
        Layer(),
        (q, k, v),
        dynamic_shapes={"q": None, "k": {2: length}, "v": {2: length}},
    )
    assert len(calls(exported.graph)) == 1
    for keys in (33, 7):
        cut = q, k[:, :, :keys].contiguous(), v[:, :, :keys].contiguous()
        assert torch.equal(exported.module()(*cut), Layer()(*cut))


def test_compile_keeps_it_whole():
    graphs = []

    def backend(module, inputs):
        graphs.append(module.graph)
        return module.forward

    q, k, v = tensors()
    compiled = torch.compile(Layer(), backend=backend, fullgraph=True)
    assert torch.equal(compiled(q, k, v), Layer()(q, k, v))
    assert len(graphs) == 1 and len(calls(graphs[0])) == 1


def test_mistakes():
    q, k, v = tensors()
    with pytest.raises(ValueError, match="causal is True, which is ambiguous"):
        fa.torch.attention(q, k, v, causal=True)
    wide = torch.zeros(1, 1, 4, 200, dtype=torch.float16)
    with pytest.raises(ValueError, match="q: head dim .*not supported yet"):
        fa.torch.attention(wide, wide, wide)
    with pytest.raises(TypeError, match="k has dtype float32"):
        fa.attention(q, k.float(), v)
