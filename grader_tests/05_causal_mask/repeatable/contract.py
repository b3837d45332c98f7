"""`repeatable`, a step: a layer that draws the same random numbers in each call."""

import torch

from grading.exercises.exercise import EXERCISE, Script, ref, sample_model, step

repeatable = step(
    "repeatable",
    see="Exercise: make it repeatable (extra)",
    hints=(
        "What has to happen before *every* call of the layer, not only before the first?",
        "Define a function inside the function: `def f(x):`. It seeds, calls the layer, and returns its "
        "output. Return `f` itself, without calling it.",
    ),
)


@repeatable.oracle
def repeatable_oracle(layer, seed):
    def same(x):
        torch.manual_seed(seed)
        return layer(x)

    return same


def twice(x, p, seed, text):
    """The results of two calls of the function that is made."""
    s = Script(layer=sample_model("Noisy", p=p), x=x)
    made = s.call(EXERCISE, s.layer, seed, name="f")
    s.call(made, s.x, name="first")
    s.call(made, s.x, name="second")
    return s.case(ref("first"), ref("second")).label(text)


@repeatable.example("two calls, dropout 0.5")
def _():
    yield twice(torch.ones(2, 4), 0.5, 3, "f = repeatable(layer, 3); f(x), then f(x) again; a layer with dropout 0.5")


@repeatable.example("another seed")
def _():
    yield twice(torch.ones(3, 4), 0.5, 4, "f = repeatable(layer, 4); f(x), then f(x) again; a layer with dropout 0.5")


@repeatable.criterion("the same random numbers in each call")
def _(draw):
    for p, seed in ((0.5, 11), (0.3, 12)):
        yield twice(draw.normal(4, 5), p, seed, f"f = repeatable(layer, {seed}); f(x), then f(x) again; dropout {p}")
