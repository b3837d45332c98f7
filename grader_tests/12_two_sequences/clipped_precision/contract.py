"""`clipped_precision`, a challenge: the share of n-grams found in the reference."""

from grading.exercises.exercise import call, challenge

clipped_precision = challenge(
    "clipped_precision",
    stars=2,
    see="Challenge: `clipped_precision(written, reference, n)` (extra)",
    hints=(
        "Which pairs of neighbours are there in (4, 4, 4, 5)? How many sequences of n neighbours has a list of length "
        "T, and how many, if it is shorter than n?",
        "Count how often each n-gram is in the written text, and how often in the reference. Each one earns the "
        "smaller of its two counts.",
        "`collections.Counter` counts anything that can be a key, tuples of tokens among them; for a key that it does "
        "not know it says 0. Sum `min(…, …)` over the keys, and divide by the number of all n-grams that were written.",
    ),
)


@clipped_precision.oracle
def clipped_precision_oracle(written, reference, n):
    if n < 1:
        raise ValueError(f"n is {n}, and must be at least 1")
    mine, theirs = ([tokens[i : i + n] for i in range(len(tokens) - n + 1)] for tokens in (written, reference))
    found = [mine[:i].count(gram) < theirs.count(gram) for i, gram in enumerate(mine)]
    return sum(found) / len(found) if found else 0.0


clipped_precision.example("single tokens", call([4, 4, 4, 5], [4, 5, 4], 1), check_types=True)
clipped_precision.example("pairs", call([4, 4, 4, 5], [4, 5, 4], 2))
clipped_precision.example("one word in a loop", call([7] * 7, [7, 3, 8, 7], n=1))
clipped_precision.example("too short for a pair", call([6], [6, 2], 2))
clipped_precision.example("no n-grams of no token", call([6, 2], [6, 2], 0).raises("n"))


def mixed(draw, length, kinds):
    """A sentence with at most this many different tokens."""
    return draw.integers(3, 3 + kinds, length).tolist()


@clipped_precision.criterion("the share of n-grams that the reference has", points=0.75)
def _(draw):
    tokens = (20 + draw.permutation(12)).tolist()
    strange = (50 + draw.permutation(4)).tolist()
    written = [*tokens[:4], strange[0], *tokens[6:9], strange[1]]
    for n in (1, 2, 3):
        yield call(written, tokens, n)
    yield call(tokens, written, 2)
    yield call(tokens[6:] + tokens[:6], tokens, n=2)  # the same tokens, but one new pair
    yield call([tokens[1], tokens[0], *tokens[2:7]], tokens, 2)  # two neighbours exchanged
    yield call(tokens, tokens, 4)
    yield call(strange, tokens, 1)


@clipped_precision.criterion("each counts no more often than there", points=0.5)
def _(draw):
    yield call([5, 5, 5, 9, 5, 5], [5, 9, 5, 5, 2], 1)
    yield call([5, 5, 5, 9, 5, 5], [5, 9, 5, 5, 2], 2)
    yield call([3, 8, 3, 8, 3, 8, 3], [8, 3, 8, 8, 1, 3], n=2)
    yield call([6, 6, 6, 6], [6, 6, 6, 6, 6, 6], 2)
    yield call(mixed(draw, 14, 3), mixed(draw, 9, 3), 1)
    yield call(sorted(mixed(draw, 30, 4)), sorted(mixed(draw, 12, 4)), 3)  # sorted, so that n-grams have a fixed order


@clipped_precision.criterion("shorter than n", points=0.25)
def _(draw):
    yield call([4, 5], [4, 5, 6], 3)
    yield call([], [4, 5, 6], 1)
    yield call([4, 5, 6], [4, 5], 3)
    yield call([4, 5, 6], [], 1)
    yield call([4, 5, 6], [4, 5, 6], 3)


@clipped_precision.criterion("ValueError if n < 1", points=0.25)
def _(draw):
    yield call([4, 5], [4, 5], 0).raises("n")
    yield call([4, 5], [4, 5], -draw.integer(1, 4)).raises("n")
    yield call([4, 5], [4, 5], 1).does_not_raise()


@clipped_precision.criterion("a float, the lists left alone", points=0.25, check_types=True)
def _(draw):
    yield call([4, 4, 5, 7], [4, 5, 4], 1).does_not_mutate()
    yield call([4, 5], [4, 5], 2).does_not_mutate()
    yield call([4], [5], 1)
    yield call([4], [4, 5], 2)
