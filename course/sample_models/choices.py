"""For lesson 14: a grammar and a verifier of drafted tokens, ids in a chain, and a model as a plain function.

The decisions of the first two are data. `State` and `strict` offer only what the contract promises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isclose
from typing import Any, NoReturn

import torch
from torch import Tensor


class State:
    """A state that only says which it is: false, equal to everything, without a hash, and not to be copied."""

    __slots__ = ("number",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, number: int) -> None:
        self.number = number

    def __bool__(self) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<state {self.number}>"

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("a state cannot be copied; pass on the one that you got")


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


def strict(model: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """A language model as a plain function, without parameters, mode or device, of int64 ids (B, T) by position.

    Raises TypeError for other arguments.
    """

    def ask(*args: Any, **named: Any) -> Tensor:
        if named or len(args) != 1:
            given = ", ".join([*("…" for _ in args), *(f"{name}=…" for name in named)])
            raise TypeError(f"the model takes the ids as its one argument without a name, got ({given})")
        (ids,) = args
        if not isinstance(ids, Tensor) or ids.dtype != torch.int64 or ids.ndim != 2:
            got = f"{ids.dtype} {tuple(ids.shape)}" if isinstance(ids, Tensor) else type(ids).__name__
            raise TypeError(f"the model takes int64 ids of shape (B, T), got {got}")
        return model(ids)

    return ask


class LinkedIds:
    """Ids whose neighbours can be joined in place; a position keeps its name until it is joined to the one before it.

    first   the first position, None if there are no ids
    looks   how often `pair` was called
    """

    def __init__(self, ids: Sequence[int]) -> None:
        self.first = 0 if ids else None
        self.looks = 0
        self._ids: list[int | None] = list(ids)
        self._after: list[int | None] = [*range(1, len(ids)), None][: len(ids)]
        self._before: list[int | None] = [None, *range(len(ids) - 1)][: len(ids)]

    def pair(self, position: int) -> tuple[int, int] | None:
        """The id at a position and the next id; None at the last position, and where there is no id any more."""
        self.looks += 1
        left, after = self._ids[position], self._after[position]
        right = None if after is None else self._ids[after]
        return None if left is None or right is None else (left, right)

    def after(self, position: int) -> int | None:
        """The next position, None after the last."""
        return self._after[position]

    def before(self, position: int) -> int | None:
        """The position before, None before the first."""
        return self._before[position]

    def join(self, position: int, new: int) -> None:
        """Replace the ids at this position and the next by the id `new`. Raises ValueError if there is no next one."""
        gone = self._after[position]
        if self._ids[position] is None or gone is None:
            raise ValueError(f"there is no pair at position {position}")
        beyond = self._after[gone]
        self._ids[position], self._ids[gone] = new, None
        self._after[position], self._after[gone], self._before[gone] = beyond, None, None
        if beyond is not None:
            self._before[beyond] = position
