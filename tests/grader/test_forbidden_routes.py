"""Ways around what an exercise forbids: built-ins of another name, and calls that no reader of the source understands.

Each is watched as the exercise's own patterns say; the source, which is read besides, is not looked at here.
"""

from __future__ import annotations

import warnings

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from course.harness.program import Program
from course.harness.runner import observe
from course.harness.serialization import Node
from grading.exercises.lesson import load_lesson

from ..support.repository import ROOT

X = torch.tensor([[1.0, -2.0, 0.5, 3.0], [0.0, 1.0, -1.0, 2.0], [0.3, 0.1, 0.2, 0.7]])
EYE = torch.eye(4)


def scripted(expression):
    """TorchScript of one expression in x and y."""
    return torch.jit.CompilationUnit(f"def f(x, y):\n    return {expression}\n").f


def traced(function):
    """TorchScript of what a function does with x and y."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.jit.trace(function, (X, X.flip(0)), check_trace=False)


DOTS = {
    "an inner product below Python": scripted("torch.inner(x[0], y[0])"),
    "a product of matrices below Python": scripted("torch.matmul(x, y.t())"),
    "a vecdot below Python": scripted("torch.vdot(x[0], y[0])"),
    "einsum by another way": lambda x, y: torch.functional.einsum("i,i", x[0], y[0]),
    "a weighted sum of a table": lambda x, y: torch.ops.aten.addmv(torch.zeros(3), x, y[0]),
    "covariance": lambda x, y: torch.cov(x),
    "correlation": lambda x, y: torch.corrcoef(x),
    "a chain": lambda x, y: torch.linalg.multi_dot([x, y.mT]),
    "a power": lambda x, y: torch.linalg.matrix_power(x[:, :3], 2),
    "a layer": lambda x, y: nn.Bilinear(4, 4, 1, bias=False)(x, y),
    "attention": lambda x, y: F.scaled_dot_product_attention(x[None], y[None], y[None]),
    "numpy's operator on a tensor": lambda x, y: x.__matmul__(y.mT),
    "a map over rows": lambda x, y: torch.func.vmap(torch.dot)(x, y),
    "a sparse product": lambda x, y: torch.sparse.mm(x.to_sparse(), y.mT),
}
COSINES = {
    "below Python": scripted("torch.cosine_similarity(x, y, -1)"),
    "an embedding loss": lambda x, y: 1 - F.cosine_embedding_loss(x, y, torch.ones(3), reduction="none"),
    "the module": lambda x, y: nn.CosineSimilarity(-1)(x, y),
    "the module of the loss": lambda x, y: nn.CosineEmbeddingLoss()(x, y, torch.ones(3)),
    "the operator": lambda x, y: torch.ops.aten.cosine_similarity(x, y, -1),
}
SOFTMAXES = {
    "below Python": scripted("torch.softmax(x, -1)"),
    "logsumexp below Python": scripted("x - torch.logsumexp(x, [-1], True)"),
    "attention": lambda x, y: F.scaled_dot_product_attention(x[None], EYE[None], EYE[None], scale=1.0),
    "attention below Python": traced(lambda x, y: F.scaled_dot_product_attention(x[None], y[None], y[None])),
    "attention's module": lambda x, y: nn.MultiheadAttention(4, 1, bias=False)(x, x, x)[1],
    "a sample": lambda x, y: F.gumbel_softmax(x),
    "sparse": lambda x, y: torch.sparse.log_softmax(x.to_sparse(), -1),
    "masked": lambda x, y: torch.masked.softmax(x, -1),
    "masked, the operator": lambda x, y: torch.ops.aten._masked_softmax(x, x > 9),
    "special": lambda x, y: torch.special.logsumexp(x, -1),
    "cumulated": lambda x, y: torch.logcumsumexp(x, -1),
    "softmin": lambda x, y: F.softmin(-x, -1),
    "a distribution": lambda x, y: torch.distributions.Categorical(logits=x).probs,
    "a loss": lambda x, y: F.cross_entropy(x, EYE[:3], reduction="none"),
    "a loss that adapts": lambda x, y: nn.AdaptiveLogSoftmaxWithLoss(4, 3, [1]).log_prob(x),
    "the layer for pictures": lambda x, y: nn.Softmax2d()(x[:, :, None, None]),
    "a compiled function": lambda x, y: torch.compile(lambda r: r.softmax(-1), backend="eager")(x),
    "safe": lambda x, y: torch.ops.aten._safe_softmax(x, -1),
}
ENTROPIES = {
    "a distribution": lambda x, y: torch.distributions.Categorical(probs=x.abs()).entropy(),
    "a divergence of distributions": lambda x, y: torch.distributions.kl_divergence(
        *(torch.distributions.Categorical(probs=one.abs() + 1) for one in (x, y))
    ),
}
ATTENTIONS = {
    "the function": lambda x, y: F.scaled_dot_product_attention(x[None], y[None], y[None]),
    "below Python": traced(lambda x, y: F.scaled_dot_product_attention(x[None], y[None], y[None])),
    "its math": lambda x, y: torch.ops.aten._scaled_dot_product_attention_math(x[None], y[None], y[None]),
    "its kernel": lambda x, y: torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
        x[None, None], y[None, None], y[None, None]
    ),
    "the module": lambda x, y: nn.MultiheadAttention(4, 1)(x, y, y),
    "the module at rest": lambda x, y: nn.MultiheadAttention(4, 1, batch_first=True).eval()(x[None], x[None], x[None]),
    "a layer of a transformer": lambda x, y: nn.TransformerEncoderLayer(4, 1, 4, batch_first=True)(x[None]),
    "a layer at rest": lambda x, y: without_gradients(nn.TransformerEncoderLayer(4, 1, 4, batch_first=True), x[None]),
    "a decoder": lambda x, y: nn.TransformerDecoderLayer(4, 1, 4)(x, y),
    "a whole transformer": lambda x, y: nn.Transformer(4, 1, 1, 1, 4)(x[:, None], y[:, None]),
    "flexible": lambda x, y: flexible(x[None, None]),
}
LOSSES = {
    "below Python": traced(lambda x, y: F.nll_loss(x, y.argmax(-1))),
    "cross-entropy below Python": traced(lambda x, y: F.cross_entropy(x, y.exp())),
    "soft labels": lambda x, y: F.cross_entropy(x, EYE[:3]),
    "the module": lambda x, y: nn.NLLLoss()(x, torch.tensor([0, 1, 2])),
    "of pictures": lambda x, y: F.nll_loss(x[None, :, :, None], torch.zeros(1, 4, 1, dtype=torch.int64)),
    "the operator": lambda x, y: torch.ops.aten.nll_loss_forward(x, torch.tensor([0, 1, 2]), None, 1, -100),
}


def without_gradients(module, x):
    with torch.no_grad():
        return module.eval()(x)


def flexible(x):
    from torch.nn.attention.flex_attention import flex_attention

    return flex_attention(x, x, x)


ROUTES = [
    (lesson, exercise, name, function)
    for exercises, routes in (
        ({"01_dot_products": ["dot"]}, DOTS),
        ({"01_dot_products": ["cosine_similarity"]}, COSINES),
        ({"02_softmax": ["softmax", "log_softmax", "softmax_with_temperature"]}, SOFTMAXES),
        ({"02_softmax": ["entropy"]}, ENTROPIES),
        ({"04_scaling": ["scaled_dot_product_attention", "ScaledDotProductAttention"]}, ATTENTIONS),
        ({"05_causal_mask": ["masked_attention"], "06_multi_head": ["MultiHeadAttention"]}, ATTENTIONS),
        ({"07_rope": ["RotarySelfAttention"]}, ATTENTIONS),
        ({"08_training": ["language_model_loss"]}, LOSSES),
    )
    for lesson, names in exercises.items()
    for exercise in names
    for name, function in routes.items()
]


@pytest.mark.quick_cases("softmax: below Python", "softmax: attention")
@pytest.mark.parametrize(
    ("lesson", "exercise", "function"), [(a, b, d) for a, b, _, d in ROUTES], ids=[f"{b}: {c}" for _, b, c, _ in ROUTES]
)
def test_a_way_around_a_forbidden_function_is_detected(lesson, exercise, function):
    forbidden = load_lesson(ROOT / "grader_tests" / lesson).exercises[exercise].forbidden
    names = [Node("ref", {"name": name, "path": []}) for name in "xy"]
    steps = [("out", Node("student", {"name": exercise}), names, {})]
    seen = observe(Program({"x": X, "y": X.flip(0)}, steps, [], forbidden=list(forbidden)), {exercise: function})
    assert seen.used, seen.raised
