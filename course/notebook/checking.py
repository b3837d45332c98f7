"""What a learner calls in a notebook: begin, check, hint, printed. (`fallback.py` has `use`, `lesson_progress.py` the
rest.)

A *check* asks an answer the visible examples and practice cases of its exercise (`course.check_data`); what it shows
is a *report* (`course.report`), in the form that grading and feedback have, too. All that it knows of an exercise is
data in `course/examples/`, made from the grader's own description; no solution is among them.
"""

from __future__ import annotations

import gc
import inspect
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any

import torch

from ..check_data import ENDING as PRACTICE
from ..check_data import CaseResults, Criterion, Practice, case_of, read
from ..harness.compare import leaves
from ..harness.errors import exception_to_record
from ..harness.serialization import Node, PackingError, unpack
from ..report import POINTS, Points, Report, Row, display, display_markdown, shell
from .captured_output import CapturedOutput
from .check_run import CheckRun, HungFunctions
from .help.misuse import explain_misuse, suggest_rename
from .help.slips import common_error_hint
from .help.stale_cell import stale_cell_warning
from .hints import HintState
from .name_guard import restore_course_names
from .progress_bar import ProgressBar, check_progress
from .saved_progress import ExerciseProgress, ProgressStore, bytecode_hash, open_store

EXAMPLES = Path(__file__).parents[1] / "examples"
ENDING = ".examples"
SOLUTIONS = ".solutions"  # published, or not (`solutions.py`)
VALIDATING = "NBGRADER_VALIDATING"  # nbgrader's button Validate: it says what stands on stderr, else "partial credit"
MAX_VALUE_LENGTH = 300  # characters of one value in a report
MAX_TRIES = 20  # are remembered of an exercise, the last ones


@dataclass
class Session:
    """Where the learner's notebook stands.

    lesson   the one that has begun; None: none has
    names    where the learner's functions are bound
    hints    how far each exercise's have been shown
    endless  answers that never ended
    prints   exercise -> what was printed in its last check
    last     exercise -> what was checked last, and the report on it
    memory   what is known of all exercises, of other sessions too
    """

    lesson: str | None = None
    names: dict[str, Any] = field(default_factory=dict)
    hints: HintState = field(default_factory=HintState)
    hung: HungFunctions = field(default_factory=HungFunctions)
    prints: dict[str, CapturedOutput] = field(default_factory=dict)
    last: dict[str, tuple[Any, Report]] = field(default_factory=dict)
    store: ProgressStore = field(default_factory=open_store)


session = Session()


def begin(lesson: str) -> None:
    """Start a lesson, e.g. `begin("02_softmax")`: its examples and hints are loaded, and every exercise that is not
    written yet gets a placeholder, so that the notebook runs from top to bottom whatever is missing. From here on torch
    computes on one thread, unless OMP_NUM_THREADS says on how many: a lesson's tensors are small, and on a busy machine
    threads wait for each other.

    Raises ValueError for a lesson that does not exist, with the names of those that do, and FileNotFoundError where
    the course was installed without its examples.
    """
    if lesson not in lessons():
        there = f"there are {', '.join(lessons())}. One that came with {lesson}{ENDING} needs it beside the notebook"
        raise ValueError(f"there is no lesson {lesson!r}; {there}")
    exercises = exercises_and_challenges(lesson)
    ipython, first = shell(), session.lesson is None
    names = ipython.user_ns if ipython else inspect.currentframe().f_back.f_globals  # type: ignore[union-attr]
    session.lesson, session.names = lesson, names
    for name in exercises:
        names.setdefault(name, _placeholder(name))
    restore_course_names()
    if ipython and first:  # not again, when what was drawn and trained is there, which is not to stay
        with suppress(ImportError):  # what torch would import in the first check of devices, for most of a second
            import_module("torch._dynamo")
        gc.freeze()  # what was imported stays: no collection, in the middle of a check, looks through it for 0.2 s
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
    """Run the visible examples and the practice cases of the exercise `f` and show how it did. Never raises.

    Practice cases are the grade's own criteria, drawn from other numbers. Returns the points that they earn, which
    print as a plain float.
    """
    try:
        with check_progress("cases of the check") as bar:
            shown = check_report(f, bar)
    except Exception as error:
        said = exception_to_record(error)
        shown = Report(name_of(f), "needs a person", 0.0, 0.0, headline=f"{said['type']}: {said['message']}")
    display(shown)
    if VALIDATING in os.environ and shown.earned < shown.points:
        print(*shown.to_text().splitlines()[:2], sep="\n", file=sys.stderr)
    return Points(shown.earned, shown.points)


