"""`necessary_heads`: heads that a behaviour needs, named by the learner and removed by the grader."""

import torch

from grading.exercises.exercise import exercise

from ..common import CLAIMS
from .cases import judged, observed, planted, script

necessary_heads = exercise(
    "necessary_heads",
    see=CLAIMS,
    hints=(
        "Two heads do the same work. What does the loss do if you remove one of them, and what if you remove both? So "
        "from which end do you have to begin: from no head removed, or from all?",
        "Begin with a list of all heads: without them the behaviour is gone. Then take one head after another off the "
        "list, which puts it back into the model. If the behaviour stays gone, leave it off for good; if it comes "
        "back, the head has to stay on the list.",
        "`named = [(layer, head) for layer in … for head in …]` and a check that raises ValueError. Then `for pair in "
        "list(named):`, with a list `fewer` of all others that are still named, and "
        "`if loss_without(fewer) >= …: named = …`.",
    ),
)


@necessary_heads.oracle
def necessary_heads_oracle(loss_without, scores, chance):
    candidates = [(layer, head) for layer in range(scores.shape[0]) for head in range(scores.shape[1])]
    if loss_without(candidates) < chance:
        raise ValueError(f"chance is {chance}; without any head the loss is only {loss_without(candidates)}")
    needed = []
    while loss_without(needed) < chance:
        # The last head of the shortest list that is enough, with those found before, is needed
        enough = next(n for n in range(len(candidates) + 1) if loss_without(needed + candidates[:n]) >= chance)
        needed.append(candidates[enough - 1])
        candidates = candidates[: enough - 1]
    return needed


PAPER = {"text": torch.tensor([3, 1, 4, 2, 5]), "n_tokens": 8}


def on_paper(jobs, known=0.0):
    shape = (len(jobs), len(jobs[0]))
    looks = torch.tensor([[0.9 if job.startswith("unused") else 0.7 for job in row] for row in jobs])
    return script(jobs=jobs, strengths=torch.full(shape, 4.0), looks=looks, known=known, **PAPER)


@necessary_heads.example("all goes through one head")
def _():
    yield judged(on_paper([["idle", "previous 0"], ["induction 0", "induction 0"]]))


@necessary_heads.example("two heads write, two heads read, and either of two is enough")
def _():
    yield judged(on_paper([["previous 0", "idle", "previous 0"], ["induction 0", "induction 0", "idle"]]))


@necessary_heads.example("the highest score is of a head that nothing reads")
def _():
    yield judged(on_paper([["previous 0", "idle", "previous 0"], ["induction 0", "idle", "unused 0"]]))


@necessary_heads.example("no head explains it")
def _():
    s = on_paper([["previous 0", "idle"], ["induction 0", "unused 0"]], known=3.0)
    yield observed(s).raises("chance")


@necessary_heads.criterion("one head that everything goes through", points=0.5)
def _(draw):
    p, i, idle, question = "previous 0", "induction 0", "idle", "question"
    yield judged(planted(draw, [p, p, idle], [i, idle, question]))
    yield judged(planted(draw, [p, idle, idle, question], [i, i, idle, i]))
    yield judged(planted(draw, [idle, question], [p, idle], [i, i]))
    yield judged(planted(draw, [idle, p], ["distance", question]))
    yield judged(planted(draw, ["distance", idle, idle], [question, idle, idle]))
    yield judged(planted(draw, [p, p, p, idle, idle], [idle, i, idle, idle, question]))


@necessary_heads.criterion("heads that replace each other, or work in a row", points=1.5)
def _(draw):
    p, q, i, j, idle, question = "previous 0", "previous 1", "induction 0", "induction 1", "idle", "question"
    yield judged(planted(draw, [p, p, idle, idle, idle], [i, i, i, idle, question]))
    yield judged(planted(draw, [p, idle, idle, idle], [i, idle, idle, question]))
    yield judged(planted(draw, [p, q, idle, question], [i, j, idle, idle]))
    yield judged(planted(draw, [p, p, idle], [i, idle, idle], ["backup 0", i, question]))
    yield judged(planted(draw, [idle, p], [p, idle], [i, "backup 0"], [idle, i]))
    yield judged(planted(draw, [p, p, q, idle], [i, j, j, idle], ["backup 0", idle, idle, question]))
    yield judged(planted(draw, [p, idle], [i, question], [idle, "backup 0"]))
    yield judged(planted(draw, ["distance", p, idle], [i, i, question]))
    yield judged(planted(draw, [p, "distance", idle], [i, "distance", question], weak=True))
    # No single head matters: whoever takes the first of equals begins with one that does nothing
    yield judged(planted(draw, [idle, p, p], [idle, i, question], [question, idle, "backup 0"], shuffled=False))
    yield judged(planted(draw, [p, p, idle, idle], [i, "distance", "distance", question]))
    # One head matters, then no single one: whoever adds heads adds an idle one after one that is needed
    layers = [idle, "distance", p, p], [i, idle, idle, question], ["backup 0", idle, idle, idle]
    yield judged(planted(draw, *layers, shuffled=False))


@necessary_heads.criterion("heads that only look right, or matter elsewhere", points=0.5)
def _(draw):
    p, q, i, unused, idle, question = "previous 0", "previous 1", "induction 0", "unused 0", "idle", "question"
    yield judged(planted(draw, [p, p, idle], [unused, i, question]))
    yield judged(planted(draw, [p, q, question, idle], [unused, i, i, unused]))
    yield judged(planted(draw, [p, p], [unused, question], [i, unused]))
    yield judged(planted(draw, [p, question, q, idle, q], [i, i, unused, idle, unused]))


@necessary_heads.criterion(
    "an empty list where nothing is left to remove, and ValueError where no head is to blame", points=0.5
)
def _(draw):
    p, i, unused, idle, question = "previous 0", "induction 0", "unused 0", "idle", "question"
    yield judged(planted(draw, [p, idle, idle], [unused, question, unused]))
    yield judged(planted(draw, [idle, idle], [i, question], [idle, i]))
    for layers in ([p, p, idle], [i, unused, i]), ([p, idle], [i, i], [question, idle]):
        yield observed(planted(draw, *layers, known=draw.number(2.5, 5.0))).raises("chance")
    yield observed(planted(draw, [p, p, idle], [i, i, question])).does_not_raise()
    yield judged(planted(draw, [p, idle], [i, i], [idle, question], scores=draw.uniform(3, 2))).does_not_mutate()
