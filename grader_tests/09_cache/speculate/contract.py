"""`speculate`, an exercise without points: a small model's proposals, corrected by a large model."""

import torch

from grading.exercises.exercise import call, non_contiguous, step

speculate = step(
    "speculate",
    see="Exercise: `speculate(target, draft)` (extra)",
    hints=(
        "A token is proposed with the probability 3/4, and should come out with 1/2. How often may a proposal of it be "
        "accepted? And one that is proposed with 1/4 and should come out with 1/2?",
        "A token comes out by being proposed and accepted with the probability min(p, q). What is missing from p after "
        "that is what a correction has to supply, in the same proportions.",
        "The first is p / q, at most 1, with `torch.where` for the tokens of which q is 0. The second is "
        "`(p - q).clamp(min=0)` divided by its sum over the tokens; where that sum is 0, the target itself.",
    ),
)


@speculate.oracle
def speculate_oracle(target, draft):
    proposed = draft > 0
    accepted = torch.where(proposed, (target / draft.masked_fill(~proposed, 1.0)).clamp(max=1.0), 1.0)
    missing = torch.relu(target - draft)
    total = missing.sum(-1, keepdim=True)
    corrected = torch.where(total > 0, missing / total.masked_fill(total == 0, 1.0), target)
    return accepted, corrected


speculate.example("the one on paper", call(torch.tensor([0.5, 0.5]), torch.tensor([0.75, 0.25])))
speculate.example(
    "two places, four tokens",
    call(
        torch.tensor([[0.5, 0.25, 0.125, 0.125], [0.0, 0.25, 0.25, 0.5]]),
        torch.tensor([[0.25, 0.125, 0.5, 0.125], [0.25, 0.5, 0.125, 0.125]]),
    ),
)
speculate.example(
    "never proposed, and never wanted",
    call(torch.tensor([0.5, 0.0, 0.5, 0.0]), torch.tensor([0.25, 0.75, 0.0, 0.0])),
)
speculate.example("models that agree", call(torch.tensor([0.25, 0.75]), torch.tensor([0.25, 0.75])))
speculate.example(
    "float64 stays float64",
    call(torch.tensor([0.5, 0.5]).double(), torch.tensor([0.75, 0.25]).double()),
    check_types=True,
)


def drawn(draw, *shape, **options):
    """The two models' probabilities of the next token, which all differ."""
    return draw.distribution(*shape, **options), draw.distribution(*shape, **options)


@speculate.criterion("how likely a proposal is accepted, and what is drawn otherwise", points=1)
def _(draw):
    yield call(*drawn(draw, 6))
    yield call(*drawn(draw, 3))
    yield call(torch.tensor([0.9, 0.05, 0.05]), torch.tensor([0.2, 0.3, 0.5])[draw.permutation(3)])


@speculate.criterion("place by place", points=0.5)
def _(draw):
    yield call(*drawn(draw, 5, 4)).with_gradients()
    yield call(*drawn(draw, 2, 3, 7))
    yield call(*drawn(draw, 1, 5)).label("one place")
    yield call(*drawn(draw, 4, 4)).does_not_mutate()


@speculate.criterion("tokens without a share, models that agree", points=0.25)
def _(draw):
    mix = draw.permutation(5)
    yield call(torch.tensor([0.5, 0.0, 0.25, 0.25, 0.0])[mix], torch.tensor([0.125, 0.5, 0.0, 0.375, 0.0])[mix]).label(
        "some tokens have no share in one of the two, or in both"
    )
    target, draft = drawn(draw, 3, 4)
    draft[1] = target[1]
    yield call(target, draft).label("the two models agree at one of three places")


@speculate.criterion("float64, any layout and device", points=0.25, check_types=True)
def _(draw):
    yield call(*drawn(draw, 5))
    yield call(*drawn(draw, 2, 5, dtype=torch.float64))
    yield call(*map(non_contiguous, drawn(draw, 3, 4)))
    yield call(*drawn(draw, 3, 4)).device_only()
