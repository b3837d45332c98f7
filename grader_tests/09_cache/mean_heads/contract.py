"""`mean_heads`: the weights of H heads, averaged in G groups of neighbours."""

import torch

from grading.exercises.exercise import call, exercise, non_contiguous

from ...shared.elsewhere import filled_elsewhere

mean_heads = exercise(
    "mean_heads",
    see="Exercise: `mean_heads(weight, n_heads, n_groups)`",
    hints=(
        "With four heads and two groups: which heads are averaged with which? Where do their rows lie in the matrix?",
        "The rows of a head stand together, and so do the heads of a group. Cut the rows into (groups, heads of a "
        "group, rows of a head): along which of the three is the mean?",
        "Refuse numbers that do not divide. `unflatten` the first dimension into (G, H / G, K), take the mean over "
        "the second of these, and `flatten` the first two of what is left.",
    ),
)


@mean_heads.oracle
def mean_heads_oracle(weight, n_heads, n_groups):
    if n_heads < 1 or len(weight) % n_heads:
        raise ValueError(f"n_heads is {n_heads}, and weight is {tuple(weight.shape)}")
    if n_groups < 1 or n_heads % n_groups:
        raise ValueError(f"n_groups is {n_groups}, which does not divide n_heads, {n_heads}")
    cut = weight.reshape(n_groups, n_heads // n_groups, len(weight) // n_heads, -1)
    return torch.einsum("ghkd->gkd", cut).reshape(-1, weight.shape[1]) / cut.shape[1]


RAMP = torch.arange(8.0).view(8, 1) * torch.tensor([[1.0, 10.0]])

mean_heads.example("four heads of width 2, two groups", call(RAMP, 4, 2), check_types=True)
mean_heads.example("all heads in one group", call(RAMP, 4, 1))
mean_heads.example("three groups of four heads", call(RAMP, 4, 3).raises("n_groups", "n_heads"))


@mean_heads.criterion("means of neighbouring heads", points=1)
def _(draw):
    yield call(draw.normal(12, 5), 6, 2)
    yield call(draw.normal(12, 7), 6, 3)
    yield call(draw.normal(12, 5), n_heads=4, n_groups=1)
    yield call(draw.normal(12, 5), 4, 4)
    yield call(draw.normal(24, 3), 8, 2 * draw.integer(1, 3))
    yield call(draw.normal(6, 2), 6, 2)
    yield call(draw.normal(3, 4), 1, 1).label("a single head")
    yield call(draw.normal(3, 4), 3, 1).label("heads of one number, in one group")
    yield call(draw.normal(6, 1), 6, 3).label("weights of one column")


@mean_heads.criterion("ValueError where numbers do not divide, or are below 1", points=0.5)
def _(draw):
    yield call(draw.normal(12, 5), 6, 4).raises("n_groups", "n_heads")
    yield call(draw.normal(12, 5), 5, 1).raises("n_heads", "weight")
    yield call(draw.normal(12, 5), n_heads=4, n_groups=8).raises("n_groups", "n_heads")
    for number in (0, -3, 2.5):  # the groups do not divide 2.5 either
        yield call(draw.normal(12, 5), number, 1).raises("n_heads", "weight", "n_groups")
    for number in (0, -2, 1.5):
        yield call(draw.normal(12, 5), 4, number).raises("n_groups", "n_heads")
    yield call(draw.normal(12, 5), 6, 6).does_not_raise()


@mean_heads.criterion("gradients, float64, any layout and device, arguments left alone", points=0.5, check_types=True)
def _(draw):
    yield call(draw.normal(12, 5), 6, 2).with_gradients()
    yield call(draw.normal(12, 5, dtype=torch.float64), 6, 3)
    yield call(non_contiguous(draw.normal(12, 5)), 4, 2).does_not_mutate()
    yield call(draw.normal(5, 12).T, 4, 2)
    yield call(draw.normal(12, 5), 6, 2).device_only()
    yield filled_elsewhere("mean_heads", draw.normal(12, 5), 6, 2)