def printed(f: Any) -> None:
    """Print all that the answer `f` printed in its last check."""
    name = name_of(f)
    print(str(session.prints.get(name, "")) or f"{name} printed nothing in its last check.")


def hint(f: Any) -> None:
    """Show the next hint for the exercise `f`: a question, then the idea, then the shape of the code. Where the whole
    notebook runs again, the same one."""
    name = name_of(f)
    try:
        lesson, hints = lesson_of(name), _find(name)["hints"]
    except (LookupError, OSError, PackingError) as error:
        print(error)
        return
    if not hints:
        print(f"There are no hints for {name}.")
        return
    known = session.store.get(lesson, name)
    index = session.hints.next_hint(name, len(hints), already_shown=known.hints)
    session.store.record(lesson, name, replace(known, hints=max(known.hints, index + 1)))
    again = " (the last one)" if index == len(hints) - 1 else ""
    display_markdown(f"**Hint {index + 1} of {len(hints)}{again}.** {hints[index]}")


def check_report(f: Any, bar: ProgressBar | None = None) -> Report:
    """The report on `f`, or on what was meant by it, with what this check saw beside the cases' outcomes."""
    name, exercises = name_of(f), exercises_and_challenges(session.lesson) if session.lesson else {}
    if type(f) is str and f in exercises and callable(bound := session.names.get(f)):
        shown = check_report(bound, bar)
        shown.notes.append(f"`check` takes the function itself: write `check({f})`, without quotation marks.")
        return shown
    name, wrong = explain_misuse(f, name, session.names, exercises)
    if wrong:
        points = float(exercises[name]["points"]) if name in exercises else 0.0
        return Report(name, "wrong", 0.0, points, headline=wrong)
    with _check_run(f, name) as attempts:
        shown = _build_report(f, name, attempts, bar)
    attempts.add_to_report(shown)
    session.prints[name] = attempts.prints
    session.last[name] = (f, shown)
    if told := stale_cell_warning(name, f) or (
        shown.status == "not started" and suggest_rename(name, session.names, exercises)
    ):
        shown.headline = f"{told} {shown.headline}" if shown.status != "not started" else told
    _remember(name, f, shown)
    if shown.status == "passes" and find_file(f"{lesson_of(name)}{SOLUTIONS}").is_file():
        shown.notes.append(f"Other right answers: `from course import solution; solution({name})`.")
    return shown


def _remember(name: str, f: Any, shown: Report) -> None:
    """Note where the exercise stands, and which answer was tried. A placeholder says nothing of earlier sessions."""
    if shown.status == "not started":
        return
    known, tried = session.store.get(lesson := lesson_of(name), name), bytecode_hash(f)
    tries = known.tries if tried is None or tried in known.tries else [*known.tries, tried][-MAX_TRIES:]
    passed = known.passed or shown.status == "passes"
    session.store.record(lesson, name, ExerciseProgress(shown.status, shown.earned, passed, known.hints, tries))


@contextmanager
def _check_run(f: Any, name: str) -> Iterator[CheckRun]:
    """The calls of one check of `f`; one that never ended is remembered."""
    attempts = CheckRun()
    session.hung.known.pop(name, None)
    with session.hung.left_out(session.names, name):
        yield attempts
    if attempts.stopped:
        session.hung.known[name] = f


def passes_examples(f: Any) -> bool:
    """Whether the visible examples of the exercise `f` are right, which takes milliseconds."""
    name = name_of(f)
    with _check_run(f, name) as attempts:
        asked = CaseResults(attempts.run_case)
        asked.run_cases([case_of(one) for one in _find(name)["cases"]], _names_around(f, name))
    return asked.right


