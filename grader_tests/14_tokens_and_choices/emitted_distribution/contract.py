"""`emitted_distribution`: what speculative decoding really emits, with any `verify`."""

import torch

from grading.exercises.exercise import EXERCISE, Script, call, exercise, ref, sample_model

emitted_distribution = exercise(
    "emitted_distribution",
    see="Exercise: `emitted_distribution(verify, draft, target)`",
    hints=(
        "A token is drafted with probability 1/2 and accepted below a chance of 0.4. With what probability is it "
        "drafted and accepted? And drafted and rejected?",
        "For each token that may be drafted, find the threshold of `verify`, by halving an interval of chances, and "
        "what it gives when it rejects. Each token adds to its own entry what is accepted, and to all entries what is "
        "not.",
        "A loop over the tokens. In it, halve the interval from 0 to 1 about 15 times: ask `verify` at its middle, "
        "with arguments of the shapes (1,), (1, N), (2, N) and (1,), and keep the distribution of the last rejection. "
        "Then divide the probability of drafting the token between its own entry and that distribution.",
    ),
)


@emitted_distribution.oracle
def emitted_distribution_oracle(verify, draft, target):
    emitted = torch.zeros_like(draft)
    for token in range(len(draft)):
        below, above, other = 0.0, 1.0, None
        while above - below > 1e-6:
            chance = (below + above) / 2
            asked = (
                torch.tensor([token], device=draft.device),
                draft[None],
                target.expand(2, -1),
                draft.new_tensor([chance]),
            )
            accepted, probabilities = verify(*asked)
            if accepted:
                below = chance
            else:
                above, other = chance, probabilities
        emitted[token] += draft[token] * above
        if other is not None:
            emitted += draft[token] * (1 - above) * other
    return emitted


def speculative(draft, target):
    """The decisions of a right `verify`: thresholds (N,), and for each token what the draft lacks."""
    missing = (target - draft).clamp(min=0)
    share = missing / missing.sum() if missing.sum() > 0 else target
    return (target / draft).clamp(max=1.0), share.repeat(len(draft), 1)  # no views: runs copy it in place


def deciding(draft, target, thresholds, corrected):
    """A call with a `verify` that decides like this; the tolerance is the contract's 1e-3, since N is 5 at most."""
    verify = sample_model("verifier", draft=draft, target=target, thresholds=thresholds, corrected=corrected)
    # The largest probability is at least 1/5, so that 5e-3 of it is at least 1e-3
    return call(verify, draft, target).tolerance(0.0, 5e-3).timeout(20)


DRAFT, TARGET = torch.tensor([0.75, 0.25]), torch.tensor([0.5, 0.5])
EVEN = torch.full((2, 2), 0.5)

emitted_distribution.example("a right `verify`", deciding(DRAFT, TARGET, *speculative(DRAFT, TARGET)))
emitted_distribution.example("one that accepts everything", deciding(DRAFT, TARGET, torch.ones(2), EVEN))
emitted_distribution.example("one that rejects everything", deciding(DRAFT, TARGET, torch.zeros(2), EVEN))
emitted_distribution.example(
    "one that corrects by the target", deciding(DRAFT, TARGET, torch.tensor([2 / 3, 1.0]), EVEN)
)
emitted_distribution.example(
    "float64 stays float64",
    deciding(DRAFT.double(), TARGET.double(), torch.tensor([0.5, 0.25]).double(), torch.eye(2).flip(0).double()),
    check_types=True,
)


def drawn(draw, N):
    return draw.distribution(N), draw.distribution(N)


def halved(draw, N, dtype=torch.float32):
    """A draft and a target for which a right `verify` accepts two tokens half of the time, and the others always.

    Such thresholds are found by any search, so that what is wrong shows alike however fine the search is.
    """
    draft, order = draw.distribution(N, dtype=torch.float64), draw.permutation(N)
    target, gains = draft.clone(), draw.distribution(N - 2, dtype=torch.float64)
    target[order[:2]] /= 2
    target[order[2:]] += gains * target[order[:2]].sum()
    return draft.to(dtype), target.to(dtype)


def half(draw, N, threshold=0.5):
    """What `deciding` takes; a rejected token always gives way to the rarest one, so that any shift is seen.

    What the draft lacks is another token, the most frequent one.
    """
    draft, tokens = draw.distribution(N), torch.eye(N)
    target = (draft + tokens[draft.argmax()]) / 2
    return draft, target, torch.full((N,), threshold), tokens[draft.argmin()].repeat(N, 1)


