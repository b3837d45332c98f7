"""A grammar and a verifier of drafted tokens, whose decisions are data: lesson 14."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isclose
from typing import Any

import torch
from torch import Tensor

from .strict import State

# A grammar's state from its number
FORMS: dict[str, Callable[[int], Any]] = {
    "number": int,
    "text": "s".__mul__,
    "list": lambda number: [number],
    "strict": State,
}


def grammar(rules: Sequence[dict[str, int]], form: str = "number") -> Callable[[Any, str], Any]:
    """A function `advance(state, character)` -> the next state, or None if the character is not allowed.

    rules  for each state, by its number: the characters that may follow, and the number of the state after each
    form   what a state is: "number" (0, 1, …), "text" ("", "s", …), "list" ([0], [1], …) or "strict" (`State`)

    Raises TypeError for the state None, for a state of another form, and for anything but one character.
    """
    made = FORMS[form]
    states = [made(number) for number in range(len(rules))]

    def numbers(state: Any) -> int | None:
        return state.number if form == "strict" else states.index(state) if state in states else None

    def advance(state: Any, character: str) -> Any:
        if state is None:
            raise TypeError("advance was called with the state None, which no character can follow")
        if not isinstance(character, str) or len(character) != 1:
            raise TypeError(f"advance takes one character, got {character!r}")
        if type(state) is not type(states[0]) or (number := numbers(state)) is None:
            raise TypeError(f"advance was called with {state!r}, which is not a state of this grammar")
        after = rules[number].get(character)
        return None if after is None else made(after)

    return advance


def verifier(
    draft: Tensor, target: Tensor, thresholds: Tensor, corrected: Tensor
) -> Callable[[Tensor, Tensor, Tensor, Tensor], tuple[int, Tensor]]:
    """A function `verify(drafted, draft, target, chances)` of one drafted token, right or wrong as the data are.

    draft, target  distributions (N,) that it must be called with
    thresholds     (N,): a token is accepted if its chance is below its threshold
    corrected      (N, N): for each token the distribution that it gives if that token is rejected

    Raises ValueError for arguments of other shapes than (1,), (1, N), (2, N) and (1,), for other distributions, for a
    token that is not an int64 below N, for a chance that is not from 0 to 1, and for a second row of `target` that is
    not a distribution.
    """
    n_tokens = len(draft)
    shapes = {"drafted": [1], "draft": [1, n_tokens], "target": [2, n_tokens], "chances": [1]}
    wanted = {"draft": draft.tolist(), "target": target.tolist()}
    limits, rows = thresholds.tolist(), corrected.unbind()

    def verify(drafted: Tensor, draft: Tensor, target: Tensor, chances: Tensor) -> tuple[int, Tensor]:
        given = {"drafted": drafted, "draft": draft, "target": target, "chances": chances}
        for name, shape in shapes.items():
            if list(given[name].shape) != shape:
                raise ValueError(f"{name} has the shape {tuple(given[name].shape)}, not {tuple(shape)}")
        for name, numbers in wanted.items():
            if not all(isclose(a, b, abs_tol=1e-5) for a, b in zip(given[name][0].tolist(), numbers, strict=True)):
                raise ValueError(f"the first row of {name} is another distribution")
        second, chance = target[1], float(chances)
        if not (bool((second >= 0).all()) and isclose(float(second.sum()), 1.0, abs_tol=1e-3)):
            raise ValueError("the second row of target is no distribution")
        if not 0 <= chance <= 1:
            raise ValueError(f"chances is {chance}, and a chance is from 0 to 1")
        if drafted.dtype != torch.int64 or not 0 <= int(drafted) < n_tokens:
            raise ValueError(f"drafted is {drafted}, and drafted tokens are int64 from 0 to below {n_tokens}")
        token = int(drafted)
        return (1, target[1]) if chance < limits[token] else (0, rows[token].clone())

    return verify
