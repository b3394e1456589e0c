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


BIAS = torch.linspace(-2, 2, 20 * 33).reshape(20, 33)
EVERY_THIRD = torch.arange(33) % 3 > 0
DIAGONAL = torch.eye(20, 33, dtype=torch.bool)
# sizes, arguments of ours, of scaled_dot_product_attention
AGREEMENT = {
    "plain": ({}, {}, {}),
    "scale": ({}, {"scale": 0.3}, {"scale": 0.3}),
    "causal": ({"Sk": 20}, {"causal": True}, {"is_causal": True}),
    # PyTorch aligns the causal mask at the top left.
    "causal, longer keys": ({}, {"causal": "top_left"}, {"is_causal": True}),
    "mask": ({}, {"mask": EVERY_THIRD}, {"attn_mask": EVERY_THIRD.expand(20, 33)}),
    "mask of a row": ({}, {"mask": DIAGONAL}, {"attn_mask": DIAGONAL}),
    "bias": ({}, {"bias": BIAS}, {"attn_mask": BIAS.double()}),
    "bias of the keys": ({}, {"bias": BIAS[0]}, {"attn_mask": BIAS[:1].double()}),
    "grouped heads": ({"Hq": 4}, {}, {"enable_gqa": True}),
    "one query": ({"Sq": 1}, {}, {}),
    "batches": ({"B": 3}, {}, {}),
}


def check_agreement(q, k, v, ours, expected, expected_lse=None):
    """fa.attention and the operator, with the arguments `ours`, beside the float64
    answer of PyTorch for the same stored inputs."""
    out, lse = fa.attention(q, k, v, return_lse=True, **ours)
    assert isinstance(out, torch.Tensor) and out.dtype == q.dtype
    limits = fa.reference.attention(
        q, k, v, return_lse=True, return_bounds=True, **ours
    )
    oracle.check_near(to_numpy(out), expected.numpy(), limits[2].numpy())
    if expected_lse is not None:
        oracle.check_near(to_numpy(lse), expected_lse.numpy(), limits[3].numpy())
    pair = fa.torch.attention(q, k, v, return_lse=True, **ours)
    assert torch.equal(pair[0], out) and torch.equal(pair[1], lse)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("name", AGREEMENT)
def test_agreement(name, dtype):
    sizes, ours, theirs = AGREEMENT[name]
    q, k, v = tensors(**sizes, dtype=dtype)
    wide = [x.double() for x in (q, k, v)]
    expected = torch.nn.functional.scaled_dot_product_attention(*wide, **theirs)
    check_agreement(q, k, v, ours, expected)


def test_a_tensor_whose_storage_is_gone_is_named():
    q, k, v = tensors()
    out = torch.empty_like(q)
    for gone in (v, out):
        gone.untyped_storage().resize_(0)
    with pytest.raises(ValueError, match=r"v has shape \[1, 2, 33, 32\] and no memory"):
        fa.attention(q, k, v)
    with pytest.raises(ValueError, match="out has shape .* and no memory; accepted is"):
        fa.attention(q, k, k, out=out)


def test_a_negated_view_is_named():
    # Its memory is that of the complex tensor, with the other sign.
    q, k, v = tensors(dtype=torch.float32)
    negated = torch.complex(q, q).conj().imag
    assert negated.is_neg()
    with pytest.raises(ValueError, match=r"q is a negated view.*resolve_neg\(\)"):
        fa.attention(negated, k, v)
    with pytest.raises(ValueError, match="out is a negated view"):
        fa.attention(q, k, v, out=negated)
    expected = torch.nn.functional.scaled_dot_product_attention(-q, k, v)
    check_agreement(negated.resolve_neg(), k, v, {}, expected)


SLOPES = 2.0 ** -torch.arange(1.0, 5.0)
DOCUMENT = torch.tensor([0] * 7 + [1] * 4 + [2] * 13)
SIZES = {"Hq": 4, "Hkv": 2, "Sq": 24, "Sk": 24, "B": 2}


