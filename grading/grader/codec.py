"""The judge's side of the wire: a program becomes one expression, a kernel's reply becomes an observation, or nothing.

What a kernel sends is hostile bytes until it has been read here: capped in size, matched before it is decoded, unpacked
without running code, and held to the form of an `Observation` field by field.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

import torch

from course.harness.program import Observation, Program
from course.harness.serialization import MAX_BYTES, Node, PackingError, pack, unpack

from ..errors import MalformedReply, NoAnswer

MAX_TEXT = 4 * MAX_BYTES // 3 + 64
REPLY = re.compile(r"'([A-Za-z0-9+/]*={0,2})'")  # as `repr` writes a text in base64


Answers = Iterator[Observation | NoAnswer]
# (program, its time limit in seconds) for every call -> what each gave, in their order, made as they are asked for
Ask = Callable[[list[tuple[Program, float]]], Answers]


def request(programs: Iterable[Program]) -> str:
    """The programs as text, for `course.harness.runner.handle_request`."""
    return _packed(tuple(programs))


@lru_cache(maxsize=16)  # the exercises of a lesson: a judge finds them packed, and asks for them once
def _packed(programs: tuple[Program, ...]) -> str:
    return base64.b64encode(pack([program.to_plain() for program in programs])).decode()


def expression(programs: list[Program]) -> str:
    """What the kernel evaluates: looks nothing up in the learner's namespace but the import system."""
    return f"__import__('course.harness.runner', fromlist=['handle_request']).handle_request('{request(programs)}')"


def decode_reply(text: Any, count: int) -> list[Observation]:
    """The `count` observations in the repr of the expression's value. Raises MalformedReply."""
    matched = REPLY.fullmatch(text) if isinstance(text, str) and len(text) <= MAX_TEXT else None
    if matched is None:
        raise MalformedReply("too large, or no text in base64")
    try:
        plain = unpack(base64.b64decode(matched[1], validate=True))
        observations = [Observation(**one) for one in plain[: count + 1]]
    except (PackingError, ValueError, TypeError, KeyError) as error:
        raise MalformedReply(f"{type(error).__name__}") from None
    if len(observations) != count:
        raise MalformedReply("another number of observations")
    for seen in observations:
        _validate_observation(seen)
    return observations


def _validate_observation(seen: Observation) -> None:
    good = (
        _named(seen.values)
        and all(isinstance(d, str) and len(d) < 32 for d in _items(seen.devices))
        and (seen.gradients is None or (_named(seen.gradients) and all(map(_gradient, seen.gradients.values()))))
        and all(type(i) is int for i in _items(seen.detached))
        and _named(seen.changed)
        and all(isinstance(name, str) and len(name) < 200 for name in _items(seen.used))
        and (seen.raised is None or _error(seen.raised))
    )
    if not good:
        raise MalformedReply("not of the form of an observation")


def _items(value: Any) -> list[Any]:
    if not isinstance(value, list) or len(value) > 1000:
        raise MalformedReply("a list was expected")
    return value


def _named(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(key, str) and len(key) < 200 for key in value)


def _gradient(value: Any) -> bool:
    return value is None or (isinstance(value, torch.Tensor) and value.is_floating_point())


def _error(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() == {"type", "bases", "message", "line"}
        and all(isinstance(value[key], str) and len(value[key]) <= 1000 for key in ("type", "message", "line"))
        and all(isinstance(base, str) for base in _items(value["bases"]))
        and not isinstance(value, Node)
    )
