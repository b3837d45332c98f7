"""Building blocks of the test cases of `necessary_heads`.

A case is a model whose heads have planted jobs (`sample_models.PlantedCircuits`). The order of the heads in a layer,
the text, and by how much each head matters are drawn.
"""

import math

import torch

from grading.exercises.exercise import EXERCISE, Script, helper, ref, sample_model


def planted(draw, *layers, known=0.0, scores=None, shuffled=True, weak=False):
    """A script that asks for the necessary heads of a model with these jobs, layer by layer."""
    n_layers, n_heads = len(layers), len(layers[0])
    jobs = [[row[i] for i in (draw.permutation(n_heads).tolist() if shuffled else range(n_heads))] for row in layers]
    n_tokens = draw.integer(10, 15)
    # Heads that do nothing look harder than those that do the work. A backup does better than what it replaces.
    # One used head that is left takes the loss to 1.8 at most; a weak one leaves it above half of chance
    unused, backup = (torch.tensor([[job.startswith(kind) for job in row] for row in jobs]) for kind in ("unu", "back"))
    strengths = torch.full(unused.shape, 2.0) if weak else draw.uniform(n_layers, n_heads, low=2.5, high=5.5)
    return script(
        jobs=jobs,
        text=1 + draw.permutation(n_tokens - 2)[: draw.integer(6, n_tokens - 2)],
        n_tokens=n_tokens,
        strengths=torch.where(backup, 7.0, strengths),
        looks=draw.uniform(n_layers, n_heads, low=0.6, high=0.75) + 0.2 * (unused | backup),
        known=known,
        scores=scores,
    )


def script(scores=None, **model):
    """A script of one call; `scores` are those of the model, unless they are given."""
    given = {} if scores is None else {"scores": scores}
    s = Script(loss_without=sample_model("PlantedCircuits", **model), chance=math.log(model["n_tokens"]), **given)
    if not given:
        s.call(helper("attribute"), s.loss_without, "scores", name="scores")
    s.call(EXERCISE, s.loss_without, ref("scores"), s.chance, name="result")
    return s


def judged(s):
    """The case: what the answer names is removed, and the loss measured."""
    given = {"model": dict(s.inputs["loss_without"].kwargs), "chance": s.inputs["chance"]}
    return observed(s).check_with("removes_the_behaviour", **given)


def observed(s):
    """The case of a call that has to raise, or not."""
    jobs = s.inputs["loss_without"].kwargs["jobs"]
    sizes = f"{len(jobs)} layers of {len(jobs[0])} heads"
    return s.case(ref("result")).label(f"necessary_heads(loss_without, scores, {s.inputs['chance']:.2f}); {sizes}")