def _build_report(f: Any, name: str, attempts: CheckRun, bar: ProgressBar | None) -> Report:
    """What the visible examples say of `f`, and then the practice cases."""
    data, names, asked = _find(name), _names_around(f, name), CaseResults(attempts.run_case)
    points, examples = float(data["points"]), [case_of(one) for one in data["cases"]]
    asked.run_cases(examples, names)
    if asked.untouched:
        blank = [
            replace(row, status="not started", points="", details=[])
            for row in _criterion_rows(asked, len(examples), ())
        ]
        headline = "Write it in the cell above, then run this one."
        return Report(name, "not started", 0.0, points, blank, headline=headline, unit=_unit(data))
    practice = _practice(name)
    if bar:
        bar.total = len(examples) + len(practice.cases)
    asked.run_cases(practice.cases, names, bar or (lambda _: None))
    rows = _criterion_rows(asked, len(examples), practice.criteria)
    shown = Report(name, "wrong", 0.0, points, rows, see=data["see"], unit=_unit(data))
    return _summarise(shown, asked, len(examples), practice)


def _unit(data: dict[str, Any]) -> str:
    """What an exercise earns, and a challenge."""
    return "stars" if data.get("stars") else POINTS


def _summarise(shown: Report, asked: CaseResults, examples: int, practice: Practice) -> Report:
    """The report with what was found, said in one sentence where that is known, and the points that it earns."""
    if asked.right:
        headline = f"It passes the examples and {len(practice.cases)} practice cases."
        footnote = "The grade draws other numbers." if shown.unit == POINTS else "A challenge, which is not graded."
        return replace(shown, status="passes", earned=shown.points, see="", headline=headline, footnote=footnote)
    if asked.used:
        headline = f"Not allowed in this exercise: {', '.join(asked.used)}. Write it yourself."
        return replace(shown, status="not allowed", see="", headline=headline)
    asked_of = zip(practice.criteria, practice.groups(examples), strict=True)
    earned = round(sum(criterion.points for criterion, cases in asked_of if not asked.wrong(cases)), 2)
    found = asked.diagnose(examples, practice)
    texts = {one.name: one.text for one in practice.mistakes.values()}
    return replace(
        shown,
        status="partly right" if earned else "wrong",
        earned=earned,
        headline=found.to_sentence(texts) or common_error_hint(shown.exercise, asked.seen),
        see=(practice.mistakes[found.names[0]].see if found.names else "") or shown.see,
    )


def _criterion_rows(asked: CaseResults, examples: int, criteria: Sequence[Criterion]) -> list[Row]:
    """A row for each of so many examples, several of one name in one, and for each criterion that has practice cases:
    what is wrong with its first case that fails. The same words over and over would bury those that differ."""
    told = set[str]()

    def row(name: str, cases: Sequence[int], points: float | None = None) -> Row:
        wrong = asked.wrong(cases)
        earned = "" if points is None else f"{0 if wrong else points:g} of {points:g}"
        if not wrong:
            return Row(name, "right", earned)
        new = next((i for i in wrong if asked.text(i) not in told), None)
        if new is None:
            return Row(name, "wrong", f"as above, {earned}" if earned else "as above")
        told.add(asked.text(new))
        return Row(name, "wrong", earned, ["\n".join(_case_details(asked, new, shown=new < examples))])

    named = groupby(range(examples), lambda i: asked.cases[i].name)
    rows = [row(name, list(cases)) for name, cases in named]
    shown = [(c, [examples + i for i in c.cases]) for c in criteria if c.cases]
    return rows + [row(c.name, cases, c.points) for c, cases in shown]


