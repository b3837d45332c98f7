"""The experiment of a lesson: what a learner's finding is compared with.

It is in grader_tests/NN_lesson/experiment.toml; docs/contracts/README.md describes the file. `solution` is code that
makes the right finding, or a wrong one, in the notebook above the check. It stays here; the rest reaches learners.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import ExerciseError
from .toml_keys import wrong_keys

FILE = "experiment.toml"
SOLUTION = "solution"
KEYS = {"question": "a text", "kind": "a text", "confirmed": "a text", "other": "a text", SOLUTION: "a text"}
FINDING = {"number": ("range", "a list"), "sign": ("answer", "a text"), "order": ("answer", "a list")}  # by kind
SIGNS = ("+", "-", "0")


def load_experiment(tests: Path) -> dict[str, Any]:
    """Load the experiment of a lesson as data; empty if it has none.

    tests  grader_tests/NN_lesson

    Raises ExerciseError, which names the file and everything that is wrong in it.
    """
    path, where = tests / FILE, f"{tests.name}/{FILE}"
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise ExerciseError(f"{where}: {error}") from None
    if problems := list(_problems(data)):
        raise ExerciseError(f"{where}: {'; '.join(problems)}")
    return {**data, "wrong": data.get("wrong", [])}


def _problems(data: dict[str, Any]) -> Iterator[str]:
    """Yield what is wrong with an experiment, in phrases that follow the file's name."""
    kind = data.get("kind")
    if kind not in FINDING:
        yield f"'kind': expected one of {', '.join(FINDING)}, got {kind!r}"
        return
    key, of = FINDING[kind]
    wrong = list(wrong_keys(data, {**KEYS, key: of}, "", {"wrong": "a list"}))
    yield from wrong
    if wrong:
        return
    yield from _wrong_finding(kind, data, data, "")
    for number, one in enumerate(data.get("wrong", []), 1):
        where = f"wrong finding {number}: "
        if not isinstance(one, dict):
            yield f"{where}expected a table, [[wrong]]"
        elif faults := list(wrong_keys(one, {key: of, "text": "a text"}, where, {SOLUTION: "a text"})):
            yield from faults
        else:
            yield from _wrong_finding(kind, data, one, where)
            if one[key] == data[key]:
                yield f"{where}{key!r} is that of the right finding"


def learners_part(data: dict[str, Any]) -> dict[str, Any]:
    """The part that the learner's package needs."""
    wrong = [{key: value for key, value in one.items() if key != SOLUTION} for one in data["wrong"]]
    return {**{key: value for key, value in data.items() if key != SOLUTION}, "wrong": wrong}


def _wrong_finding(kind: str, data: dict[str, Any], one: dict[str, Any], where: str) -> Iterator[str]:
    if kind == "number":
        found = one["range"]
        if len(found) != 2 or not all(type(end) in (int, float) for end in found) or not found[0] <= found[1]:
            yield f"{where}'range': expected two numbers, the smaller one first, got {found!r}"
    elif kind == "sign":
        if one["answer"] not in SIGNS:
            yield f"{where}'answer': expected one of {', '.join(SIGNS)}, got {one['answer']!r}"
    elif len(one["answer"]) < 2 or not all(isinstance(name, str) for name in one["answer"]):
        yield f"{where}'answer': expected two or more names, got {one['answer']!r}"
    elif sorted(one["answer"]) != sorted(data["answer"]):
        yield f"{where}'answer': expected the names {sorted(data['answer'])} in another order, got {one['answer']!r}"
