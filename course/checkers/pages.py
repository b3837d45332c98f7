"""A checker of a cache in pages, by what is seen of it between operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from ..harness.program import Observation
from .registry import Problem, checker

CLOSE = 1e-2  # a pool of another dtype has a criterion of its own; another position's numbers are farther away
MOST = 6  # positions that are listed


@checker
def like_a_right_cache(seen: Observation, exact: Observation, told: Mapping[str, Sequence[str]]) -> Problem:
    """The observations of a paged cache equal those of a correct one.

    told  for each observed step: its kind, the text or operation that it is about, and the operation before it
    """
    for name, wanted in exact.values.items():
        kind, about, before = told[name]
        if problem := KINDS[kind](seen.values[name], wanted, about):
            return f"after {before}: {problem}" if before else problem
    return None


def _free(found: Any, wanted: int, about: str) -> str | None:
    return None if _equal(found, wanted) else f"`n_free`: expected {wanted}, got {_short(found)}"


def _tables(found: Any, wanted: list[Any], about: str) -> str | None:
    if _equal(found, wanted):
        return None
    return f"block tables of {about}, with pages renumbered by first appearance: expected {wanted}, got {_short(found)}"


def _ids(found: Any, wanted: list[int], about: str) -> str | None:
    return None if _equal(found, wanted) else "two texts got the same id"


def _shape(found: Any, wanted: Any, about: str) -> str | None:
    same = isinstance(found, (list, tuple)) and list(found) == list(wanted)
    return None if same else f"shape of `{about}`: expected {tuple(wanted)}, got {_short(found)}"


def _refused(found: Any, wanted: dict[str, Any], about: str) -> str | None:
    if found["type"] != wanted["type"]:
        return f"{about}: expected {wanted['type']}, got {found['type'] or 'no error'}"
    if found["says"] != wanted["says"]:
        return f"{about}: the message of the {wanted['type']} does not name the wrong argument and its shape"
    return None


def _read(found: Any, wanted: Sequence[torch.Tensor], about: str) -> str | None:
    if not isinstance(found, (list, tuple)) or len(found) != len(wanted):
        return f"read({about}): expected (keys, values)"
    pairs = zip(("keys", "values"), found, wanted, strict=True)
    problems = (_rows(part, right, f"read({about}), {name}") for name, part, right in pairs)
    return next(filter(None, problems), None)


def _stored(found: Any, wanted: torch.Tensor, about: str) -> str | None:
    return _rows(found, wanted, f"{about}, read from the first pool through the block table")


def _rows(found: Any, wanted: torch.Tensor, where: str) -> str | None:
    """What is wrong with the rows (S, G, K) of a text."""
    if not isinstance(found, torch.Tensor):
        return f"{where}: expected a tensor, got a {type(found).__name__}"
    if found.shape != wanted.shape:
        return f"{where}: expected shape {tuple(wanted.shape)}, got {tuple(found.shape)}"
    near = torch.isclose(found.double(), wanted.double(), rtol=CLOSE, atol=CLOSE).flatten(1).all(-1)
    wrong = (~near).nonzero().flatten().tolist()
    if not wrong:
        return None
    listed = ", ".join(map(str, wrong[:MOST])) + ", …" * (len(wrong) > MOST)
    return f"{where}: wrong at position{'s' * (len(wrong) > 1)} {listed} of {len(wanted)}"


def _equal(found: Any, wanted: Any) -> bool:
    """Whether two nested lists of whole numbers are equal, whatever else may be in `found`."""
    if isinstance(wanted, list):
        return isinstance(found, (list, tuple)) and len(found) == len(wanted) and all(map(_equal, found, wanted))
    return type(found) is int and found == wanted


def _short(value: Any) -> str:
    text = str(value) if value is None or isinstance(value, (int, float, str, list, tuple)) else type(value).__name__
    return text if len(text) <= 200 else f"{text[:200]}…"


KINDS: dict[str, Callable[[Any, Any, str], str | None]] = {
    "free": _free,
    "tables": _tables,
    "ids": _ids,
    "shape": _shape,
    "refused": _refused,
    "read": _read,
    "stored": _stored,
}
