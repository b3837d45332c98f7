"""`check`: run an answer on an exercise's check data and report the result."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..check_data import CaseResults, Practice, case_of
from ..harness.errors import exception_to_record
from ..harness.forbidden_calls import trusting
from ..harness.sentences import listed, split_sentence
from ..report import EXPERIMENT, POINTS, STEP, UNGRADED, Points, Report, display
from . import catalog, hand_in, session
from .answer_or_fallback import own_answer
from .attempt import NOT_STARTED, Attempt
from .check_run import CheckRun
from .experiment import experiment_report
from .follow_through import earlier_called, fallback_for, replaced
from .help.misuse import explain_misuse, suggest_rename
from .help.stale_cell import is_unreadable, stale_cell_warning
from .progress_bar import ProgressBar, check_progress
from .saved_progress import ExerciseProgress, bytecode_hash

VALIDATING = "NBGRADER_VALIDATING"  # nbgrader's Validate button shows stderr, or else "partial credit"
MAX_TRIES = 20  # latest tries saved per exercise
NO_FINDING = object()


def check(f: Any, finding: Any = NO_FINDING, full: bool = False) -> Points | None:
    """Check the exercise or step `f` on its examples and practice cases, and show a report.

    Practice cases test the grade's own criteria with other numbers. Returns the points that they earn, which print as a
    plain float; None for a step and for an experiment, which have no points. Never raises.

    finding  with `check("experiment", finding)`: the result of the lesson's experiment
    full     outside a notebook: show everything, also the points for each requirement and all failing cases
    """
    if type(f) is str and f == EXPERIMENT:
        shown = experiment_report(None if finding is NO_FINDING else finding)
        display(shown)
        return None
    full = full or finding is True  # `full` used to be the second argument
    shown = safe_report(f)
    if note := hand_in.version_note(shown.exercise):
        shown.notes.append(note)
    display(shown, full, f"(all cases: check({shown.exercise}, full=True))")
    if VALIDATING in os.environ and shown.earned < shown.points:
        print(*shown.to_text().splitlines()[:2], sep="\n", file=sys.stderr)
    return None if shown.unit in UNGRADED else Points(shown.earned, shown.points)


def safe_report(f: Any) -> Report:
    """Check `f` and return the report. Never raises."""
    try:
        with check_progress("cases of the check") as bar:
            return check_report(f, bar)
    except Exception as error:
        problem = exception_to_record(error)
        headline = f"{problem['type']}: {problem['message']}"
        return Report(session.name_of(f), "needs a person", 0.0, 0.0, headline=headline)


def printed(f: Any) -> None:
    """Print all output of the answer `f` in its last check."""
    name = session.name_of(f)
    print(str(session.current.prints.get(name, "")) or f"{name} printed nothing in its last check.")


def check_report(f: Any, bar: ProgressBar | None = None, passing: dict[str, bool] | None = None) -> Report:
    """Check `f`, or the exercise that was meant by it, and return the report.

    passing  earlier exercises that this check has looked at already, and whether they pass
    """
    f = own_answer(f)
    name = session.name_of(f)
    exercises = catalog.tasks_of(session.current.lesson) if session.current.lesson else {}
    if type(f) is str and f in exercises and callable(bound := session.current.names.get(f)):
        shown = check_report(bound, bar)
        shown.notes.append(f"`check` takes the function itself: write `check({f})`, without quotation marks.")
        return shown
    name, wrong = explain_misuse(f, name, session.current.names, exercises)
    if wrong:
        points = float(exercises[name]["points"]) if name in exercises else 0.0
        unit = session.unit_of(name) if name in exercises else POINTS
        headline, advice = split_sentence(wrong)
        return Report(name, "wrong", 0.0, points, headline=headline, advice=advice, unit=unit)
    shown, run = _judge(f, name, bar, {} if passing is None else passing)
    session.current.prints[name] = run.prints
    if warning := stale_cell_warning(name, f) or (
        shown.status == "not started" and suggest_rename(name, session.current.names, exercises)
    ):
        shown.headline = f"{warning} {shown.headline}" if shown.status != "not started" else warning
    if shown.status == "not started":
        why = hand_in.full_cell_note(name)
        shown.status = "wrong" if why or is_unreadable(name) else shown.status
        if why and shown.headline == NOT_STARTED:
            shown.headline = why
    session.current.last[name] = (f, shown)
    _remember(name, f, shown)
    if shown.status == "passes" and catalog.find_file(f"{session.lesson_of(name)}{catalog.SOLUTIONS}").is_file():
        shown.details.append(f"Other right answers: `from course import solution; solution({name})`.")
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
    f = own_answer(session.current.names[name])
    of, shown = session.current.last.get(name, (None, None))
    return shown if shown and of is f and passes_examples(f) else check_report(f, passing=passing)


def _passes(name: str, passing: dict[str, bool]) -> bool:
    if name not in passing:
        passing[name] = False  # until it is known, for answers that call each other
        f = own_answer(session.current.names.get(name))
        tried = f is not None and f not in session.current.hung
        passing[name] = tried and latest_report(name, passing).status == "passes"
    return passing[name]


def passes_examples(f: Any) -> bool:
    """Whether the exercise `f` passes its visible examples, which takes milliseconds."""
    f = own_answer(f)
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


def _judge(f: Any, name: str, bar: ProgressBar | None, passing: dict[str, bool]) -> tuple[Report, CheckRun]:
    """Run an answer and report on it, with right functions in place of wrong earlier answers."""
    found = _attempt(f, name, bar)
    called = [] if found.asked.right or found.run.interrupted else _wrong_answers_called(f, name, passing)
    lesson, replaceable = session.lesson_of(name), filter(_may_be_replaced, called)
    fallbacks = {e: right for e in replaceable if (right := fallback_for(lesson, e, session.exercise_data(e)))}
    notes = []
    if fallbacks:
        with trusting(fallbacks.values()), replaced(_namespace(f), fallbacks):
            again = _attempt(f, name, bar)
        same_points = again.rank == found.rank  # then what is said is about this answer alone
        if again.rank > found.rank or (same_points and again.asked.findings != found.asked.findings):
            found = again
            notes.append(
                f"Checked with a right {listed(list(fallbacks))} in place of yours, so that one mistake costs once."
            )
    shown = found.report([e for e in called if e not in fallbacks])
    shown.notes += notes
    return shown, found.run


def _wrong_answers_called(f: Any, name: str, passing: dict[str, bool]) -> list[str]:
    """The earlier exercises of the lesson that `f` calls and that do not pass."""
    called = earlier_called(f, name, session.lesson_of(name), _namespace(f))
    return [earlier for earlier in called if not _passes(earlier, passing)]


def _may_be_replaced(name: str) -> bool:
    """An exercise has cost its points; a step has none, and only an attempt at it is replaced."""
    if session.unit_of(name) != STEP:
        return True
    f = own_answer(session.current.names.get(name))
    return f is not None and f not in session.current.hung and _attempt(f, name, None).is_attempt


def _attempt(f: Any, name: str, bar: ProgressBar | None) -> Attempt:
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
    return Attempt(name, run, asked, len(examples), practice)


def _namespace(f: Any) -> dict[str, Any]:
    """The names that the learner's function uses."""
    return session.current.names or getattr(f, "__globals__", {})


def _names_with(f: Any, name: str) -> dict[str, Any]:
    """These names, with `f` under the exercise's name."""
    return {**_namespace(f), name: f}
