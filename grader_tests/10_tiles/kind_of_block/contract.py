"""`kind_of_block`, a step: what causal attention sees of a block."""

from grading.exercises.exercise import call, step

kind_of_block = step(
    "kind_of_block",
    see="Exercise: the kind of a block",
    hints=(
        "Which query of the block sees the most keys, and which sees the fewest?",
        "Nothing is visible if even the last query does not see the first key. Everything is visible if even the first "
        "query sees the last key.",
    ),
)


@kind_of_block.oracle
def kind_of_block_oracle(first_query, last_query, first_key, last_key):
    seen = [j <= i for i in range(first_query, last_query + 1) for j in range(first_key, last_key + 1)]
    return "open" if all(seen) else "mixed" if any(seen) else "blocked"


kind_of_block.example("below, on and above the diagonal", call(4, 7, 0, 3), call(4, 7, 4, 7), call(4, 7, 8, 11))
kind_of_block.example("one query and one key", call(3, 3, 3, 3), call(3, 3, 4, 4))


@kind_of_block.criterion("below, on and above the diagonal, of any sizes")
def _(draw):
    for tile in (2, 5):
        for query, key in ((2, 0), (1, 1), (0, 2), (0, 1), (1, 0)):
            yield call(query * tile, (query + 1) * tile - 1, key * tile, (key + 1) * tile - 1)
    start = int(draw.integers(0, 4, 1))
    yield call(start, start + 6, start + 6, start + 9).label("only the last query sees only the first key")
    yield call(start, start + 6, start + 7, start + 9)
    yield call(start + 5, start + 7, 0, start + 5).label("the first query sees exactly the last key")
    yield call(start + 5, start + 7, 0, start + 6)
    yield call(start, start + 9, 0, start + 9)
    yield call(6, 6, 2, 9)
    yield call(2, 9, 6, 6)
