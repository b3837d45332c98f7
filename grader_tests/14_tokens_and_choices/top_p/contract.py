"""`top_p`: the smallest set of most probable tokens with a given share."""

import torch

from grading.exercises.exercise import EXERCISE, Script, call, exercise, method, non_contiguous, ref

from ..common import spread_logits

top_p = exercise(
    "top_p",
    see="Exercise 4: `top_p(logits, p)`",
    hints=(
        "Three tokens have the probabilities 0.3, 0.5 and 0.2, and `p` is 0.6. Which do you take first, which second, "
        "and when do you have enough?",
        "Sort the probabilities from the largest down and add them up. A token is kept if the sum *before* it is still "
        "below `p`. Then put everything back in its position.",
        "`softmax`, `sort(descending=True)`, which also returns the order, and `cumsum`, all along the last dimension. "
        "`scatter` with that order puts what is kept, or which tokens are dropped, back in position. At the end, "
        "divide each row by its sum.",
    ),
)


@top_p.oracle
def top_p_oracle(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p is {p}; it must be above 0 and at most 1")
    probabilities = torch.softmax(logits, dim=-1)
    mine, others = probabilities[..., :, None], probabilities[..., None, :]
    before = torch.where(others > mine, others, 0.0).sum(-1)  # the sum of all that are more probable
    kept = torch.where((before < p) | torch.tensor(p == 1, device=logits.device), probabilities, 0.0)
    return kept / kept.sum(-1, keepdim=True)


FIVE = (0.42, 0.27, 0.16, 0.1, 0.05)  # sums: 0.42, 0.69, 0.85, 0.95
SEVEN = (0.31, 0.22, 0.17, 0.12, 0.09, 0.06, 0.03)  # sums: 0.31, 0.53, 0.7, 0.82, 0.91, 0.97
SHARES = (0.2, 0.5, 0.6, 0.75, 0.9, 0.96)  # none within 0.005 of a sum

top_p.example("two of three", call(torch.tensor([0.3, 0.5, 0.2]).log(), 0.6))
top_p.example("only the most probable", call(torch.tensor([0.3, 0.5, 0.2]).log(), 0.1))
top_p.example("all of them", call(torch.tensor([0.0, 1.0, 2.0]), 1.0))
top_p.example("row by row", call(torch.tensor([[0.3, 0.5, 0.2], [0.1, 0.15, 0.75]]).log(), 0.7))
top_p.example("no share", call(torch.tensor([0.0, 1.0]), 0.0).raises("p"))
top_p.example("float64 stays float64", call(torch.tensor([0.3, 0.7]).log().double(), 0.5), check_types=True)


@top_p.criterion("which tokens are kept, and their shares", points=0.5)
def _(draw):
    for p in SHARES:
        yield call(spread_logits(draw, FIVE), p)
    yield call(spread_logits(draw, FIVE), 0.6).exact_zeros().tries("zeros").label("which of five are exactly 0, p=0.6")
    yield call(spread_logits(draw, SEVEN), 0.6)
    yield call(spread_logits(draw, SEVEN), 0.94)
    yield call(spread_logits(draw, FIVE), 1.0).tries("every")
    yield call(spread_logits(draw, FIVE), 1).tries("every")
    yield call(draw.normal(4), 1e-3)
    yield call(torch.tensor([draw.number(-3, 3)]), 0.4).label("a single token")


@top_p.criterion("row by row", points=0.5)
def _(draw):
    yield call(spread_logits(draw, FIVE, 3), 0.6).does_not_mutate()
    yield call(torch.cat([spread_logits(draw, FIVE, 2), spread_logits(draw, (0.9, 0.04, 0.03, 0.02, 0.01), 2)]), 0.75)
    yield call(spread_logits(draw, SEVEN, 2, 3), 0.75)
    yield call(spread_logits(draw, FIVE, 4), 1.0)
    yield call(spread_logits(draw, FIVE, 1, 1), 0.5)
    yield call(logits=spread_logits(draw, FIVE, 2, 1), p=0.9)


@top_p.criterion("logits of -inf, and of any size", points=0.25, tries="impossible")
def _(draw):
    for p in (0.6, 1.0):
        row = spread_logits(draw, FIVE)
        row = torch.cat([row, torch.full((2,), -torch.inf)])[draw.permutation(7)]
        yield call(row, p).label(f"two of seven logits are -inf, p={p}")
    row = torch.full((5,), -torch.inf)
    row[draw.integer(0, 5)] = draw.number(-3, 3)
    yield call(row, 0.5).label("all logits but one are -inf")
    # The sum of the others is rounded to 1 in float32; what is observed is whether a probability is above 0
    row = torch.tensor([0.0, -18.5, -20.0, -22.0, -25.0])[draw.permutation(5)]
    s = Script(logits=row, p=1.0)
    s.call(EXERCISE, s.logits, s.p, name="probabilities")
    s.call(method(ref("probabilities"), "gt"), 0, name="kept")
    yield s.case(ref("kept")).tries("every").label("which of five tokens are kept, four of which are below 1e-8; p=1.0")
    yield call(spread_logits(draw, FIVE, 5) + 1e3, 0.75).label("logits of about 1000")
    yield call(spread_logits(draw, FIVE, 5) - 1e3, 0.75).label("logits of about -1000")


@top_p.criterion("ValueError unless 0 < p <= 1", points=0.25, tries="share")
def _(draw):
    for wrong in (0.0, -0.5, 1.5, 0, -draw.number(0.1, 0.9), 1 + draw.number(0.1, 0.9)):
        yield call(draw.normal(4), wrong).raises("p")
    yield call(draw.normal(4), 1.0).does_not_raise()
    yield call(draw.normal(4), 0.05).does_not_raise()


@top_p.criterion("gradients, float64, any layout and device", points=0.25, check_types=True)
def _(draw):
    yield call(spread_logits(draw, FIVE, 3), 0.6).with_gradients()
    yield call(spread_logits(draw, FIVE), 1.0).with_gradients()
    yield call(spread_logits(draw, SEVEN, 2, 2), 0.9).with_gradients()
    yield call(spread_logits(draw, FIVE, 12).double(), 0.6).with_gradients()  # rows enough for float32 to show
    yield call(non_contiguous(spread_logits(draw, FIVE, 2, 3)), 0.75)
    yield call(spread_logits(draw, FIVE, 3), 0.6).device_only()
    yield call(spread_logits(draw, FIVE, 3), 1.0).device_only()


@top_p.sizes(points=0.25, N=(1, 5, 300), rows=(1, 2, 300), p=(1e-3, 0.6, 1.0))
def _(draw, N, rows, p):
    def is_clear(row):
        likely = row.double().softmax(-1).sort(descending=True).values
        return p == 1 or bool(((likely.cumsum(-1)[:-1] - p).abs() > 2e-4).all())

    logits = torch.stack([draw.until(lambda: draw.normal(N, scale=2.0), is_clear) for _ in range(rows)])
    return call(logits, p)
