"""Hypothesis strategies for hostile input: any bytes, almost valid data, and long repetitions."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

LONG = 60_000  # characters of a repetition


def repeated(pieces: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """A few pieces, one of them repeated very often, to show quadratic time."""

    def join(parts: list[str], often: int, times: int) -> str:
        at = often % len(parts)
        times = min(times, LONG // max(1, len(parts[at])))
        return "".join([*parts[:at], parts[at] * times, *parts[at + 1 :]])

    counts = st.one_of(st.just(1), st.integers(1, 50), st.integers(1, LONG))
    return st.builds(join, st.lists(pieces, min_size=1, max_size=8), st.integers(0, 7), counts)


def texts(*known: str) -> st.SearchStrategy[str]:
    """Texts of known pieces, of arbitrary characters, or of both."""
    return repeated(st.one_of(st.sampled_from(known), st.sampled_from(known), st.text(max_size=20)))


plain: st.SearchStrategy[Any] = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.integers(-(2**300), 2**300), st.floats(), st.text(max_size=9)
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=5), st.dictionaries(st.text(max_size=9), inner, max_size=5)),
    max_leaves=20,
)


def records(others: st.SearchStrategy[Any], /, **kinds: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Dicts in which each of these keys may be missing, of the expected kind, or anything."""
    return st.fixed_dictionaries({}, optional={key: st.one_of(kind, others) for key, kind in kinds.items()})


@st.composite
def damaged(draw: st.DrawFn, blob: bytes) -> bytes:
    """These bytes, truncated, with a few changed."""
    made = bytearray(blob[: draw(st.integers(0, len(blob)))] if draw(st.booleans()) else blob)
    for _ in range(draw(st.integers(0, 4))):
        if made:
            made[draw(st.integers(0, len(made) - 1))] = draw(st.integers(0, 255))
    return bytes(made)


def as_json(value: Any) -> bytes:
    return json.dumps(value).encode()
