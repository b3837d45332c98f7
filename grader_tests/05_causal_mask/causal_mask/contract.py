"""`causal_mask`: True where a key lies after its query."""

import torch

from grading.exercises.exercise import EXERCISE, Script, call, exercise, method

from ...shared import BUILT_IN

causal_mask = exercise(
    "causal_mask",
    forbidden=BUILT_IN,
    see="Exercise: `causal_mask(T)`",
    hints=(
        "Write down the row of the query at position 1, for T = 3. At which keys is it True?",
        "A cell is blocked where the position of the key is greater than that of the query. A column of positions, "
        "compared with a row of positions, gives the whole table at once.",
        "`torch.arange(T)` gives the positions. Turn one copy of them into a column with `[:, None]`, and compare. "
        "Rows are queries, columns are keys.",
    ),
)


@causal_mask.oracle
def causal_mask_oracle(T):
    return torch.ones(T, T, dtype=torch.bool).triu(1)


causal_mask.example("three words", call(3), check_types=True)
causal_mask.example("a single word", call(1))


@causal_mask.criterion("True above the diagonal", points=1.25)
def _(draw):
    yield call(6)
    yield call(4)
    yield call(1)
    yield call(T=draw.integer(7, 12))
    # A mask that is cached and returned again may have been changed by its last user; no other case has this size
    script = Script()
    script.call(method(script.call(EXERCISE, 13, name="mask"), "fill_"), True)
    script.call(EXERCISE, 13, name="result")
    yield script.case().tries("new").label("causal_mask(13), after an earlier result was changed in place")


@causal_mask.criterion("boolean", points=0.5, tries="boolean", check_types=True)
def _(draw):
    yield call(5)
    yield call(draw.integer(7, 12))


@causal_mask.sizes(points=0.25, T=(1, 5, 1300))
def _(draw, T):
    return call(T)
