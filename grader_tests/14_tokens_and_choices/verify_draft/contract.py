"""`verify_draft`: how many drafted tokens are accepted, and what the next one is drawn from."""

import torch

from grading.exercises.exercise import EXERCISE, Script, call, exercise, method, non_contiguous, ref

NAMES = ("drafted", "draft", "target", "chances")

verify_draft = exercise(
    "verify_draft",
    result_names=("n_accepted", "next_token_probabilities"),
    see="Exercise 9: `verify_draft(drafted, draft, target, chances)`",
    hints=(
        "The draft proposes a token with probability 3/4, and it should come out with 1/2. How often may you accept "
        "it? Which tokens come out too seldom then?",
        "Go through the drafted tokens in order and stop at the first that is rejected. The next token is drawn "
        "from what the draft gave too little of at that position, or, if nothing was rejected, from the last row of "
        "the target.",
        "A loop over the positions. At the first rejection it returns the position, and the positive part of a "
        "difference of two rows, rescaled; `clamp` gives the positive part. The second `return` is after the loop.",
    ),
)


@verify_draft.oracle
def verify_draft_oracle(drafted, draft, target, chances):
    n_drafted = drafted.shape[0]
    where = torch.arange(n_drafted, device=drafted.device)
    kept = chances * draft[where, drafted] < target[where, drafted]
    n_accepted = int(kept.int().cumprod(0).sum())
    if n_accepted == n_drafted:
        return n_accepted, target[n_drafted]
    missing = torch.relu(target[n_accepted] - draft[n_accepted])
    return n_accepted, missing / missing.sum()


def tokens(draw, M, N, decisions, dtype=torch.float32):
    """Arguments by which the tokens are accepted or rejected as `decisions` say; no chance is near its bound.

    A decision is "sure" (accepted at any chance), "yes", "no", or "never" (the target gives the token nothing).
    """
    draft, target = (draw.distribution(rows, N, dtype=torch.float64) for rows in (M, M + 1))
    drafted, chances = draw.integers(0, N, M), torch.zeros(M, dtype=torch.float64)
    for i, decision in enumerate(decisions):
        token = int(drafted[i])
        share = {"sure": 1.6, "yes": 0.7, "no": 0.6, "never": 0.0}[decision] * float(draft[i, token])
        others = target[i].clone()
        others[token] = 0.0
        target[i] = others / others.sum() * (1 - share)
        target[i, token] = share
        low, high = {"sure": (0.9, 1.0), "yes": (0.05, 0.6), "no": (0.7, 0.95), "never": (0.05, 0.95)}[decision]
        chances[i] = draw.number(low, high)
    return drafted, *(part.to(dtype) for part in (draft, target, chances))


def listed(decisions):
    return f"{len(decisions)} drafted: {'…, ' * (len(decisions) > 9)}{', '.join(decisions[-9:])}"


def decided(draw, *decisions, N=5, **options):
    made = call(*tokens(draw, len(decisions), N, decisions, **options))
    return made.label(f"{listed(decisions)}; {N} tokens")


MANY = ("sure",) * 60  # who compares the chance with another ratio rejects one of them


ROWS = torch.tensor([[0.75, 0.25, 0.0], [0.25, 0.25, 0.5]])
WANTED = torch.tensor([[0.25, 0.25, 0.5], [0.25, 0.5, 0.25], [0.5, 0.375, 0.125]])

verify_draft.example(
    "the first is accepted, the second is not", call(torch.tensor([1, 2]), ROWS, WANTED, torch.tensor([0.9, 0.75]))
)
verify_draft.example("both are accepted", call(torch.tensor([0, 1]), ROWS, WANTED, torch.tensor([0.25, 0.9])))
verify_draft.example("neither is", call(torch.tensor([0, 1]), ROWS, WANTED, torch.tensor([0.5, 0.1])))
verify_draft.example(
    "an int, and float64 stays float64",
    call(torch.tensor([0]), ROWS[:1].double(), WANTED[:2].double(), torch.tensor([0.1]).double()),
    check_types=True,
)


