"""`count_pairs`, a step: how often each pair of ids are neighbours."""

from grading.exercises.exercise import call, step

count_pairs = step(
    "count_pairs",
    see="Exercise: count the pairs",
    hints=(
        "A list of `T` ids has `T - 1` pairs of neighbours. How do you walk through a list and through the same list "
        "without its first entry at once?",
        "The shape of the code: for each pair of `zip(ids, ids[1:])`, add 1 to its count, which is 0 at first.",
    ),
)


@count_pairs.oracle
def count_pairs_oracle(ids):
    counts = {}
    for i in range(len(ids) - 1):
        pair = ids[i], ids[i + 1]
        counts[pair] = counts.get(pair, 0) + 1
    return counts


count_pairs.example("three pairs, one twice", call([1, 2, 1, 2, 5]))
count_pairs.example("overlapping pairs", call([7, 7, 7]))
count_pairs.example("no pair", call([4]))


@count_pairs.criterion("the counts")
def _(draw):
    for size in (7, 12):
        yield call(draw.integers(0, 4, size).tolist())
    yield call([3] * draw.integer(4, 8))
    yield call(draw.integers(0, 300, 6).tolist()).does_not_mutate()
    yield call([])
    yield call([5])
