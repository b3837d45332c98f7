"""Checkers of functions that count, load, evaluate or train a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from ..harness.program import Observation
from .chance import tagged
from .registry import Problem, checker

State = Mapping[str, torch.Tensor]


# ---------------------------------------------------------------------------------------------------------- counting


@checker
def equal_number(seen: Observation, exact: Observation) -> Problem:
    """The number is right, whatever its type, which has a criterion of its own."""
    found, right = float(seen.values["result"]), exact.values["result"]
    return None if found == right else f"the count is too {'small' if found < right else 'large'}"


@checker
def returns_int_without_side_effects(seen: Observation, exact: Observation) -> Problem:
    """Counting gives a repeatable Python int for each module, and changes nothing."""
    got = seen.values
    if type(got["first"]) is not int:
        return "the result is not a Python int"
    if got["first"] != got["second"]:
        return "counting the same module twice gives two different numbers"
    if got["first"] == got["of another"]:
        return "two modules of different sizes have the same count"
    if any(not torch.equal(got["state"][name].double(), numbers) for name, numbers in exact.values["state"].items()):
        return "counting changes the parameters of the module"
    same = all(got[of] == exact.values[of] for of in ("trainable", "modes"))
    return None if same else "counting changes the module's mode, or whether its parameters are trainable"


# ----------------------------------------------------------------------------------------------------------- loading


def _nothing_came_over(seen: Observation, theirs: State) -> str | None:
    """A problem if no numbers of theirs are in ours or in the result.

    Otherwise, an answer that loads nothing would have no side effects and pass.
    """
    numbers = torch.cat([one.flatten() for one in theirs.values()])
    held = [*seen.values["loaded"].items(), *seen.values["given"].items()]
    weights = [weight for name, weight in held if name not in theirs]
    if any(torch.isin(weight, numbers).double().mean() > 0.5 for weight in weights):
        return None
    return "nothing was copied into our module or into the result"


@checker
def input_dict_unchanged(seen: Observation, exact: Observation, name: str) -> Problem:
    """The input dict `name` stays unchanged when the model filled from it changes."""
    for key, right in exact.values[name].items():
        got = seen.values[name].get(key)
        if got is None:
            return tagged("taken out", f"{name} no longer has {key!r}")
        if got.shape != right.shape:
            told = f"the shape of {key!r} in {name} changed from {tuple(right.shape)} to {tuple(got.shape)}"
            return tagged("turned", told) if got.shape == right.shape[::-1] else told
        if not torch.equal(got.double(), right):
            return tagged("shared", f"{key!r} in {name} changes when the model changes")
    return None


@checker
def independent_of_source(seen: Observation, exact: Observation) -> Problem:
    """A model's tensors, "before" and "after", stay when those it copied change."""
    before, after = seen.values["before"], seen.values["after"]
    if not any(torch.equal(before[name].double(), right) for name, right in exact.values["before"].items()):
        return "nothing was copied"
    for name in exact.values["before"]:
        if not torch.equal(before[name], after[name]):
            return tagged("shared", f"{name!r} of the model changes when the checkpoint changes")
    return None


@checker
def foreign_parameters_unchanged(seen: Observation, exact: Observation, theirs: State) -> Problem:
    """Their weights are the same to the bit; gradients, if observed, to rounding."""
    if problem := _nothing_came_over(seen, theirs):
        return problem
    for name, right in exact.values["kept"].items():
        if not torch.equal(seen.values["kept"][name].double(), right):
            return f"their {name} was changed"
    for name, right in exact.values.get("gradients", {}).items():
        got = seen.values["gradients"].get(name)
        if got is None or not torch.allclose(got.double(), right, rtol=1e-3, atol=1e-4 * float(right.abs().max())):
            return f"their {name} has no gradient, or a wrong one"
    return (
        None if seen.values.get("modes") == exact.values.get("modes") else "the call changed the mode of their module"
    )


@checker
def own_parameters_unchanged(seen: Observation, exact: Observation, theirs: State) -> Problem:
    """Our parameters do not change when theirs are changed."""
    if problem := _nothing_came_over(seen, theirs):
        return problem
    before, after = seen.values["loaded"], seen.values["after"]
    same = all(torch.equal(before[name], after[name]) for name in exact.values["after"])
    return None if same else "our module changes when theirs is changed"


