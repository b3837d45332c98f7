"""Checkers of single results: exact zeros, negligible values, special bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ..harness.program import Observation
from .chance import tagged
from .registry import Problem, checker


@checker
def any_result(seen: Observation) -> Problem:
    """Any result passes; the call must only not raise."""
    return None


@checker
def deterministic(seen: Observation, tag: str) -> Problem:
    """Two calls with the same arguments agree; if they do not, `tag` names the cause."""
    one, again = (seen.values[name] for name in ("one", "again"))
    pairs = zip(one, again, strict=True) if isinstance(one, (tuple, list)) else [(one, again)]
    if all(torch.allclose(torch.as_tensor(a), torch.as_tensor(b), equal_nan=True) for a, b in pairs):
        return None
    return tagged(tag, "two calls with the same arguments give different results: they depend on chance")


@checker
def exact_zeros(seen: Observation, exact: Observation) -> Problem:
    """Where the exact weight is 0, the weight must be 0 and not merely small."""
    found, right = seen.values["result"], exact.values["result"]
    if found.shape != right.shape:
        return f"expected shape {tuple(right.shape)}, got {tuple(found.shape)}"
    hidden = right == 0
    wrong = hidden & ~(found == 0)
    if wrong.any():
        return f"weights for a score of -inf that are not exactly 0: {int(wrong.sum())} of {int(hidden.sum())}"
    return None


@checker
def arguments_unchanged(seen: Observation) -> Problem:
    """No argument is changed in place; the result is checked elsewhere."""
    if seen.changed:
        return f"the call changed its argument `{next(iter(seen.changed))}` in place"
    return None


@checker
def negligible(seen: Observation) -> Problem:
    """A result of 0 on paper is below 1e-3; a guard like sqrt(x + 1e-8) is allowed."""
    found = seen.values["result"]
    if found.shape != ():
        return f"expected shape (), got {tuple(found.shape)}"
    if torch.isnan(found):
        return "the result is NaN"
    return None if found.abs() < 1e-3 else "the result is far too large"


@checker
def nonzero(seen: Observation) -> Problem:
    """The result is not 0; its size is checked elsewhere."""
    found = torch.as_tensor(seen.values["result"])
    return None if bool((found.abs() > 1e-3).any()) else "the result is 0, but must not be"


@checker
def zero_learning_rate(seen: Observation) -> Problem:
    """The learning rate is 0 up to rounding.
    The cosine of pi is -1 only to rounding: the rate may be off by 1e-16 of the peak, which is at most 2."""
    found = seen.values["result"]
    if not isinstance(found, (int, float)) or isinstance(found, bool):
        return "expected a float"
    return None if abs(found) < 1e-9 else f"the learning rate is {found:.3g}, but must be 0 here"


@checker
def zero_loss_if_all_ignored(seen: Observation, dtype: str) -> Problem:
    """The loss is 0, has this dtype, and `backward()` from it reaches the logits."""
    result = seen.values["result"]
    if not isinstance(result, torch.Tensor) or tuple(result.shape) != ():
        return "where all targets are ignored, the result must be a tensor of shape ()"
    if str(result.dtype) != dtype:
        wanted, got = dtype.removeprefix("torch."), str(result.dtype).removeprefix("torch.")
        return f"where all targets are ignored: expected dtype {wanted}, like the logits, got {got}"
    if float(result) != 0.0:  # NaN too
        return "where all targets are ignored, the loss must be 0"
    if seen.gradients is not None and seen.gradients["logits"] is None:
        return "where all targets are ignored, `backward()` fails: the 0 was not computed from the logits"
    if any(g is not None and not bool((g == 0).all()) for g in (seen.gradients or {}).values()):
        return "where all targets are ignored, every gradient must be 0"
    return None


@checker
def finite_loss_for_huge_logits(seen: Observation, exact: Observation) -> Problem:
    """The loss for logits as large as 1e4 is right to 1e-2, the contract's bound."""
    found, wanted = seen.values["result"], exact.values["result"]
    if not isinstance(found, torch.Tensor) or found.shape != wanted.shape:
        return "expected a tensor of shape ()"
    if not bool(found.isfinite()):
        return "the loss is NaN or infinite"
    if not abs(float(found) - float(wanted)) <= 1e-2:
        return "the loss is off by more than 0.01"
    bad = [g for g in (seen.gradients or {}).values() if g is not None and not bool(g.isfinite().all())]
    return "the gradient is NaN or infinite" if bad else None


