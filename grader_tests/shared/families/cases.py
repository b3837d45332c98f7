"""Test cases that many exercises need.

Use the generators in a criterion: `yield from cases.refused(call, "k", (0, -3, 1.5), x, right=2)`. The oracle decides
what is right.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import torch

from grading.exercises.exercise import Case, Draw, non_contiguous

ZERO_OR_LESS = (0, -1, -7)
NOT_INTEGERS = (1.5, -0.5)


@dataclass(frozen=True)
class Setting:
    """One way to call attention.

    masked        with a mask
    training      in training mode; with `dropout` its results are random
    dropout       probability of being dropped
    groups        number of heads of keys and values; None: as many as heads of queries
    context       keys and values come from a second sequence
    """

    masked: bool = False
    training: bool = False
    dropout: float = 0.0
    groups: int | None = None
    context: bool = False

    @property
    def random(self) -> bool:
        """Whether two calls with the same arguments may give different results."""
        return self.training and self.dropout > 0

    @property
    def label(self) -> str:
        """The description of its cases in a report."""
        parts = ["cross-attention" if self.context else "self-attention"]
        parts += ["with a mask"] if self.masked else []
        parts += [f"{self.groups} groups"] if self.groups is not None else []
        parts += [f"dropout {self.dropout:g}"] if self.dropout else []
        return ", ".join([*parts, "in training mode" if self.training else "in eval mode"])


def settings(
    *,
    masked: Iterable[bool] = (False, True),
    training: Iterable[bool] = (False, True),
    dropout: Iterable[float] = (0.0,),
    groups: Iterable[int | None] = (None,),
    context: Iterable[bool] = (False, True),
) -> list[Setting]:
    """Every combination of these, in a fixed order."""
    return [Setting(*chosen) for chosen in product(masked, training, dropout, groups, context)]


def attention_inputs(
    draw: Draw, setting: Setting, *, batch: int = 2, queries: int = 5, keys: int = 7, width: int = 12
) -> dict[str, torch.Tensor]:
    """Inputs of a module in this setting. All sizes should differ.

    x        (batch, queries, width)
    context  (batch, keys, width), if there is one
    mask     (batch, 1, queries, keys), if there is one; every query sees the first key, and does not see the last
    """
    inputs = {"x": draw.normal(batch, queries, width)}
    if setting.context:
        inputs["context"] = draw.normal(batch, keys, width)
    if setting.masked:
        seen = keys if setting.context else queries
        mask = draw.chance(0.3, batch, 1, queries, seen)
        mask[..., 0], mask[..., -1] = False, True
        inputs["mask"] = mask
    return inputs


def refused(
    make: Callable[..., Case], name: str, values: Iterable[Any], *args: Any, right: Any, **kwargs: Any
) -> Iterator[Case]:
    """Calls that must raise ValueError: each of `values` for the argument `name`.

    right  a value that must not be refused, for one more call
    make   makes a case from the arguments: `call`, or a function of the exercise's own
    """
    for value in values:
        yield make(*args, **kwargs, **{name: value}).raises(name)
    yield make(*args, **kwargs, **{name: right}).does_not_raise()


def left_unchanged(make: Callable[..., Case], *args: Any, **kwargs: Any) -> Iterator[Case]:
    """Calls that must not change any argument.

    Tensors are given as they are, non-contiguous, and in float64: converting to float64 then returns the same tensor.
    """
    yield make(*args, **kwargs).does_not_mutate()
    for change in (_strided, _wide):
        changed = [change(value) for value in args]
        named: Mapping[str, Any] = {key: change(value) for key, value in kwargs.items()}
        yield make(*changed, **named).does_not_mutate()


def labelled(cases: Iterable[Case], label: str) -> Iterator[Case]:
    """The same cases with a label in front of their descriptions."""
    for case in cases:
        yield replace(case, description=f"{label}: {case.description}" if case.description else label)


def _strided(value: Any) -> Any:
    return non_contiguous(value) if isinstance(value, torch.Tensor) and value.numel() > 1 else value


def _wide(value: Any) -> Any:
    return value.double() if isinstance(value, torch.Tensor) and value.is_floating_point() else value