@checker
def own_trainable_module(seen: Observation, exact: Observation, theirs: State) -> Problem:
    """The result is our own module, and its weights get gradients."""
    if problem := _nothing_came_over(seen, theirs):
        return problem
    for name, right in exact.values["filled"].items():
        got = seen.values["filled"].get(name)
        if got is None or not torch.equal(got.double(), right):
            return "the result is not our module: filling ours with 9 does not change it"
        gradient = seen.values["gradients"].get(name)
        if gradient is None or not gradient.any():
            return f"no gradient reaches our {name}, so it cannot be trained"
    return None


# -------------------------------------------------------------------------------------------------------- evaluating


def _measures(seen: Observation, model: str = "model") -> list[float]:
    """The results of six evaluations, each with different targets."""
    return [float(seen.values[f"{model} {k}"]) for k in range(6)]


def _looks_at_nothing(seen: Observation) -> str | None:
    """A problem if the evaluation ignores the targets or the model."""
    found = _measures(seen)
    if len(set(found)) == 1:
        return "the result does not depend on the targets"
    return "the result does not depend on the model" if found == _measures(seen, "other") else None


def _as_before(found: torch.Tensor, right: torch.Tensor) -> bool:
    return found.shape == right.shape and torch.allclose(found.double(), right, rtol=1e-3, atol=1e-4)


@checker
def mode_unchanged(seen: Observation, exact: Observation) -> Problem:
    """The model is left in its mode, as the logits of a contrary model show."""
    if problem := _looks_at_nothing(seen):
        return problem
    same = _as_before(seen.values["logits"], exact.values["logits"])
    return None if same else "the call changed the mode of the model, or of a part of it"


@checker
def model_unchanged(seen: Observation) -> Problem:
    """The ids and the model's gradients, numbers and dropout are left unchanged."""
    if seen.changed:
        return "the call changed the ids in place"
    for name, old in seen.values["old gradients"].items():
        new = seen.values["gradients"].get(name)
        if (old is None) != (new is None) or (old is not None and not torch.equal(old, new)):
            cleared = new is None or not new.any()
            text = f"the gradient of {name}, from an earlier backward(), was changed"
            return tagged("gradients are cleared" if cleared else "gradients are added", text)
    if not all(torch.equal(old, seen.values["after"][name]) for name, old in seen.values["before"].items()):
        return "parameters or running statistics of the model were changed"
    if torch.equal(seen.values["one"], seen.values["another"]):
        return "the model's dropout was changed"
    return None


@checker
def evaluated_without_gradients(seen: Observation, exact: Observation) -> Problem:
    """Evaluation switches gradients off, and on again afterwards.

    A model that negates its logits where gradients could flow must get the same results as a plain one.
    """
    if problem := _looks_at_nothing(seen):
        return problem
    plain, contrary = (torch.tensor(_measures(seen, model)) for model in ("model", "contrary"))
    if not torch.allclose(plain, contrary, rtol=1e-4):
        return "the model was called with gradients switched on"
    if not torch.allclose(seen.values["logits"].double(), exact.values["logits"], rtol=1e-3, atol=1e-4):
        return "gradients stay switched off after the call"
    return None if all(seen.values["trainable"].values()) else "parameters no longer require gradients after the call"


# ----------------------------------------------------------------------------------------------- its parts, one step


@checker
def submodule_types(seen: Observation, kinds: Mapping[str, str], heads: int, dropout: float) -> Problem:
    """A block has parts of the right types and options; blocks share no parameters."""
    got: Mapping[str, Any] = seen.values
    for name, kind in kinds.items():
        if kind not in got[f"kind of {name}"]:
            return f"`{name}` is not an nn.{kind}"
    if got["heads"] != heads or got["first axis"] is not True:
        return "`attention` has the wrong number of heads, or lacks batch_first=True"
    if not abs(got["dropout"] - dropout) < 1e-9:
        return "`attention` has the wrong dropout"
    before, after = got["before"], got["after"]
    if not before or not all(torch.equal(numbers, after[name]) for name, numbers in before.items()):
        return "two blocks share parameters, but each must have its own"
    return None


@checker
def steps_in_training_mode(seen: Observation, state: State) -> Problem:
    """One step from `state` is taken in training mode.

    A model that negates its logits in eval mode must move like a plain one.
    """
    plain, contrary, other = (seen.values[f"after {name}"] for name in ("plain", "contrary", "other"))
    if all(torch.equal(plain[name], numbers) for name, numbers in state.items()):
        return "the model was not trained"
    if not all(torch.allclose(plain[name], contrary[name], rtol=1e-4, atol=1e-5) for name in state):
        return "the model, or a part of it, was in eval mode while it was trained"
    if all(torch.equal(plain[name], other[name]) for name in state):
        return "the step does not depend on the targets"
    return None
