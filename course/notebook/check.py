"""`check`: run an answer on an exercise's check data and report the result."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import torch

from ..check_data import CaseResults, Practice, case_of
from ..harness.compare import leaves
from ..harness.errors import exception_to_record
from ..harness.forbidden_calls import trusting
from ..harness.serialization import Node
from ..report import POINTS, Points, Report, Row, display
from . import catalog, session
from .check_run import CheckRun
from .follow_through import earlier_called, fallback_for, replaced
from .help.misuse import explain_misuse, suggest_rename
from .help.stale_cell import is_unreadable, stale_cell_warning
from .progress_bar import ProgressBar, check_progress
from .saved_progress import ExerciseProgress, bytecode_hash

VALIDATING = "NBGRADER_VALIDATING"  # nbgrader's Validate button shows stderr, or else "partial credit"
MAX_VALUE_LENGTH = 300  # characters of one value in a report
NOT_STARTED = "Write it in the cell above, then run this one."
MAX_TRIES = 20  # latest tries saved per exercise


def check(f: Any) -> Points:
    """Check the exercise `f` on its examples and practice cases, and show a report.

    Practice cases test the grade's own criteria with other numbers. Returns the points that they earn, which print as a
    plain float. Never raises.
    """
    try:
        with check_progress("cases of the check") as bar:
            shown = check_report(f, bar)
    except Exception as error:
        problem = exception_to_record(error)
        shown = Report(
            session.name_of(f), "needs a person", 0.0, 0.0, headline=f"{problem['type']}: {problem['message']}"
        )
    display(shown)
    if VALIDATING in os.environ and shown.earned < shown.points:
        print(*shown.to_text().splitlines()[:2], sep="\n", file=sys.stderr)
    return Points(shown.earned, shown.points)


def printed(f: Any) -> None:
    """Print all output of the answer `f` in its last check."""
    name = session.name_of(f)
    print(str(session.current.prints.get(name, "")) or f"{name} printed nothing in its last check.")


def check_report(f: Any, bar: ProgressBar | None = None, passing: dict[str, bool] | None = None) -> Report:
    """Check `f`, or the exercise that was meant by it, and return the report.

    passing  earlier exercises that this check has looked at already, and whether they pass
    """
    name = session.name_of(f)
    exercises = catalog.exercises_and_challenges(session.current.lesson) if session.current.lesson else {}
    if type(f) is str and f in exercises and callable(bound := session.current.names.get(f)):
        shown = check_report(bound, bar)
        shown.notes.append(f"`check` takes the function itself: write `check({f})`, without quotation marks.")
        return shown
    name, wrong = explain_misuse(f, name, session.current.names, exercises)
    if wrong:
        points = float(exercises[name]["points"]) if name in exercises else 0.0
        return Report(name, "wrong", 0.0, points, headline=wrong)
    shown, run = _judge(f, name, bar, {} if passing is None else passing)
    run.add_to_report(shown)
    session.current.prints[name] = run.prints
    if warning := stale_cell_warning(name, f) or (
        shown.status == "not started" and suggest_rename(name, session.current.names, exercises)
    ):
        shown.headline = f"{warning} {shown.headline}" if shown.status != "not started" else warning
    if shown.status == "not started" and is_unreadable(name):
        shown.status, shown.rows = "wrong", [replace(row, status="not reached") for row in shown.rows]
    session.current.last[name] = (f, shown)
    _remember(name, f, shown)
    if shown.status == "passes" and catalog.find_file(f"{session.lesson_of(name)}{catalog.SOLUTIONS}").is_file():
        shown.notes.append(f"Other right answers: `from course import solution; solution({name})`.")
    return shown


def _remember(name: str, f: Any, shown: Report) -> None:
    """Save the exercise's status and the try, except for a placeholder."""
    if shown.status == "not started":
        return
    known, tried = session.current.store.get(lesson := session.lesson_of(name), name), bytecode_hash(f)
    tries = known.tries if tried is None or tried in known.tries else [*known.tries, tried][-MAX_TRIES:]
    passed = known.passed or shown.status == "passes"
    session.current.store.record(lesson, name, ExerciseProgress(shown.status, shown.earned, passed, known.hints, tries))


