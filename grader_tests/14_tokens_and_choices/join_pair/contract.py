"""`join_pair`, a step: a pair of ids becomes one id wherever it occurs."""

from grading.exercises.exercise import call, step

join_pair = step(
    "join_pair",
    see="Exercise: join a pair",
    hints=(
        "Where does your walk through the list go on after it has found the pair? And where after it has not?",
        "The shape of the code: a `while` loop over a position `i`, and a new list. If the ids at `i` and `i + 1` are "
        "the pair, append `new` and go on by two; otherwise append the id at `i` and go on by one.",
    ),
)


@join_pair.oracle
def join_pair_oracle(ids, pair, new):
    joined, i = [], 0
    while i < len(ids):
        found = i + 1 < len(ids) and ids[i] == pair[0] and ids[i + 1] == pair[1]
        joined.append(new if found else ids[i])
        i += 2 if found else 1
    return joined


join_pair.example("twice", call([1, 2, 5, 1, 2], (1, 2), 256))
join_pair.example("three in a row", call([7, 7, 7], (7, 7), 256))
join_pair.example("the other order", call([2, 1, 1], (1, 2), 256))


@join_pair.criterion("the new list")
def _(draw):
    for size in (9, 14):
        yield call(draw.integers(0, 3, size).tolist(), (0, 1), 256)
    yield call([4, *[3] * draw.integer(4, 8), 5], (3, 3), 300)
    yield call([1, 2, *draw.integers(3, 9, 3).tolist(), 1, 2], (1, 2), 257)
    yield call([1, 2, 1, *draw.integers(3, 9, 3).tolist(), 1], (1, 2), 257)
    yield call([1, 1, 2, 2, 1, 2], (1, 2), 260).does_not_mutate()
    yield call([256, 3, 256, 3], (256, 3), 257)
    yield call([], (1, 2), 256)
    yield call([5], (5, 5), 256)
