"""`language_model_loss`: the mean negative log-likelihood of the targets that count."""

import math

import torch

from grading.exercises.exercise import call, exercise

LOSS = "2. How surprised is it?"

language_model_loss = exercise(
    "language_model_loss",
    see=LOSS,
    forbidden=("(?!binary).*cross_entropy.*", "nll_loss.*"),
    hints=(
        "With which formula does the logarithm of a softmax get by without ever making a number that overflows, or a "
        "logarithm of 0? What do you pick out of the N numbers of a position?",
        "Log-probabilities first, (B, T, N). Then pick the one of each target, (B, T). Then a mean over those "
        "positions that are not ignored; a target such as -100 is no index, so replace it before picking.",
        "`logp = torch.log_softmax(logits, …)`; `counts = targets != ignore_index`; `safe = targets.where(counts, …)`; "
        "`picked = logp.gather(…, safe.unsqueeze(…)).squeeze(…)`; return the sum over `counts` divided by their "
        "number, which must not be 0.",
    ),
)


@language_model_loss.oracle
def language_model_loss_oracle(logits, targets, ignore_index=-100):
    total = logits.new_zeros(())
    count = 0
    for row, wanted in zip(logits.flatten(0, 1), targets.flatten().tolist(), strict=True):
        if wanted != ignore_index:
            # log(sum of exp(gap)), with gaps measured from the target and the largest factored out: no term is
            # negative, so that a small loss is exact however large the logits are
            gaps = row - row[wanted]
            top = gaps.argmax()
            others = (gaps - gaps[top]).exp().scatter(0, top, 0.0).sum()
            total = total + gaps[top] + torch.log1p(others)
            count += 1
        else:
            total = total + 0 * row.sum()
    return total / max(count, 1)


language_model_loss.example(
    "two positions, two tokens: a loss of log 2", call(torch.zeros(1, 2, 2), torch.tensor([[0, 1]])), check_types=True
)
language_model_loss.example(
    "probabilities of 3/4 and 1/4",
    call(torch.tensor([[[math.log(3.0), 0.0], [math.log(3.0), 0.0]]]), torch.tensor([[0, 1]])),
)


@language_model_loss.example("two sentences, with gradients")
def _():
    logits = torch.tensor([[[1.0, 2.0, 0.0], [0.0, 1.0, -1.0]], [[2.0, 0.0, 1.0], [1.0, -1.0, 3.0]]])
    yield call(logits, torch.tensor([[1, 0], [2, 2]])).with_gradients()


language_model_loss.example(
    "one target is ignored", call(torch.tensor([[[1.0, 0.0], [0.0, 5.0], [2.0, 0.0]]]), torch.tensor([[0, -100, 1]]))
)


@language_model_loss.example("another number stands for “ignore”")
def _():
    logits = torch.tensor([[[1.0, 0.0, 2.0], [0.0, 5.0, 1.0], [2.0, 0.0, 0.0]]])
    yield call(logits, torch.tensor([[0, 2, 1]]), ignore_index=2)


language_model_loss.example(
    "all targets are ignored", call(torch.tensor([[[1.0, 0.0], [0.0, 5.0]]]), torch.tensor([[-1, -1]]), ignore_index=-1)
)
# A logarithm that is added to a logit of 10,000 is rounded to 0.0005: the contract asks for 1e-2 there.
language_model_loss.example(
    "huge logits",
    call(torch.tensor([[[1e4, 0.0, -1e4], [0.0, 9000.0, 9000.0]]]), torch.tensor([[0, 1]])).tolerance(1e-2),
)


def moderate(draw, *shape, dtype=torch.float32):
    """Logits without small probabilities, so a small number added always costs the same."""
    return draw.uniform(*shape, low=-1.0, high=1.0, dtype=dtype)


@language_model_loss.criterion("the mean negative log-likelihood", points=0.75)
def _(draw):
    for B, T, N in ((2, 5, 7), (3, 1, 6), (1, 8, 3), (4, 3, 5)):
        yield call(moderate(draw, B, T, N), draw.integers(0, N, B, T))
    targets = draw.integers(0, 120, 2, 3)
    targets[1, 0] = 0  # a token like any other
    yield call(logits=moderate(draw, 2, 3, 120), targets=targets)


@language_model_loss.criterion("ignored targets do not count", points=1, tries="ignored")
def _(draw):
    for ignored in (-100, -1, 2, 30):
        targets = draw.integers(3, 8, 4, 6)
        targets[draw.chance(0.4, 4, 6)] = ignored
        targets[0, 0], targets[1, 1] = 5, ignored
        targets[2] = ignored  # a whole row
        made = call(moderate(draw, 4, 6, 9), targets, **({} if ignored == -100 else {"ignore_index": ignored}))
        yield made.with_gradients()
    alone = torch.full((2, 3), -100)
    alone[1, 1] = 4
    yield call(moderate(draw, 2, 3, 5), alone).with_gradients()


@language_model_loss.criterion("0 where all targets are ignored", points=0.5, tries="none")
def _(draw):
    yield (
        call(draw.normal(2, 3, 5), torch.full((2, 3), -100))
        .with_gradients()
        .check_with("zero_loss_if_all_ignored", dtype="torch.float32")
    )
    yield (
        call(draw.normal(1, 4, 3), torch.full((1, 4), 1), 1)
        .with_gradients()
        .check_with("zero_loss_if_all_ignored", dtype="torch.float32")
    )


@language_model_loss.criterion("logits as large as 1e4", points=1, tries="large")
def _(draw):
    # No target is 0: an answer that reads 0 as padding loses the same with every draw
    for scale in (1e4, -1e4):
        logits = scale + draw.normal(2, 3, 5)  # all equally large: only their differences matter
        yield call(logits, draw.integers(1, 5, 2, 3)).with_gradients().check_with("finite_loss_for_huge_logits")
    logits = draw.uniform(3, 2, 6, low=-1e4, high=1e4)
    yield call(logits, draw.integers(1, 6, 3, 2)).with_gradients().check_with("finite_loss_for_huge_logits")
    surprised = torch.tensor([[[1e4, -1e4, 0.0], [9e3, -1e4, 1e4]]])
    yield call(surprised, torch.tensor([[1, 1]])).with_gradients().check_with("finite_loss_for_huge_logits")


@language_model_loss.criterion(
    "gradients, float64, any layout and device, arguments left alone", points=0.5, check_types=True
)
def _(draw):
    targets = draw.integers(0, 6, 2, 4)
    targets[0, 3] = 0
    yield call(moderate(draw, 2, 4, 6), targets).with_gradients()
    yield (
        call(moderate(draw, 3, 2, 25, dtype=torch.float64), draw.integers(0, 25, 3, 2))
        .with_gradients()
        .does_not_mutate()
    )
    logits = moderate(draw, 4, 3, 5).transpose(0, 1)
    targets = draw.integers(0, 5, 4, 3).transpose(0, 1)
    ignored = call(draw.normal(3, 2, 4, dtype=torch.float64), torch.full((3, 2), -100)).tries("none")
    yield ignored.check_with("zero_loss_if_all_ignored", dtype="torch.float64")
    yield call(moderate(draw, 2, 3, 5), draw.integers(0, 5, 2, 3)).device_only()
    targets[1, 2] = -100
    yield call(logits, targets).with_gradients().does_not_mutate().tries("ignored")


@language_model_loss.sizes(points=0.25, B=(1, 2, 60), T=(1, 5, 60), N=(1, 7, 90))
def _(draw, B, T, N):
    return call(moderate(draw, B, T, N), draw.integers(0, N, B, T))