def latest_report(name: str, passing: dict[str, bool] | None = None) -> Report:
    """The report on an exercise's answer as it is now: the last one, if its examples still pass, or a new one."""
    f = session.current.names[name]
    of, shown = session.current.last.get(name, (None, None))
    return shown if shown and of is f and passes_examples(f) else check_report(f, passing=passing)


def _passes(name: str, passing: dict[str, bool]) -> bool:
    if name not in passing:
        f = session.current.names.get(name)
        tried = f is not None and f not in session.current.hung
        passing[name] = tried and latest_report(name, passing).status == "passes"
    return passing[name]


def passes_examples(f: Any) -> bool:
    """Whether the exercise `f` passes its visible examples, which takes milliseconds."""
    name = session.name_of(f)
    with _calls_of(f, name) as run:
        asked = CaseResults(run.run_case)
        asked.run_cases([case_of(record) for record in session.exercise_data(name)["cases"]], _names_with(f, name))
    return asked.right


@contextmanager
def _calls_of(f: Any, name: str) -> Iterator[CheckRun]:
    """The run of an answer's calls; an answer that hangs is recorded."""
    run = CheckRun()
    session.current.hung.known.pop(name, None)
    with session.current.hung.left_out(session.current.names, name):
        yield run
    if run.stopped:
        session.current.hung.known[name] = f


@dataclass
class _Attempt:
    """The calls of an answer with all cases, and their results; no practice cases if it is not started."""

    run: CheckRun
    asked: CaseResults
    examples: int
    practice: Practice

    @property
    def earned(self) -> float:
        if self.asked.used:
            return 0.0
        asked_of = zip(self.practice.criteria, self.practice.groups(self.examples, self.asked.findings), strict=True)
        return round(sum(criterion.points for criterion, cases in asked_of if not self.asked.wrong(cases)), 2)

    @property
    def rank(self) -> tuple[bool, bool, float]:
        return self.asked.right, not self.asked.untouched, self.earned


def _judge(f: Any, name: str, bar: ProgressBar | None, passing: dict[str, bool]) -> tuple[Report, CheckRun]:
    """Run an answer and report on it, with right functions in place of wrong earlier answers."""
    found = _attempt(f, name, bar)
    called = [] if found.asked.right or found.run.interrupted else _wrong_answers_called(f, name, passing)
    fallbacks = {e: right for e in called if (right := fallback_for(e, session.exercise_data(e)))}
    notes = []
    if fallbacks:
        with trusting(fallbacks.values()), replaced(_namespace(f), fallbacks):
            again = _attempt(f, name, bar)
        same_points = again.rank == found.rank  # then what is said is about this answer alone
        if again.rank > found.rank or (same_points and again.asked.findings != found.asked.findings):
            found = again
            listed = " and ".join(f"`{e}`" for e in fallbacks)
            notes.append(f"Checked with a right {listed} in place of yours, so that one mistake costs once.")
    shown = _report_on(found, name, [e for e in called if e not in fallbacks])
    kept = [f"`{criterion.name}`" for criterion in found.practice.criteria if criterion.graded_only]
    if kept:
        notes.append(f"Only the grade asks, in whole or in part: {', '.join(kept)}.")
    shown.notes += notes
    return shown, found.run


def _wrong_answers_called(f: Any, name: str, passing: dict[str, bool]) -> list[str]:
    """The earlier exercises of the lesson that `f` calls and that do not pass."""
    called = earlier_called(f, name, session.lesson_of(name), _namespace(f))
    return [earlier for earlier in called if not _passes(earlier, passing)]


def _attempt(f: Any, name: str, bar: ProgressBar | None) -> _Attempt:
    """Run the visible examples and then, unless the answer is not started, the practice cases."""
    examples = [case_of(record) for record in session.exercise_data(name)["cases"]]
    with _calls_of(f, name) as run:
        asked, names, practice = CaseResults(run.run_case), _names_with(f, name), Practice()
        asked.run_cases(examples, names)
        if not asked.untouched:
            practice = catalog.practice_of(session.lesson_of(name), name)
            if bar:
                bar.total = len(examples) + len(practice.cases)
            asked.run_cases(practice.cases, names, bar or (lambda _: None))
    return _Attempt(run, asked, len(examples), practice)


