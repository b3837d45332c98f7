"""Objects for exercises that offer only what the contract promises, and refuse the rest: `strict`."""

from __future__ import annotations

from collections.abc import Callable
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