@checker
def query_retrieves_targets(
    seen: Observation, keys: torch.Tensor, targets: Sequence[int], pure: bool = False
) -> Problem:
    """A query that gives the targets equal weights with a sum of at least 0.99.

    The weights are those of unscaled attention, in float64. With `pure`, arguments must be unchanged, too.
    """
    query = seen.values["result"]
    if problem := _no_query(query, keys):
        return problem
    weights = torch.softmax(keys.double() @ query.double(), dim=0)[list(targets)]
    shown = " + ".join(f"{weight:.4f}" for weight in weights.tolist())
    # A little room for an answer that aims at exactly 0.99 or 0.001, in float32
    if not weights.max() - weights.min() <= 1e-3 + 1e-6:
        return f"with it, attention gives the targets the weights {shown}; they must be equal (to 0.001)"
    if not weights.sum() >= 0.99 - 1e-5:
        total = f" = {weights.sum():.4f}" if len(targets) > 1 else ""
        return f"with it, attention gives the targets {shown}{total}; expected at least 0.99"
    if pure and seen.values["targets"] != targets:
        return "the call changed its argument `targets`; use a new list instead"
    if pure and seen.changed:
        return f"the call changed its argument `{next(iter(seen.changed))}` in place; leave it as it was"
    return None


def _no_query(query: Any, keys: torch.Tensor) -> Problem:
    """Why a result cannot be a query for these keys, or None."""
    if query is None:
        return "expected a tensor, got None; is the `return` missing?"
    if not isinstance(query, torch.Tensor):
        return f"expected a tensor, got a {type(query).__name__}"
    if query.shape != keys.shape[1:]:
        return f"expected shape {tuple(keys.shape[1:])}, got {tuple(query.shape)}"
    if query.dtype != keys.dtype:
        got, wanted = (str(t.dtype).removeprefix("torch.") for t in (query, keys))
        return f"expected dtype {wanted}, got {got}"
    return None if query.isfinite().all() else "the query has NaN or infinite entries"


@checker
def mask_on_requested_device(seen: Observation, exact: Observation) -> Problem:
    """A mask is on the requested device: on "meta" if the right one is, else not.
    If none can be made while new tensors are on "meta", the helper `elsewhere` returns one made again, or None."""
    (found,), (right,) = seen.values.values(), exact.values.values()
    if not isinstance(right, torch.Tensor):  # a tensor without data is observed as a record of its kind
        there = found is None or getattr(found, "fields", None) == right.fields
        return None if there else "the mask is not on the requested device"
    if not isinstance(found, torch.Tensor):
        return "the mask is on PyTorch's default device, not on the requested one"
    return None if found.ndim >= 2 else "the result is not a mask"


@checker
def raises_error(seen: Observation, kind: str, at_all: bool = False, told: Sequence[str] = ()) -> Problem:
    """The call raises an error of this `kind` whose message has each of the words.
    The helper `refusal` observes it as "refusal". If `kind` is "", the call must not raise. With `at_all`, any error
    passes, but "after" must equal "before". `told` says what each of the words is."""
    found = seen.values["refusal"]
    if not kind:
        return f"these arguments are valid, but the call raised {found['type']}" if found["type"] else None
    if not found["type"]:
        return f"expected {kind}, but the call returned"
    if at_all:
        same = torch.equal(seen.values["before"], seen.values["after"])
        return None if same else tagged("copied", "the call raises the error only after it has copied something")
    if found["type"] != kind:
        return f"expected {kind}, but the call raised {found['type']}"
    lacking = " and ".join(what for what, said in zip(told, found["says"], strict=True) if not said)
    return f"the message of the {kind} does not contain {lacking}" if lacking else None