def _report_on(found: _Attempt, name: str, missing: list[str]) -> Report:
    """The report on an attempt. `missing`: wrong answers that it calls, in whose place nothing could be put."""
    data = session.exercise_data(name)
    points, asked = float(data["points"]), found.asked
    rows = _criterion_rows(asked, found.examples, found.practice)
    shown = Report(name, "wrong", 0.0, points, rows, see=data["see"], unit=_unit(data))
    if asked.used:
        return _summarise(shown, found)
    if missing and not asked.right:
        listed = " and ".join(f"`{earlier}`" for earlier in missing)
        verb = "does" if len(missing) == 1 else "do"
        shown.headline = (
            f"It calls {listed}, which {verb} not pass yet. Get that right first, then check this again. The grade "
            "puts a right answer in its place."
        )
        shown.status, shown.earned = "partly right" if found.earned else "wrong", found.earned
        return shown
    if asked.untouched:
        blank = [replace(row, status="not started", points="", details=[]) for row in rows]
        return replace(shown, status="not started", rows=blank, see="", headline=NOT_STARTED)
    return _summarise(shown, found)


def _unit(data: dict[str, Any]) -> str:
    """The unit of what an exercise or a challenge earns."""
    return "stars" if data.get("stars") else POINTS


def _summarise(shown: Report, found: _Attempt) -> Report:
    """Complete the report: status, points, and one sentence on what was found."""
    asked, practice = found.asked, found.practice
    if asked.right:
        headline = f"It passes the examples and {len(practice.cases)} practice cases."
        footnote = "The grade draws other numbers." if shown.unit == POINTS else "A challenge, which is not graded."
        return replace(shown, status="passes", earned=shown.points, see="", headline=headline, footnote=footnote)
    if asked.used:
        headline = f"Not allowed in this exercise: {', '.join(asked.used)}. Write it yourself."
        return replace(shown, status="not allowed", see="", headline=headline)
    diagnosis = asked.diagnose(shown.exercise, found.examples, practice)
    texts = {mistake.name: mistake.text for mistake in practice.mistakes.values()}
    return replace(
        shown,
        status="partly right" if found.earned else "wrong",
        earned=found.earned,
        headline=diagnosis.to_sentence(texts),
        see=(practice.mistakes[diagnosis.names[0]].see if diagnosis.names else "") or shown.see,
    )


def _criterion_rows(asked: CaseResults, examples: int, practice: Practice) -> list[Row]:
    """Rows for the examples, by name, and for the criteria with practice cases.

    A row shows its first failing case, but no text twice: repetition would hide the others.
    """
    reported = set[str]()

    def row(name: str, cases: Sequence[int], points: float | None = None) -> Row:
        wrong = asked.wrong(cases)
        earned = "" if points is None else f"{0 if wrong else points:g} of {points:g}"
        if not wrong:
            return Row(name, "right", earned)
        new = next((i for i in wrong if asked.text(i) not in reported), None)
        if new is None:
            return Row(name, "wrong", f"as above, {earned}" if earned else "as above")
        reported.add(asked.text(new))
        return Row(name, "wrong", earned, ["\n".join(_case_details(asked, new, shown=new < examples))])

    named = groupby(range(examples), lambda i: asked.cases[i].name)
    rows = [row(name, list(cases)) for name, cases in named]
    groups = zip(practice.criteria, practice.groups(examples, asked.findings), strict=True)
    return rows + [row(c.name, cases, c.points) for c, cases in groups if c.cases]


def _case_details(asked: CaseResults, number: int, shown: bool) -> list[str]:
    """Lines about a failing case. `shown`: include the expected value.

    Practice cases do not show it, since some of them are in the grade unchanged.
    """
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
    """Format few numbers in full, many not at all; shorten a long text."""
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


def _namespace(f: Any) -> dict[str, Any]:
    """The names that the learner's function uses."""
    return session.current.names or getattr(f, "__globals__", {})


def _names_with(f: Any, name: str) -> dict[str, Any]:
    """These names, with `f` under the exercise's name."""
    return {**_namespace(f), name: f}