def counting(given, text):
    """A case that observes `n_accepted` alone."""
    s = Script(**dict(zip(NAMES, given, strict=True)))
    s.call(EXERCISE, *map(ref, NAMES), name="result")
    s.call(method(ref("result"), "__getitem__"), 0, name="n_accepted")
    return s.case(ref("n_accepted")).label(f"{text}; how many are accepted")


@verify_draft.criterion("how many are accepted", points=0.5)
def _(draw):
    for decisions in (
        ("yes", "yes", "no", "yes"),
        ("sure", "no", "yes"),
        ("no", "sure", "sure"),
        ("yes", *MANY),
        ("sure", "yes", "never", "sure", "yes"),
        ("never", "yes"),
        ("yes",),
        ("no",),
    ):
        yield counting(tokens(draw, len(decisions), 5, decisions), listed(decisions))
    order = draw.permutation(3)
    for wanted, chance in (([0.25, 0.25, 0.5], 0.5), ([0.0, 0.5, 0.5], 0.0)):
        target = torch.tensor([wanted, [0.25, 0.5, 0.25]])[:, order]
        draft = torch.tensor([[0.5, 0.25, 0.25]])[:, order]
        given = order.argsort()[:1], draft, target, torch.tensor([chance])
        yield counting(given, f"a chance of {chance}, which equals the ratio")
    for chance in (0.45, 0.55):  # what is added to a probability for safety changes their ratio
        draft, target = (torch.tensor([[share, 0.5, 0.5 - share]])[:, order] for share in (2e-7, 1e-7))
        given = order.argsort()[:1], draft, target.repeat(2, 1), torch.tensor([chance])
        yield counting(given, f"probabilities of 2e-7 and 1e-7, and a chance of {chance}")


@verify_draft.criterion("after a rejection: what the draft lacks", points=0.5, tries="lacks")
def _(draw):
    yield decided(draw, "no")
    yield decided(draw, "no", "yes", "yes")
    yield decided(draw, "yes", "no", "sure", "no", N=7)
    yield decided(draw, "sure", "yes", "never")
    yield decided(draw, "never", "no", N=3)
    yield decided(draw, "yes", *MANY, "no", "yes", N=4)


@verify_draft.criterion("after no rejection: the last row of the target", points=0.25, tries="all")
def _(draw):
    yield decided(draw, "yes")
    yield decided(draw, "yes", "sure", "yes", N=7)
    yield decided(draw, *MANY)
    yield decided(draw, "yes", "yes", "sure", "yes", "sure", N=4)
    drafted, draft, target, _ = tokens(draw, 2, 4, ("yes", "yes"))
    yield call(drafted, draft, target, torch.zeros(2)).label("chances of 0")


@verify_draft.criterion("an int and a tensor; float64, any layout and device", points=0.5, check_types=True)
def _(draw):
    yield decided(draw, "yes", "no").tries("int", "lacks")
    yield decided(draw, "yes", *MANY).tries("int", "all")
    # A difference and its sum: float64's usual tolerance would not show a detour by float32
    for decisions, N in ((("yes", "no", "yes"), 5), (("sure", "yes"), 5), (("no", "yes"), 9), (("sure", "no"), 9)):
        case = decided(draw, *decisions, N=N, dtype=torch.float64).tolerance(1e-12)
        yield case.tries("int", "lacks" if "no" in decisions else "all")
    drafted, draft, target, chances = tokens(draw, 3, 5, ("yes", "no", "yes"))
    yield call(drafted, non_contiguous(draft), non_contiguous(target), chances).tries("int", "lacks").does_not_mutate()
    yield decided(draw, "yes", "no").tries("int", "lacks").device_only()


@verify_draft.sizes(points=0.25, M=(1, 3, 300), N=(2, 5, 300))
def _(draw, M, N):
    return decided(draw, *["yes"] * (M - 1), "no", N=N)
