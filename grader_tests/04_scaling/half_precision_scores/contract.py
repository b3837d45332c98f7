"""`half_precision_scores`, a step: scaled scores that do not overflow on the way."""

import torch

from grading.exercises.exercise import call, step

from ...shared import BUILT_IN

half_precision_scores = step(
    "half_precision_scores",
    see="Exercise: scores in half precision (extra)",
    forbidden=BUILT_IN,
    hints=(
        "The product overflows before you divide it. What can you divide earlier?",
        "Divide one of the two by the root of K, before the product. (Or both by the fourth root.)",
    ),
)


@half_precision_scores.oracle
def half_precision_scores_oracle(query, key):
    return ((query.double() @ key.double().mT) / query.shape[-1] ** 0.5).to(query.dtype)


long = torch.full((1, 64), 40.0, dtype=torch.float16)
half_precision_scores.example("the worked example", call(long, long), check_types=True)
half_precision_scores.example(
    "float32, two queries, three keys",
    call(
        torch.tensor([[1.0, 0.0, 2.0, 1.0], [0.0, -4.0, 2.0, 0.0]]),
        torch.tensor([[1.0, 1.0, 0.0, 0.0], [2.0, 0.0, 4.0, 1.0], [0.0, 3.0, 1.0, 1.0]]),
    ),
    check_types=True,
)


# Whole numbers and K = 16 or 64, so that the roots are exact in half precision
@half_precision_scores.criterion("no overflow, in any dtype", check_types=True)
def _(draw):
    for dtype in (torch.float16, torch.float32, torch.float64):
        yield call(draw.integers(-4, 5, 3, 16).to(dtype), draw.integers(-4, 5, 5, 16).to(dtype))
    query, key = (30.0 + draw.integers(0, 5, n, 64) for n in (2, 3))  # products around 65,000
    yield call((query + 10.0).half(), (key + 10.0).half())
    yield call(draw.normal(3, 5), draw.normal(4, 5)).does_not_mutate()
