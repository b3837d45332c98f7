"""`read_key`, a step: the online softmax, one key further."""

import math

import torch

from grading.exercises.exercise import call, step

from ..common import NOT_ALLOWED

read_key = step(
    "read_key",
    result_names=("highest", "total", "weighted"),
    forbidden=NOT_ALLOWED,
    see="Exercise: read one key",
    hints=(
        "What is the new maximum? By which factor must everything be multiplied that was computed with the old one?",
        "The shape of the code: `new = torch.maximum(<old>, <score>)`; `shrink = torch.exp(<old> - new)`; "
        "`added = torch.exp(<score> - new)`. Both sums are multiplied by `shrink`, and get their part of the new key.",
    ),
)


@read_key.oracle
def read_key_oracle(highest, total, weighted, score, value):
    new = torch.stack([highest, score]).amax(0)
    factors = torch.exp(torch.stack([highest, score]) - new)
    return new, factors[0] * total + factors[1], factors[0] * weighted + factors[1] * value


def first(V, dtype=torch.float32):
    """The three before any key."""
    return torch.tensor(-math.inf, dtype=dtype), torch.zeros((), dtype=dtype), torch.zeros(V, dtype=dtype)


def scalar(draw, lowest, highest):
    return torch.tensor(draw.number(lowest, highest))


read_key.example("the first key", call(*first(1), torch.tensor(0.0), torch.tensor([4.0])))
read_key.example(
    "a larger score",
    call(torch.tensor(0.0), torch.tensor(1.0), torch.tensor([4.0]), torch.tensor(math.log(2)), torch.tensor([8.0])),
)
read_key.example(
    "a smaller score",
    call(
        torch.tensor(0.0),
        torch.tensor(1.5),
        torch.tensor([4.0, 1.0]),
        torch.tensor(-math.log(2)),
        torch.tensor([8.0, 2.0]),
    ),
)


@read_key.criterion("larger, smaller and first scores")
def _(draw):
    for low, high in ((1.0, 2.0), (-2.0, -1.0), (3.0, 4.0)):
        score = scalar(draw, low, high)
        yield call(scalar(draw, -0.5, 0.5), scalar(draw, 1.1, 3.0), draw.normal(3), score, draw.normal(3))
    yield call(*first(4), scalar(draw, -3.0, -2.0), draw.normal(4))
    yield call(*first(2), scalar(draw, 2.0, 3.0), draw.normal(2))
    level = scalar(draw, 1.0, 2.0)
    yield call(level, scalar(draw, 1.1, 2.0), draw.normal(5), level, draw.normal(5)).label(
        "a score equal to the maximum"
    )
    yield call(torch.tensor(900.0), scalar(draw, 1.1, 2.0), draw.normal(3), torch.tensor(901.0), draw.normal(3))
    yield call(torch.tensor(-901.0), scalar(draw, 1.1, 2.0), draw.normal(3), torch.tensor(-902.0), draw.normal(3))
    yield call(
        torch.tensor(0.0), scalar(draw, 1.1, 2.0), draw.normal(3), scalar(draw, 1.0, 2.0), draw.normal(3)
    ).does_not_mutate()