@emitted_distribution.criterion(
    "a right `verify` emits the target, one that accepts everything the draft", points=0.2, tries="emitted second"
)
def _(draw):
    draft, target = drawn(draw, 4)
    decisions = torch.ones(4), draw.distribution(4, 4)
    yield deciding(draft, target, *decisions).label("a `verify` that accepts everything")
    for N in (3, 5):
        draft, target = halved(draw, N)
        yield deciding(draft, target, *speculative(draft, target)).label(f"a right `verify`, {N} tokens")
    draft = draw.distribution(4)
    yield deciding(draft, draft, *speculative(draft, draft)).label("a right `verify`; the draft is the target")
    # Each draws some tokens that the other never draws; the one that both draw has the same probability
    order = draw.permutation(5)
    draft, target = torch.tensor([0.5, 0.25, 0.25, 0, 0])[order], torch.tensor([0.5, 0, 0, 0.375, 0.125])[order]
    case = deciding(draft, target, *speculative(draft, target)).tries("emitted", "exact", "second")
    yield case.label("a right `verify`; tokens of which one has none")


@emitted_distribution.criterion("a wrong `verify` emits something else", points=0.2, tries="emitted second")
def _(draw):
    draft, target = halved(draw, 4)
    thresholds, _ = speculative(draft, target)
    yield deciding(draft, target, thresholds, target.repeat(4, 1)).label("a `verify` that corrects by the target")
    yield deciding(*half(draw, 4)).label("a `verify` that accepts each token half of the time")
    for N in (3, 5):
        (draft, target), others = drawn(draw, N), draw.distribution(N, N) * (1 - torch.eye(N))
        # The most frequent token is never accepted, and never given instead, so any higher threshold shows
        thresholds = torch.tensor([0.0, 0.5, 0.5, 1.0, 0.0][:N])[draft.argsort(descending=True).argsort()]
        case = deciding(draft, target, thresholds, others / others.sum(-1, keepdim=True))
        text = f"a `verify` that decides otherwise for each of {N} tokens"
        yield case.tries("emitted", "exact", "second").label(text)


@emitted_distribution.criterion("exact to 1e-3 for any thresholds, without chance", points=0.2, tries="exact second")
def _(draw):
    draft, target = drawn(draw, 4)
    thresholds, corrected = speculative(draft, target)
    every = target.repeat(4, 1)
    for text, decisions in {
        "is right": (thresholds, corrected),
        "rejects everything, and corrects by the target": (torch.zeros(4), every),
        "rejects everything, and corrects by what the draft lacks": (torch.zeros(4), corrected),
        "accepts with the target's own probability": (target, corrected),
        "has the ratio upside down": ((draft / target).clamp(max=1.0), corrected),
    }.items():
        yield deciding(draft, target, *decisions).label(f"a `verify` that {text}")
    # Whatever is found by few halvings, or on a grid of up to 250 chances, is off by at least 1/256
    yield deciding(*half(draw, 5, 127 / 256)).label("a `verify` that accepts a little less than half of the time")
    decisions = draw.uniform(3, low=0.05, high=0.95), draw.distribution(3, 3)
    yield deciding(*drawn(draw, 3), *decisions).label("a `verify` with any thresholds for 3 tokens")
    low = draw.uniform(3, low=0.002, high=0.1)
    yield deciding(*drawn(draw, 3), low, draw.distribution(3, 3)).label("a `verify` that accepts very seldom")
    yield deciding(*drawn(draw, 3), 1 - low, draw.distribution(3, 3)).label("a `verify` that rejects very seldom")
    yield deciding(*drawn(draw, 3), draw.permutation(3) / 2.0, draw.distribution(3, 3)).label(
        "a `verify` that always, never and half of the time accepts"
    )
    draft, target = drawn(draw, 5)
    given = draw.uniform(5, low=0.2, high=0.8), draw.distribution(5, 5)
    s = Script(draft=draft, target=target, same_draft=draft.clone(), same_target=target.clone())
    verify = sample_model("verifier", draft=draft, target=target, thresholds=given[0], corrected=given[1])
    s.call(EXERCISE, verify, s.draft, s.target, name="one")
    s.call(EXERCISE, verify, s.same_draft, s.same_target, name="again")
    made = s.case(ref("one"), ref("again")).check_with("deterministic", tag="draws samples").timeout(20)
    yield made.label("two calls with the same `verify`")


@emitted_distribution.criterion("a tensor (N,) of the dtype of `draft`", points=0.2, tries="second", check_types=True)
def _(draw):
    yield deciding(*half(draw, 3)).does_not_mutate().label("a `verify` that accepts half of the time, torch.float32")
    # In float64 a finer search gives other numbers; this case shows the dtype alone
    draft, target = (draw.distribution(3, dtype=torch.float64) for _ in range(2))
    decisions = torch.ones(3, dtype=torch.float64), draw.distribution(3, 3, dtype=torch.float64)
    yield deciding(draft, target, *decisions).label("a `verify` that accepts everything, torch.float64")


@emitted_distribution.sizes(points=0.2, N=(1, 3, 5))  # a right answer may ask at thousands of chances for each token
def _(draw, N):
    return deciding(*half(draw, N)).label(f"a `verify` that accepts half of the time, {N} tokens")