def _case_details(asked: CaseResults, number: int, shown: bool) -> list[str]:
    """The lines on one case that is wrong. `shown`: what was expected, too, which practice cases keep to themselves:
    some of them the grade has as they are."""
    case, seen, finding = asked.cases[number], asked.seen[number], asked.findings[number]
    lines = [case.text, asked.text(number)]
    if not shown or finding is None or finding.stage in ("raised", "message", "gradient", "unchanged"):
        return lines
    for name, expected in case.reference.native.values.items():
        wanted, got = _format_value(expected), _format_value(seen.values.get(name)) if not seen.raised else ""
        if wanted:
            lines.append(f"expected {wanted}")
            lines += [f"     got {got}"] if got else []
    return lines


def _format_value(value: Any) -> str:
    """Few numbers in full, many not at all; a long text is cut."""
    if sum(v.numel() if isinstance(v, torch.Tensor) else 1 for _, v in leaves(value)) > 16:
        return ""
    if isinstance(value, torch.Tensor):
        return str(value.tolist() if not value.is_floating_point() else _rounded(value.tolist()))
    if isinstance(value, tuple):
        return "(" + ", ".join(map(_format_value, value)) + ")"
    if isinstance(value, Node):
        return ""
    text = repr(_rounded(value))
    return text if len(text) <= MAX_VALUE_LENGTH else f"{text[:MAX_VALUE_LENGTH]} …"


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


def _names_around(f: Any, name: str) -> dict[str, Any]:
    """The names that the learner's function sees, with `f` itself under the exercise's name."""
    return {**(session.names or getattr(f, "__globals__", {})), name: f}


def lesson_of(name: str) -> str:
    """The lesson whose exercise it is. Raises LookupError."""
    for lesson in _lessons_here():
        if name in exercises_and_challenges(lesson):
            return lesson
    where = f"lesson {session.lesson}" if session.lesson else "any lesson"
    raise LookupError(f"{name!r} is not an exercise of {where}; pass the function itself, e.g. check(softmax)")


def _find(name: str) -> dict[str, Any]:
    return exercises_and_challenges(lesson_of(name))[name]


def _practice(name: str) -> Practice:
    """The practice cases of the exercise. Raises PackingError, which says what to do, where they are missing."""
    path = find_file(f"{lesson_of(name)}/{name}{PRACTICE}")
    try:
        return read(path)
    except (OSError, PackingError) as error:
        raise PackingError(f"{path} cannot be read ({error}): install the course again") from None


def _lessons_here() -> list[str]:
    return [session.lesson] if session.lesson else lessons()


@cache
def exercises_of(lesson: str) -> dict[str, dict[str, Any]]:
    """What is known of a lesson's exercises, by name: points, hints, visible examples."""
    return _examples(lesson)["exercises"]


@cache
def challenges_of(lesson: str) -> dict[str, dict[str, Any]]:
    """What is known of its challenges, which are not graded, by name: stars for points, hints, visible examples."""
    return _examples(lesson).get("challenges", {})


def exercises_and_challenges(lesson: str) -> dict[str, dict[str, Any]]:
    """Exercises and challenges."""
    return exercises_of(lesson) | challenges_of(lesson)


def _examples(lesson: str) -> dict[str, dict[str, dict[str, Any]]]:
    path = find_file(f"{lesson}{ENDING}")
    try:
        found: dict[str, dict[str, dict[str, Any]]] = unpack(path.read_bytes())
    except PackingError as error:
        raise PackingError(f"{path} cannot be read ({error}): install the course again") from None
    return found


def find_file(file: str) -> Path:
    """A file beside the notebook, which came with it, before the package's."""
    beside = Path(file)
    return beside if beside.is_file() else EXAMPLES / file


def name_of(f: Any) -> str:
    """The exercise that `f` answers: one whose name is bound to it, which may be any object, else its own name."""
    try:
        own = f if type(f) is str else str(getattr(f, "__name__", type(f).__name__))
    except Exception:
        own = type(f).__name__
    exercises = exercises_and_challenges(session.lesson) if session.lesson else {}
    bound = [name for name in exercises if name in session.names and session.names[name] is f]
    return own if own in bound or not bound else bound[0]


def _placeholder(name: str) -> Callable[..., Any]:
    def missing(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{name} is not written yet")

    missing.__name__ = missing.__qualname__ = name
    return missing
