"""Messages to and from a kernel: programs as text, replies as observations.

What a kernel sends is untrusted bytes until it is read here: limited in size, matched before it is decoded, unpacked
without running code, and validated field by field as an `Observation`.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

import torch

from course.harness.forbidden_calls import MOST_SHAPES
from course.harness.program import Observation, Program
from course.harness.serialization import MAX_BYTES, MAX_DIMENSIONS, Node, PackingError, pack, unpack

from ..errors import MalformedReply, NoAnswer

MAX_TEXT = 4 * MAX_BYTES // 3 + 64
REPLY = re.compile(r"'([A-Za-z0-9+/]*={0,2})'")  # base64 text as `repr` writes it


Answers = Iterator[Observation | NoAnswer]
# (program, its time limit in seconds) for every call -> the answers in order, computed lazily
Ask = Callable[[list[tuple[Program, float]]], Answers]


def request(programs: Iterable[Program]) -> str:
    """The programs as text for `course.harness.runner.handle_request`."""
    return _pack_programs(tuple(programs))


@lru_cache(maxsize=16)  # the exercises of a lesson: packed in advance, and asked for once by a judge
def _pack_programs(programs: tuple[Program, ...]) -> str:
    return base64.b64encode(pack([program.to_plain() for program in programs])).decode()


def expression(programs: list[Program], first: str = "") -> str:
    """An expression that the kernel evaluates; it looks up nothing but `__import__` in its namespace.

    first: an expression to evaluate before the programs run
    """
    asked = f"__import__('course.harness.runner', fromlist=['handle_request']).handle_request('{request(programs)}')"
    return f"({first}, {asked})[1]" if first else asked


def decode_reply(text: Any, count: int) -> list[Observation]:
    """Decode `count` observations from a value's repr. Raises MalformedReply."""
    matched = REPLY.fullmatch(text) if isinstance(text, str) and len(text) <= MAX_TEXT else None
    if matched is None:
        raise MalformedReply("too large, or no text in base64")
    try:
        plain = unpack(base64.b64decode(matched[1], validate=True))
        observations = [Observation(**record) for record in plain[: count + 1]]
    except (PackingError, ValueError, TypeError, KeyError) as error:
        raise MalformedReply(f"{type(error).__name__}") from None
    if len(observations) != count:
        raise MalformedReply("another number of observations")
    for observation in observations:
        _validate_observation(observation)
    return observations


def _validate_observation(observation: Observation) -> None:
    valid = (
        _has_names(observation.values)
        and all(isinstance(d, str) and len(d) < 32 for d in _check_list(observation.devices))
        and (
            observation.gradients is None
            or (_has_names(observation.gradients) and all(map(_is_gradient, observation.gradients.values())))
        )
        and all(type(i) is int for i in _check_list(observation.detached))
        and _has_names(observation.changed)
        and all(isinstance(name, str) and len(name) < 200 for name in _check_list(observation.used))
        and (observation.raised is None or _is_error(observation.raised))
    )
    if not valid:
        raise MalformedReply("not of the form of an observation")


def _check_list(value: Any) -> list[Any]:
    if not isinstance(value, list) or len(value) > 1000:
        raise MalformedReply("a list was expected")
    return value


def _has_names(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(key, str) and len(key) < 200 for key in value)


def _is_gradient(value: Any) -> bool:
    return value is None or (isinstance(value, torch.Tensor) and value.is_floating_point())


def _is_error(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() - {"operation", "shapes"} == {"type", "bases", "message", "line"}
        and all(isinstance(value[key], str) and len(value[key]) <= 1000 for key in ("type", "message", "line"))
        and all(isinstance(base, str) for base in _check_list(value["bases"]))
        and _is_operation(value.get("operation", ""), value.get("shapes", []))
        and not isinstance(value, Node)
    )


def _is_operation(name: Any, shapes: Any) -> bool:
    """Whether these are a function's name, or none, and a few shapes: a report shows both."""
    sizes = [size for shape in _check_list(shapes)[: MOST_SHAPES + 1] for size in _check_list(shape)]
    few = len(shapes) <= MOST_SHAPES and len(sizes) <= MOST_SHAPES * MAX_DIMENSIONS
    named = isinstance(name, str) and re.fullmatch(r"\w{0,60}", name, re.ASCII)
    return bool(named) and few and all(type(size) is int for size in sizes)
