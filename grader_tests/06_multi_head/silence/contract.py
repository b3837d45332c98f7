"""`silence`, a step: the outputs of all heads, some of them set to 0."""

import torch

from grading.exercises.exercise import call, step

silence = step(
    "silence",
    see="Exercise: silent heads (extra)",
    hints=(
        "Which dimension counts the heads? What would happen to the caller's tensor if you wrote into it?",
        "Copy with `.clone()`, then set `[:, heads]` to 0.",
    ),
)


@silence.oracle
def silence_oracle(outputs, heads):
    return torch.stack([o * float(h not in heads) for h, o in enumerate(outputs.unbind(1))], dim=1)


silence.example("two heads, one word, one silent head", call(torch.tensor([[[[1.0, 2.0]], [[3.0, 4.0]]]]), [0]))
silence.example("three heads, two silent ones", call(torch.arange(1.0, 13.0).view(1, 3, 2, 2), [0, 2]))
silence.example("no silent head", call(torch.ones(1, 2, 1, 1), []))


@silence.criterion("the named heads are 0, the others stay")
def _(draw):
    yield call(draw.normal(2, 4, 5, 3), [1])
    yield call(draw.normal(3, 4, 2, 2), [3, 0])
    yield call(draw.normal(2, 3, 4, 5), [0, 1, 2])
    yield call(draw.normal(2, 4, 3, 2), [2]).does_not_mutate()
