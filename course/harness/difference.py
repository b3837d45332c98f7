"""A wrong value beside the right one, printed so that the two can be compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

MAX_WIDTH = 84  # characters of a value that is printed whole
DIGITS = (4, 6, 9, 17)  # significant digits; the fewest with which the two values differ are used


@dataclass(frozen=True, eq=False)
class Difference:
    """A wrong value beside the right one.

    where   "the result", or the part of it that is compared
    wrong   marks the wrong entries of a tensor; None: the value is no tensor
    excess  by how much each entry is farther off than allowed; None: entries are only right or wrong
    """

    where: str
    expected: Any
    got: Any
    wrong: torch.Tensor | None = None
    excess: torch.Tensor | None = None


@dataclass(frozen=True)
class Printed:
    """The two values as text. `marks`: start and end of each wrong entry, in both texts; empty where all are wrong.

    summary  how many entries differ, if only one of them is printed
    """

    expected: str
    got: str
    marks: tuple[tuple[int, int], ...] = ()
    summary: str = ""


def printed(difference: Difference) -> Printed:
    """The two values in full if they are short, else the entry that is farthest off."""
    if difference.wrong is None:
        return Printed(_shortened(difference.expected), _shortened(difference.got))
    wrong, shape = difference.wrong.flatten().tolist(), tuple(difference.wrong.shape)
    if len(wrong) <= MAX_WIDTH // 3:
        expected, got = _aligned(difference.expected.flatten(), difference.got.flatten(), wrong)
        first, spans = _laid_out(expected, shape)
        second, others = _laid_out(got, shape)
        if len(first) <= MAX_WIDTH:
            pairs = zip(spans, others, wrong, strict=True)
            marks = tuple((min(one[0], other[0]), one[1]) for one, other, bad in pairs if bad)
            return Printed(first, second, () if all(wrong) else marks)
    worst = wrong.index(True) if difference.excess is None else int(difference.excess.flatten().argmax())
    pair = difference.expected.flatten()[worst : worst + 1], difference.got.flatten()[worst : worst + 1]
    (one,), (other,) = _aligned(*pair, [True])
    place = tuple(int(i) for i in torch.unravel_index(torch.tensor(worst), shape))
    which = "the first" if difference.excess is None else "the worst"
    count = f"all {len(wrong)}" if all(wrong) else f"{sum(wrong)} of {len(wrong)}"
    return Printed(one.strip(), other.strip(), (), f"{count} entries differ, {which} at {place}")


def _aligned(expected: torch.Tensor, got: torch.Tensor, wrong: Sequence[bool]) -> tuple[list[str], list[str]]:
    """The entries as texts of equal length, pair by pair, in as many digits as show what differs."""
    pairs: list[tuple[str, str]] = []
    for digits in DIGITS:
        pairs = [(_number(a, digits), _number(b, digits)) for a, b in zip(expected.tolist(), got.tolist(), strict=True)]
        if all(a != b for (a, b), bad in zip(pairs, wrong, strict=True) if bad):
            break
    wide = [max(map(len, pair)) for pair in pairs]
    first, second = ([pair[i].rjust(w) for pair, w in zip(pairs, wide, strict=True)] for i in (0, 1))
    return first, second


def _number(value: float | bool, digits: int) -> str:
    return repr(float(f"{value:.{digits}g}") + 0.0) if isinstance(value, float) else repr(value)  # -0.0 + 0.0 is 0.0


def _laid_out(entries: Sequence[str], shape: tuple[int, ...]) -> tuple[str, list[tuple[int, int]]]:
    """Entries with a tensor's brackets, and the place of each in the text."""
    parts, spans, length = [], list[tuple[int, int]](), 0
    for part in _brackets(shape):
        if part == "":
            part = entries[len(spans)]
            spans.append((length + len(part) - len(part.lstrip()), length + len(part)))
        parts.append(part)
        length += len(part)
    return "".join(parts), spans


def _brackets(shape: tuple[int, ...]) -> Iterator[str]:
    """The texts around the entries of a tensor; "" where an entry belongs."""
    if not shape:
        yield ""
        return
    yield "["
    for index in range(shape[0]):
        if index:
            yield ", "
        yield from _brackets(shape[1:])
    yield "]"


def _shortened(value: Any) -> str:
    if isinstance(value, int) and value.bit_length() > 256:
        return "a number with many digits"
    text = repr(value)
    return text if len(text) <= MAX_WIDTH else f"{text[:MAX_WIDTH]} …"
