"""`greedy`, a step: the most probable next id, again and again."""

from grading.exercises.exercise import EXERCISE, Script, ref, sample_model, step

from ..beam_search.cases import GARDEN

greedy = step(
    "greedy",
    see="Exercise: write greedily",
    hints=(
        "Which list does `step` need in the next round, and which two conditions end the loop?",
        "Start with `ids = [begin]`. Up to `max_length` times: append the most probable id, and stop if it is `end`.",
        "The shape of the code: `for _ in range(…):`, `ids.append(int(step(ids).argmax()))`, `if … == end: break`.",
    ),
)


@greedy.oracle
def greedy_oracle(step, begin, end, max_length):
    ids = [begin]
    while len(ids) <= max_length and (len(ids) == 1 or ids[-1] != end):
        ids.append(max(enumerate(step(ids).tolist()), key=lambda pair: pair[1])[0])
    return ids


def written(table, begin, end, max_length, fade=0.0):
    """A case: `greedy` with a `step` whose rows depend on the last id, or with `fade` on all ids."""
    s = Script(step=sample_model("story", table=table, fade=fade), begin=begin, end=end, max_length=max_length)
    s.call(EXERCISE, s.step, s.begin, s.end, s.max_length, name="ids")
    return s.case(ref("ids")).label(f"greedy(step, {begin}, {end}, {max_length}); {len(table)} ids")


greedy.example("the table of this section, 3 ids", written(GARDEN, 0, 3, 3))
greedy.example("it ends after one id", written(GARDEN, 2, 3, 5))


@greedy.criterion("the most probable id, until `end` or `max_length`")
def _(draw):
    for N, max_length in ((5, 4), (7, 6), (6, 1)):
        yield written(draw.normal(N, N), 0, 2, max_length)
    table = 0.3 * draw.normal(6, 6)
    for last, following in ((1, 4), (4, 3), (3, 5), (5, 2)):  # 1, 4, 3, 5, and 2 ends
        table[last, following] = 4.0
    yield written(table, 1, 2, 9)
    yield written(table, 1, 2, 4)
    yield written(table, 1, 2, 3)
    for _ in range(2):  # all ids count
        yield written(draw.normal(6, 6), 3, 5, 6, 0.7)
