"""`mean_log_probability`, a step: the mean log-probability per token of a sequence."""

import torch

from grading.exercises.exercise import EXERCISE, Script, ref, sample_model, step

from ..beam_search.cases import GARDEN

mean_log_probability = step(
    "mean_log_probability",
    see="Exercise: the mean log-probability (extra)",
    hints=(
        "Which ids does `step` get when it predicts `ids[t]`, and for which t is there a prediction?",
        "For t from 1 on, `step(ids[:t])` gives the log-probabilities of all ids at position t; take that of `ids[t]`. "
        "There is one fewer of these than ids.",
        "The shape of the code: `sum(float(step(<ids so far>)[<the next>]) for t in range(1, len(ids))) / <how many>`.",
    ),
)


@mean_log_probability.oracle
def mean_log_probability_oracle(step, ids):
    chosen = [step(ids[:t])[ids[t]].item() for t in range(1, len(ids))]
    return sum(chosen) / len(chosen)


def measured(table, ids, fade=0.0):
    """A case: the mean of `ids`, with a `step` whose rows depend on the last id, or with `fade` on all ids."""
    s = Script(step=sample_model("story", table=table, fade=fade), ids=ids)
    s.call(EXERCISE, s.step, s.ids, name="mean")
    return s.case(ref("mean")).label(f"mean_log_probability(step, {ids})")


mean_log_probability.example("the worked example", measured(GARDEN, [0, 2, 3]))
mean_log_probability.example("a sequence without `end`", measured(GARDEN, [0, 1, 0, 1]))


@mean_log_probability.criterion("the mean over the tokens after `begin`")
def _(draw):
    for N, length in ((5, 6), (7, 3), (6, 2)):
        yield measured(draw.normal(N, N), draw.permutation(N)[:length].tolist(), 0.6)
    yield measured(draw.normal(4, 4), [0, 3, 3, 1, 2])
    yield measured(draw.normal(4, 4, scale=3.0), torch.tensor([1, 2, 0] * 5).tolist(), 0.5)
