"""What a learner calls in a notebook: begin, check, hint, printed. (`using.py` has `use`, `standing.py` the rest.)

A *check* runs the visible examples of one exercise; what it shows is a *report* (`course.report`), in the form that
grading and feedback have, too. The examples, their right outcomes, the outcomes of known mistakes and the hints are
data in `course/examples/`, made from the grader's own description of each exercise; no solution is among them.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import torch

from .asked import misnamed, mistaken
from .attempts import Attempts, Endless
from .guarding import guard
from .hints import Hints
from .printing import Prints
from .protocol.comparing import Finding, Reference, compare, leaves
from .protocol.diagnosing import Diagnosis, Known, diagnose
from .protocol.errors import describe, not_written
from .protocol.forms import in_form
from .protocol.packing import Node, PackingError, unpack
from .protocol.program import Observation, Program
from .protocol.tolerance import Tolerance
from .report import Points, Report, Row, display, display_markdown, shell
from .stale import notice

EXAMPLES = Path(__file__).parent / "examples"
ENDING = ".examples"
LONG = 300  # characters of one value in a report


@dataclass
class Notebook:
    """Where the learner's notebook stands.

    lesson   the one that has begun; None: none has
    names    where the learner's functions are bound
    hints    how far each exercise's have been shown
    endless  answers that never ended
    prints   exercise -> what was printed in its last check
    """

    lesson: str | None = None
    names: dict[str, Any] = field(default_factory=dict)
    hints: Hints = field(default_factory=Hints)
    endless: Endless = field(default_factory=Endless)
    prints: dict[str, Prints] = field(default_factory=dict)


notebook = Notebook()


def begin(lesson: str) -> None:
    """Start a lesson, e.g. `begin("02_softmax")`: its examples and hints are loaded, and every exercise that is not
    written yet gets a placeholder, so that the notebook runs from top to bottom whatever is missing. From here on torch
    computes on one thread, unless OMP_NUM_THREADS says on how many: a lesson's tensors are small, and on a busy machine
    threads wait for each other.

    Raises ValueError for a lesson that does not exist, with the names of those that do, and FileNotFoundError where
    the course was installed without its examples.
    """
    if lesson not in lessons():
        raise ValueError(f"there is no lesson {lesson!r}; there are {', '.join(lessons())}")
    exercises = exercises_of(lesson)
    ipython = shell()
    names = ipython.user_ns if ipython else inspect.currentframe().f_back.f_globals  # type: ignore[union-attr]
    notebook.lesson, notebook.names = lesson, names
    for name in exercises:
        names.setdefault(name, _placeholder(name))
    guard()
    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(1)


def lessons() -> list[str]:
    """Names of the lessons, in order: the package's, and those whose examples lie beside the notebook.

    Raises FileNotFoundError where there are none.
    """
    found = sorted({p.name.removesuffix(ENDING) for place in (EXAMPLES, Path()) for p in place.glob(f"*{ENDING}")})
    if not found:
        raise FileNotFoundError(f"the examples of the course are missing from {EXAMPLES}: install the course again")
    return found


def check(f: Any) -> Points:
    """Run the visible examples of the exercise `f` and show how it did. Never raises.

    Returns the points that the examples earn, which print as a plain float: all of them if every example is right.
    The hidden cases that grade the exercise are more, and stricter.
    """
    try:
        shown = checked(f)
    except Exception as error:
        said = describe(error)
        shown = Report(name_of(f), "needs a person", 0.0, 0.0, headline=f"{said['type']}: {said['message']}")
    display(shown)
    return Points(shown.earned, shown.points)


def printed(f: Any) -> None:
    """Print all that the answer `f` printed in its last check."""
    name = name_of(f)
    print(str(notebook.prints.get(name, "")) or f"{name} printed nothing in its last check.")


def hint(f: Any) -> None:
    """Show the next hint for the exercise `f`: a question, then the idea, then the shape of the code. Where the whole
    notebook runs again, the same one."""
    name = name_of(f)
    try:
        hints = _find(name)["hints"]
    except (LookupError, OSError, PackingError) as error:
        print(error)
        return
    if not hints:
        print(f"There are no hints for {name}.")
        return
    index = notebook.hints.next(name, len(hints))
    again = " (the last one)" if index == len(hints) - 1 else ""
    display_markdown(f"**Hint {index + 1} of {len(hints)}{again}.** {hints[index]}")


def checked(f: Any) -> Report:
    """The report on `f`, or on what was meant by it, with what this check saw beside the examples' outcomes."""
    name, exercises = name_of(f), exercises_of(notebook.lesson) if notebook.lesson else {}
    if type(f) is str and f in exercises and callable(bound := notebook.names.get(f)):
        shown = checked(bound)
        shown.notes.append(f"`check` takes the function itself: write `check({f})`, without quotation marks.")
        return shown
    name, wrong = mistaken(f, name, notebook.names, exercises)
    if wrong:
        points = float(exercises[name]["points"]) if name in exercises else 0.0
        return Report(name, "wrong", 0.0, points, headline=wrong)
    attempts = Attempts()
    notebook.endless.known.pop(name, None)
    with notebook.endless.left_out(notebook.names, name):
        shown = _report(f, name, attempts)
    attempts.tell(shown)
    notebook.prints[name] = attempts.prints
    if attempts.stopped:
        notebook.endless.known[name] = f
    if told := notice(name, f) or (shown.status == "not started" and misnamed(name, notebook.names, exercises)):
        shown.headline = f"{told} {shown.headline}" if shown.status != "not started" else told
    return shown


