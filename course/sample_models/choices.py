"""A grammar and a verifier of drafted tokens, whose decisions are data: lesson 14."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isclose
from typing import Any

from torch import Tensor

# A grammar's state from its number
FORMS: dict[str, Callable[[int], Any]] = {"number": int, "text": "s".__mul__, "list": lambda number: [number]}


def grammar(rules: Sequence[dict[str, int]], form: str = "number") -> Callable[[Any, str], Any]:
    """A function `advance(state, character)` -> the next state, or None if the character is not allowed.

    rules  for each state, by its number: the characters that may follow, and the number of the state after each
    form   what a state is: "number" (0, 1, …), "text" ("", "s", …) or "list" ([0], [1], …), which has no hash

    Raises TypeError for the state None, for a state of another form, and for anything but one character.
    """
    made = FORMS[form]
    states = [made(number) for number in range(len(rules))]

    def advance(state: Any, character: str) -> Any:
        if state is None:
            raise TypeError("advance was called with the state None, which no character can follow")
        if not isinstance(character, str) or len(character) != 1:
            raise TypeError(f"advance takes one character, got {character!r}")
        if state not in states:
            raise TypeError(f"advance was called with {state!r}, which is not a state of this grammar")
        after = rules[states.index(state)].get(character)
        return None if after is None else made(after)

    return advance


def verifier(
    draft: Tensor, target: Tensor, thresholds: Tensor, corrected: Tensor
) -> Callable[[Tensor, Tensor, Tensor, Tensor], tuple[int, Tensor]]:
    """A function `verify(drafted, draft, target, chances)` of one drafted token, right or wrong as the data are.

    draft, target  distributions (N,) that it must be called with
    thresholds     (N,): a token is accepted if its chance is below its threshold
    corrected      (N, N): for each token the distribution that it gives if that token is rejected

    Raises ValueError for arguments of other shapes than (1,), (1, N), (2, N) and (1,), and for other distributions.
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
        token = int(drafted)
        return (1, target[1]) if float(chances) < limits[token] else (0, rows[token].clone())

    return verify
