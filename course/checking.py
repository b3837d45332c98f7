"""What a learner calls in a notebook: begin, check, hint, use, progress.

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
from torch.overrides import resolve_name

from . import ready_made
from .protocol.comparing import Finding, Reference, compare, leaves
from .protocol.diagnosing import Diagnosis, Known, diagnose
from .protocol.errors import describe, not_written
from .protocol.forms import in_form
from .protocol.packing import Node, PackingError, unpack
from .protocol.program import Observation, Program
from .protocol.running import observe
from .protocol.tolerance import Tolerance
from .report import Points, Report, Row, display, in_notebook, shell

EXAMPLES = Path(__file__).parent / "examples"
ENDING = ".examples"
LONG = 300  # characters of one value in a report


@dataclass
class Notebook:
    """Where the learner's notebook stands.

    lesson  the one that has begun; None: none has
    names   where the learner's functions are bound
    hints   exercise -> how many of its hints have been shown
    last    exercise -> the report of its last check
    """

    lesson: str | None = None
    names: dict[str, Any] = field(default_factory=dict)
    hints: dict[str, int] = field(default_factory=dict)
    last: dict[str, Report] = field(default_factory=dict)


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
    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(1)


def lessons() -> list[str]:
    """Names of the lessons, in order. Raises FileNotFoundError where there are none."""
    found = sorted(path.name.removesuffix(ENDING) for path in EXAMPLES.glob(f"*{ENDING}"))
    if not found:
        raise FileNotFoundError(f"the examples of the course are missing from {EXAMPLES}: install the course again")
    return found


def check(f: Any) -> Points:
    """Run the visible examples of the exercise `f` and show how it did. Never raises.

    Returns the points that the examples earn, which print as a plain float: all of them if every example is right.
    The hidden cases that grade the exercise are more, and stricter.
    """
    try:
        shown = _report(f)
    except Exception as error:
        said = describe(error)
        shown = Report(_name(f), "needs a person", 0.0, 0.0, headline=f"{said['type']}: {said['message']}")
    notebook.last[shown.exercise] = shown
    display(shown)
    return Points(shown.earned, shown.points)


def hint(f: Any) -> None:
    """Show the next hint for the exercise `f`: a question, then the idea, then the shape of the code."""
    name = _name(f)
    try:
        hints = _find(name)["hints"]
    except (LookupError, OSError, PackingError) as error:
        print(error)
        return
    shown = notebook.hints.get(name, 0)
    if not hints:
        print(f"There are no hints for {name}.")
        return
    index = min(shown, len(hints) - 1)
    notebook.hints[name] = shown + 1
    again = " (the last one)" if index == len(hints) - 1 else ""
    _say(f"**Hint {index + 1} of {len(hints)}{again}.** {hints[index]}")


def progress() -> None:
    """Show the state of every exercise of the lesson, as of its last `check`."""
    if notebook.lesson is None:
        print('No lesson has begun: call begin("02_softmax") first.')
        return
    rows, earned, total = [], 0.0, 0.0
    for name, data in exercises_of(notebook.lesson).items():
        last = notebook.last.get(name)
        earned, total = earned + (last.earned if last else 0.0), total + data["points"]
        rows.append(Row(f"`{name}`", last.status if last else "not started", f"{data['points']:g} points"))
    done = sum(row.status == "right" for row in rows)
    begun = "partly right" if earned else "wrong" if any(row.status != "not started" for row in rows) else "not started"
    status = "right" if done == len(rows) else begun
    headline = f"{done} of {len(rows)} exercises pass their examples."
    display(Report(notebook.lesson, status, earned, total, rows, headline=headline))


class _Used:
    """A function of the learner's, or PyTorch's in its place; `whose` says which."""

    def __init__(self, mine: Any, otherwise: Callable[..., Any], passes: bool) -> None:
        self.mine, self.otherwise, self.passes = mine, otherwise, passes
        self.__name__ = _name(mine)

    @property
    def whose(self) -> str:
        if self.passes:
            return f"your {self.__name__}"
        name = resolve_name(self.otherwise) or getattr(self.otherwise, "__name__", "")
        if getattr(self.otherwise, "__module__", "") == ready_made.__name__:
            name = "PyTorch"
        shown = "a ready-made function" if name in ("", "<lambda>") else name
        return f"{shown}, until your {self.__name__} passes"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.passes:
            gradients = torch.is_grad_enabled()
            try:
                result = self.mine(*args, **kwargs)
                if result is not None:  # as where a `return` was forgotten
                    return result
            except Exception:
                pass
            finally:
                torch.set_grad_enabled(gradients)  # who switches them off for good stops all later training
            self.passes = False
        return self.otherwise(*args, **kwargs)


def use(f: Any, otherwise: Callable[..., Any]) -> _Used:
    """The learner's `f` once its visible examples are right, `otherwise` until then, or where `f` raises or
    returns nothing.

    The result is called like a function (or constructed like a class); `.whose` names it for a caption.
    """
    try:
        passes = _report(f).status == "right"
    except Exception:
        passes = False
    return _Used(f, otherwise, passes)


def _report(f: Any) -> Report:
    """What the visible examples say of `f`."""
    name = _name(f)
    data = _find(name)
    points, cases = float(data["points"]), data["cases"]
    seen = _observed([Program(**case["program"]) for case in cases], _names_around(f, name))
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


def _observed(programs: list[Program], names: dict[str, Any]) -> list[Observation]:
    """Every program's observation; after one that the learner interrupted, the rest is taken to be as endless."""
    seen: list[Observation] = []
    for program in programs:
        interrupted = bool(seen) and seen[-1].raised is not None and seen[-1].raised["type"] == "KeyboardInterrupt"
        seen.append(seen[-1] if interrupted else observe(program, names))
    return seen


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
    path = EXAMPLES / f"{lesson}{ENDING}"
    try:
        exercises: dict[str, dict[str, Any]] = unpack(path.read_bytes())["exercises"]
    except PackingError as error:
        raise PackingError(f"{path} cannot be read ({error}): install the course again") from None
    return exercises


def _name(f: Any) -> str:
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


def _say(markdown: str) -> None:
    if in_notebook():
        from IPython.display import Markdown
        from IPython.display import display as show

        show(Markdown(markdown))
    else:
        print(markdown.replace("**", ""))