def _report(f: Any, name: str, attempts: Attempts) -> Report:
    """What the visible examples say of `f`."""
    data = _find(name)
    points, cases = float(data["points"]), data["cases"]
    seen = _observed(cases, _names_around(f, name), attempts)
    references = [_reference(case) for case in cases]
    findings = [compare(one, reference) for one, reference in zip(seen, references, strict=True)]
    rows = _rows(cases, seen, references, findings)
    used = sorted({function for one in seen for function in one.used})
    if not any(findings) and not used:
        return Report(name, "right", points, points, rows, footnote="The hidden cases are more, and stricter.")
    if all(not_written(one.raised) for one in seen):
        blank = [Row(row.name, "not started") for row in rows]
        headline = "Write it in the cell above, then run this one."
        return Report(name, "not started", 0.0, points, blank, headline=headline)
    if used:
        text = f"Not allowed in this exercise: {', '.join(used)}. Write it yourself."
        return Report(name, "not allowed", 0.0, points, rows, headline=text)
    earned = points * findings.count(None) / len(findings)
    found = _diagnosed(seen, findings, references, data["mistakes"])
    mistakes = {one["name"]: one for one in data["mistakes"]}
    headline = found.in_words({name: one["text"] for name, one in mistakes.items()})
    see = (mistakes[found.names[0]]["see"] if found.names else "") or data["see"]
    status = "partly right" if earned else "wrong"
    return Report(name, status, round(earned, 2), points, rows, headline=headline, see=see)


def _rows(
    cases: list[dict[str, Any]],
    seen: list[Observation],
    references: list[Reference],
    findings: list[Finding | None],
) -> list[Row]:
    """A row for each example; the same words over and over would bury those that differ."""
    rows, told = list[Row](), set[str]()
    for case, one, reference, finding in zip(cases, seen, references, findings, strict=True):
        if finding is None:
            rows.append(Row(case["name"], "right"))
        elif finding.text in told:
            rows.append(Row(case["name"], "wrong", "as above"))
        else:
            told.add(finding.text)
            rows.append(Row(case["name"], "wrong", "", _details(case, one, reference, finding)))
    return rows


def _observed(cases: list[dict[str, Any]], names: dict[str, Any], attempts: Attempts) -> list[Observation]:
    return [
        attempts.run(Program(**case["program"]), names, case["text"], must_raise=case["exact"]["raised"] is not None)
        for case in cases
    ]