# The functions that FlexAttention is documented with: of scores ...
def relative(score, b, h, i, j):
    return score + (i - j)


def alibi(score, b, h, i, j):
    return score + SLOPES[h] * (j - i)


def soft_cap(score, b, h, i, j):
    return 1.5 * torch.tanh(score / 1.5)


def masked_causally(score, b, h, i, j):
    return torch.where(i >= j, score, -torch.inf)


# ... and of what is visible.
def causal(b, h, i, j):
    return i >= j


def near(b, h, i, j):
    return i - j <= 5


def prefix(b, h, i, j):
    return (j < 9) | causal(b, h, i, j)


def same_document(b, h, i, j):
    return DOCUMENT[i] == DOCUMENT[j]


def neighbours(b, h, i, j):
    """Within 1 of each other on a grid of 6 columns."""
    return ((i // 6 - j // 6).abs() <= 1) & ((i % 6 - j % 6).abs() <= 1)


def dilated(b, h, i, j):
    return ((i - j).abs() <= 8) & ((i - j) % 2 == 0)


def of_heads(b, h, i, j):
    return (h % 2 == 0) | (i >= j + b)


# What fa traces has its own functions of numbers.
def soft_cap_of_ours(score, b, h, i, j):
    return 1.5 * fa.math.tanh(score / 1.5)


def dilated_of_ours(b, h, i, j):
    return (fa.math.abs(i - j) <= 8) & ((i - j) % 2 == 0)


def near_and_causal(b, h, i, j):
    return near(b, h, i, j) & causal(b, h, i, j)


def grid(function, *first):
    """A function of FlexAttention at every (b, h, i, j), as a dense operand."""
    sizes = [SIZES[name] for name in ("B", "Hq", "Sq", "Sk")]
    return function(*first, *torch.meshgrid(*map(torch.arange, sizes), indexing="ij"))


CAUSAL = {"causal": True}
DISTANCES = grid(relative, 0.0)[0, 0]
# arguments of ours, score_mod, the mask_mods that all must hold
FLEX = {
    "no change": ({}, None, ()),
    "relative position": ({"bias": DISTANCES}, relative, ()),
    "alibi": ({**CAUSAL, "alibi_slopes": SLOPES}, alibi, (causal,)),
    "soft cap": ({"softcap": 1.5}, soft_cap, ()),
    "soft cap, causal": ({**CAUSAL, "softcap": 1.5}, soft_cap, (causal,)),
    "causal by scores": (CAUSAL, masked_causally, ()),
    "causal": (CAUSAL, None, (causal,)),
    "window": ({**CAUSAL, "window": (5, 0)}, None, (causal, near)),
    "prefix": ({**CAUSAL, "prefix": 9}, None, (prefix,)),
    "documents": ({"mask": grid(same_document)[0, 0]}, None, (same_document,)),
    "documents, causal": (
        {**CAUSAL, "mask": grid(same_document)},
        None,
        (causal, same_document),
    ),
    "documents, alibi": (
        {**CAUSAL, "mask": grid(same_document), "alibi_slopes": SLOPES},
        alibi,
        (causal, same_document),
    ),
    "neighbourhood": ({"mask": grid(neighbours)}, None, (neighbours,)),
    "dilated window": ({"mask": grid(dilated)}, None, (dilated,)),
    "by batch and head": ({"mask": grid(of_heads)}, None, (of_heads,)),
    "documents as segments": (
        {"segments": (DOCUMENT.expand(2, -1), DOCUMENT.expand(2, -1))},
        None,
        (same_document,),
    ),
    # The same functions, traced.
    "score: relative position": ({"score": relative}, relative, ()),
    "score: soft cap": ({"score": soft_cap_of_ours}, soft_cap, ()),
    "visible: causal": ({"visible": causal}, None, (causal,)),
    "visible: window": ({"visible": near_and_causal}, None, (causal, near)),
    "visible: prefix": ({"visible": prefix}, None, (prefix,)),
    "visible: dilated": ({"visible": dilated_of_ours}, None, (dilated,)),
    "visible: by batch and head": ({"visible": of_heads}, None, (of_heads,)),
    "score and visible": (
        {"score": relative, "visible": prefix},
        relative,
        (prefix,),
    ),
}


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("name", FLEX)
@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
@pytest.mark.filterwarnings("ignore:return_lse is deprecated")
def test_agreement_with_flex_attention(name, dtype):
    flex = pytest.importorskip(
        "torch.nn.attention.flex_attention", reason="this PyTorch has no FlexAttention"
    )
    ours, score_mod, masks = FLEX[name]
    q, k, v = tensors(**SIZES, dtype=dtype)
    block_mask = None
    if masks:
        lengths = [SIZES[name] for name in ("B", "Hq", "Sq", "Sk")]
        mask_mod = flex.and_masks(*masks)
        block_mask = flex.create_block_mask(mask_mod, *lengths, device="cpu")
    expected, lse = flex.flex_attention(
        *(x.double() for x in (q, k, v)),
        score_mod=score_mod,
        block_mask=block_mask,
        enable_gqa=True,
        return_lse=True,
    )
    check_agreement(q, k, v, ours, expected, lse)


def test_the_table_tells_cases_apart():
    """Each function of the table changes the result by more than the bound."""
    q, k, v = tensors(**SIZES)
    plain, limit = fa.reference.attention(q, k, v, return_bounds=True)
    for name, (ours, _, _) in FLEX.items():
        if ours:
            changed = fa.reference.attention(q, k, v, **ours)
            assert ((changed - plain).abs() > 4 * limit).any(), name


def test_tensors_are_not_copied():
    from fa import _dlpack

    for dtype in TYPES:
        tensor = torch.zeros(3, 4, dtype=dtype).t()
        view = _dlpack.read(tensor, "q")
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


def test_it_is_documented():
    import inspect

    assert fa.torch.__all__ == ["attention"] and fa.torch.__doc__
    assert "Raises as fa.attention does" in inspect.getdoc(fa.torch.attention)


def test_on_a_gpu():
    """The operator is one of CUDA tensors too; test_device_memory.py runs them."""
    assert torch._C._dispatch_has_kernel_for_dispatch_key("fa::attention", "CUDA")
    from torch._subclasses import FakeTensorMode

    with FakeTensorMode():
        q = torch.empty(1, 2, 20, 32, dtype=torch.float16, device="cuda")
        out, lse = fa.torch.attention(q, q, q, return_lse=True)
    assert out.device.type == lse.device.type == "cuda"
    assert out.shape == q.shape and lse.shape == q.shape[:3]


def test_dropout():
    q, k, v = tensors()
    clauses = {"dropout_p": 0.25, "seed": 7}
    out = fa.torch.attention(q, k, v, **clauses)
    assert torch.equal(out, fa.attention(q, k, v, **clauses))
    assert not torch.equal(out, fa.torch.attention(q, k, v))


def test_mistakes():
    q, k, v = tensors()
    with pytest.raises(ValueError, match="causal is True, which is ambiguous"):
        fa.torch.attention(q, k, v, causal=True)
    lengths = torch.tensor([5])
    with pytest.raises(ValueError, match="ambiguous with lengths, offsets or pages"):
        fa.torch.attention(q, q, q, causal=True, kv_lengths=lengths)
    with pytest.raises(ValueError, match="causal is 'left'; accepted are False, True"):
        fa.torch.attention(q, k, v, causal="left")
    wide = torch.zeros(1, 1, 4, 264, dtype=torch.float16)
    with pytest.raises(ValueError, match="q: head dim .*not supported yet"):
        fa.torch.attention(wide, wide, wide)
    with pytest.raises(TypeError, match="k has dtype float32"):
        fa.attention(q, k.float(), v)
