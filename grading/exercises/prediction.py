"""Predictions of a lesson: the answers to its calls of `predict`.

They are in grader_tests/NN_lesson/predictions.toml; docs/contracts/README.md describes the file. `proof` is an
expression that is true where the notebook's cells above the call have run. It stays here; the rest reaches learners.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import ExerciseError
from .toml_keys import wrong_keys

FILE = "predictions.toml"
KEYS = {"answer": "a text, a number or a list", "because": "a text", "proof": "a text"}
OPTIONAL = {"choices": "a list", "tolerance": "a number", "kind": "a text", "wrong": "a table"}


@dataclass(frozen=True)
class Prediction:
    """One prediction.

    name     the first argument of its call of `predict`
    kind     "choice", "number", "list" (a shape or a tensor) or "code" (one line)
    because  a sentence: why the answer is so
    proof    an expression that is true in the notebook above the call
    wrong    wrong guess -> a sentence about why people think so; "other": any other that is not a choice
    """

    name: str
    kind: str
    answer: Any
    because: str
    proof: str
    choices: tuple[str, ...] = ()
    tolerance: float = 0.0
    wrong: dict[str, str] = field(default_factory=dict)

    def to_data(self) -> dict[str, Any]:
        """The part that the learner's package needs."""
        data = {"kind": self.kind, "answer": self.answer, "because": self.because, "wrong": self.wrong}
        if self.choices:
            data["choices"] = list(self.choices)
        if self.tolerance:
            data["tolerance"] = self.tolerance
        return data


def load_predictions(tests: Path) -> dict[str, Prediction]:
    """Load the predictions of a lesson by name, in their order; none if it has no such file.

    tests  grader_tests/NN_lesson

    Raises ExerciseError, which names the file, the entry and everything that is wrong in it.
    """
    path, where = tests / FILE, f"{tests.name}/{FILE}"
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise ExerciseError(f"{where}: {error}") from None
    problems = [f'["{name}"]: {fault}' for name, entry in entries.items() for fault in _problems(entry)]
    if problems:
        raise ExerciseError(f"{where}: {'; '.join(problems)}")
    return {name: _made(name, entry) for name, entry in entries.items()}


def _made(name: str, entry: dict[str, Any]) -> Prediction:
    wrong = {guess: text.strip() for guess, text in entry.get("wrong", {}).items()}
    choices, tolerance = tuple(entry.get("choices", ())), float(entry.get("tolerance", 0.0))
    proof = entry["proof"].strip()
    return Prediction(name, _kind(entry), entry["answer"], entry["because"].strip(), proof, choices, tolerance, wrong)


def _kind(entry: dict[str, Any]) -> str:
    if "choices" in entry:
        return "choice"
    if entry.get("kind") == "code":
        return "code"
    return "list" if isinstance(entry["answer"], list) else "number"


def _problems(entry: Any) -> Iterator[str]:
    """Yield what is wrong with an entry, in phrases that follow its name."""
    if not isinstance(entry, dict):
        yield 'expected a table with `answer`, `because` and `proof`; put the name in quotation marks, ["the name"]'
        return
    wrong = list(wrong_keys(entry, KEYS, "", OPTIONAL))
    yield from wrong
    if wrong:
        return
    answer, choices = entry["answer"], entry.get("choices")
    if entry.get("kind", "code") != "code":
        yield f"'kind': expected \"code\", or no such key, got {entry['kind']!r}"
    elif choices is not None:
        yield from _wrong_choices(entry, choices)
    elif entry.get("kind") == "code":
        yield from _wrong_code("'answer'", answer)
    elif isinstance(answer, (str, bool)):
        yield f"'answer': {answer!r} is one of several choices or a line of code: add `choices`, or `kind = \"code\"`"
    elif isinstance(answer, list) and not _numbers(answer):
        yield f"'answer': expected a list of numbers, got {answer!r}"
    yield from _wrong_code("'proof'", entry["proof"])
    for guess, text in entry.get("wrong", {}).items():
        if not isinstance(text, str) or not text.strip():
            yield f"'wrong', {guess!r}: expected a sentence, got {text!r}"


def _wrong_choices(entry: dict[str, Any], choices: list[Any]) -> Iterator[str]:
    if len(choices) < 2 or not all(isinstance(choice, str) for choice in choices):
        yield f"'choices': expected two or more texts, got {choices!r}"
        return
    if entry["answer"] not in choices:
        yield f"'answer': expected one of the choices, got {entry['answer']!r}"
    wrong = entry.get("wrong", {})
    if silent := [choice for choice in choices if choice != entry["answer"] and choice not in wrong]:
        yield f"'wrong': add a sentence for {', '.join(map(repr, silent))}: each wrong choice has a reason of its own"
    for guess in wrong:
        if guess not in choices or guess == entry["answer"]:
            yield f"'wrong': {guess!r} is not a wrong choice; these are {[c for c in choices if c != entry['answer']]}"


def _wrong_code(key: str, code: Any) -> Iterator[str]:
    try:
        ast.parse(code, mode="eval")
    except (SyntaxError, ValueError, TypeError):
        yield f"{key}: expected one expression of Python, got {code!r}"


def _numbers(value: list[Any]) -> bool:
    return all(_numbers(v) if isinstance(v, list) else isinstance(v, (bool, int, float)) for v in value)