def _diagnosed(
    seen: list[Observation],
    findings: list[Finding | None],
    references: list[Reference],
    mistakes: list[dict[str, Any]],
) -> Diagnosis:
    """What known mistakes explain, as in grading; here every example is a criterion of its own."""

    def formed(outcomes: Iterable[Observation]) -> list[Observation]:
        return [one if r.form else in_form(one, r.native) for one, r in zip(outcomes, references, strict=True)]

    known = [
        Known(mistake["name"], formed(Observation(**one) for one in given["outcomes"]), frozenset(given["misses"]))
        for mistake in mistakes
        for given in mistake["each"]
    ]
    return diagnose(formed(seen), findings, [[i] for i in range(len(seen))], known)


def _details(case: dict[str, Any], seen: Observation, reference: Reference, finding: Finding) -> list[str]:
    lines = [case["text"], finding.text]
    for name, expected in reference.native.values.items():
        wanted, got = _written(expected), _written(seen.values.get(name)) if not seen.raised else ""
        if wanted and finding.rung not in ("raised", "message", "gradient", "unchanged"):
            lines.append(f"expected {wanted}")
            lines += [f"     got {got}"] if got else []
    return ["\n".join(lines)]


def _written(value: Any) -> str:
    """Few numbers in full, many not at all; a long text is cut."""
    if sum(v.numel() if isinstance(v, torch.Tensor) else 1 for _, v in leaves(value)) > 16:
        return ""
    if isinstance(value, torch.Tensor):
        return str(value.tolist() if not value.is_floating_point() else _rounded(value.tolist()))
    if isinstance(value, tuple):
        return "(" + ", ".join(map(_written, value)) + ")"
    if isinstance(value, Node):
        return ""
    text = repr(_rounded(value))
    return text if len(text) <= LONG else f"{text[:LONG]} …"


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


def _reference(case: dict[str, Any]) -> Reference:
    return Reference(
        Observation(**case["exact"]),
        Observation(**case["native"]),
        case["undefined"],
        Tolerance(*case["tolerance"]) if case["tolerance"] else None,
        case["wrong"],
        case["pure"],
        frozenset(case["mutates"]),
        case["form"],
        case["size"],
    )


def _names_around(f: Any, name: str) -> dict[str, Any]:
    """The names that the learner's function sees, with `f` itself under the exercise's name."""
    return {**(notebook.names or getattr(f, "__globals__", {})), name: f}


def _find(name: str) -> dict[str, Any]:
    for lesson in [notebook.lesson] if notebook.lesson else lessons():
        found = exercises_of(lesson).get(name)
        if found is not None:
            return found
    where = f"lesson {notebook.lesson}" if notebook.lesson else "any lesson"
    raise LookupError(f"{name!r} is not an exercise of {where}; pass the function itself, e.g. check(softmax)")


@cache
def exercises_of(lesson: str) -> dict[str, dict[str, Any]]:
    """What is known of a lesson's exercises, by name: points, hints, cases, outcomes of mistakes."""
    path = _examples_of(lesson)
    try:
        exercises: dict[str, dict[str, Any]] = unpack(path.read_bytes())["exercises"]
    except PackingError as error:
        raise PackingError(f"{path} cannot be read ({error}): install the course again") from None
    return exercises


def _examples_of(lesson: str) -> Path:
    """Those beside the notebook, which came with it, before the package's."""
    beside = Path(f"{lesson}{ENDING}")
    return beside if beside.is_file() else EXAMPLES / beside.name


def name_of(f: Any) -> str:
    """The exercise that `f` answers: one whose name is bound to it, which may be any object, else its own name."""
    try:
        own = f if type(f) is str else str(getattr(f, "__name__", type(f).__name__))
    except Exception:
        own = type(f).__name__
    exercises = exercises_of(notebook.lesson) if notebook.lesson else {}
    bound = [name for name in exercises if name in notebook.names and notebook.names[name] is f]
    return own if own in bound or not bound else bound[0]


def _placeholder(name: str) -> Callable[..., Any]:
    def missing(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{name} is not written yet")

    missing.__name__ = missing.__qualname__ = name
    return missing
