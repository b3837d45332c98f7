"""`look_up`, a step: the values of the items that are asked for, by scaled attention with one query per problem."""

import math

import torch

from grading.exercises.exercise import call, step

from ...shared import BUILT_IN

look_up = step(
    "look_up",
    see="Exercise: look up (extra)",
    forbidden=BUILT_IN,
    hints=(
        "Which shapes do query, key and value have, if there is one query per problem? What shape has the output of "
        "your attention?",
        "The query is `asked[:, None] @ W_q`, `(B, 1, K)`; the keys are `items @ W_k`, `(B, S, K)`. The output is "
        "`(B, 1, V)`, one dimension too many.",
        "The shape of the code: `query = ...`, `key = ...`, `output, _ = scaled_dot_product_attention(..., "
        "scale=scale)`, `return output[...]`.",
    ),
)


@look_up.oracle
def look_up_oracle(items, asked, values, W_q, W_k, scale=None):
    factor = W_q.shape[-1] ** -0.5 if scale is None else scale
    scores = torch.einsum("bk,bsk->bs", asked @ W_q, items @ W_k) * factor
    return torch.einsum("bs,bsv->bv", scores.softmax(-1), values)


one_problem = (torch.eye(2)[None], torch.tensor([[1.0, 0.0]]), torch.tensor([[[4.0], [8.0]]]))
look_up.example("the worked example", call(*one_problem, torch.eye(2), torch.eye(2), math.log(3)))
look_up.example("the default scale", call(*one_problem, 2 * torch.eye(2), torch.eye(2)))
look_up.example(
    "two problems, three items",
    call(
        torch.tensor([[[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]], [[0.0, 1.0], [2.0, 1.0], [-1.0, 0.0]]]),
        torch.tensor([[1.0, 1.0], [2.0, 1.0]]),
        torch.tensor([[[1.0, 0.0], [3.0, 5.0], [2.0, 4.0]], [[7.0, 6.0], [0.0, 1.0], [9.0, 2.0]]]),
        torch.tensor([[1.0, 0.0, 1.0], [0.0, 1.0, 0.5]]),
        torch.tensor([[0.5, 1.0, 0.0], [1.0, 0.0, -1.0]]),
        scale=0.5,
    ).with_gradients(),
)


def problem(draw, B=3, S=5, D=4, V=2, K=6):
    return draw.normal(B, S, D), draw.normal(B, D), draw.normal(B, S, V), draw.normal(D, K), draw.normal(D, K)


@look_up.criterion("the output of scaled attention")
def _(draw):
    for scale in (None, 0.3, 1.0):
        yield call(*problem(draw), scale)
    yield call(*problem(draw, B=1, S=3))
    yield call(*problem(draw, B=4, S=4, D=4, V=4, K=4))
    yield call(*problem(draw), scale=0.0)
    yield call(*problem(draw)).does_not_mutate()
