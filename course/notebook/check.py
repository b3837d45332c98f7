"""`check`: run an answer on an exercise's check data and report the result."""

from __future__ import annotations

import os
import sys
from typing import Any

from ..check_data import CaseResults, Practice, case_of
from ..harness.errors import exception_to_record
from ..harness.forbidden_calls import trusting
from ..harness.sentences import listed, split_sentence
from ..report import EXPERIMENT, POINTS, STEP, UNGRADED, Points, Report, display
from . import catalog, hand_in, hints
from .attempt import NOT_STARTED, Attempt
from .check_run import CheckRun, calls_of, namespace, passes_examples
from .experiment import experiment_report
from .follow_through import earlier_called, replaced, right_function_for
from .progress_bars import ProgressBar, check_progress
from .saved_progress import bytecode_hash
from .session import Session, current
from .wrong_function import explain_misuse, is_unreadable, stale_cell_warning, suggest_rename

VALIDATING = "NBGRADER_VALIDATING"  # nbgrader's Validate button shows stderr, or else "partial credit"
FAILED = ("wrong", "partly right", "not allowed")
MAX_TRIES = 20  # latest tries saved per exercise
NO_FINDING = object()


def check(f: Any, finding: Any = NO_FINDING, full: bool = False) -> Points | None:
    """Check the exercise `f` on its examples and practice cases, and show a report.

    Practice cases test the grade's own criteria with other numbers. Returns the points that they earn, which print as a
    plain float; None for an exercise without points and for an experiment. Never raises.

    finding  with `check("experiment", finding)`: the result of the lesson's experiment
    full     outside a notebook: show everything, also the points for each requirement and all failing cases
    """
    session = current()
    if type(f) is str and f == EXPERIMENT:
        shown = experiment_report(session, None if finding is NO_FINDING else finding)
        display(shown)
        return None
    shown = safe_report(session, f)
    if note := hand_in.version_note(session, shown.exercise):
        shown.notes.append(note)
    if shown.status in FAILED:
        shown.ask = hints.next_help(session, shown.exercise)
    display(shown, full, f"(all cases: check({shown.exercise}, full=True))")
    if VALIDATING in os.environ and shown.earned < shown.points:
        print(*shown.to_text().splitlines()[:2], sep="\n", file=sys.stderr)
    return None if shown.unit in UNGRADED else Points(shown.earned, shown.points)


def safe_report(session: Session, f: Any) -> Report:
    """Check `f` and return the report. Never raises."""
    try:
        with check_progress("cases of the check") as bar, session.stand_ins.closed():
            return check_report(session, f, bar)
    except Exception as error:
        problem = exception_to_record(error)
        headline = f"{problem['type']}: {problem['message']}"
        return Report(session.name_of(f), "needs a person", 0.0, 0.0, headline=headline)


def printed(f: Any) -> None:
    """Print all output of the answer `f` in its last check."""
    session = current()
    name = session.name_of(f)
    print(str(session.prints.get(name, "")) or f"{name} printed nothing in its last check.")


def check_report(
    session: Session, f: Any, bar: ProgressBar | None = None, passing: dict[str, bool] | None = None
) -> Report:
    """Check `f`, or the exercise that was meant by it, and return the report.

    passing  earlier exercises that this check has looked at already, and whether they pass
    """
    f = session.stand_ins.own(f)
    name = session.name_of(f)
    exercises = session.tasks
    if type(f) is str and f in exercises and callable(bound := session.names.get(f)):
        shown = check_report(session, bound, bar)
        shown.notes.append(f"`check` takes the function itself: write `check({f})`, without quotation marks.")
        return shown
    name, wrong = explain_misuse(f, name, session.names, exercises)
    if wrong:
        points = float(exercises[name]["points"]) if name in exercises else 0.0
        unit = session.unit_of(name) if name in exercises else POINTS
        headline, advice = split_sentence(wrong)
        return Report(name, "wrong", 0.0, points, headline=headline, advice=advice, unit=unit)
    shown, run = _judge(session, f, name, bar, {} if passing is None else passing)
    session.prints[name] = run.prints
    if warning := stale_cell_warning(name, f) or (
        shown.status == "not started" and suggest_rename(name, session.names, exercises)
    ):
        shown.headline = f"{warning} {shown.headline}" if shown.status != "not started" else warning
    if shown.status == "not started":
        why = hand_in.full_cell_note(session, name)
        shown.status = "wrong" if why or is_unreadable(name) else shown.status
        if why and shown.headline == NOT_STARTED:
            shown.headline = why
    session.last[name] = (f, shown)
    _remember(session, name, f, shown)
    if shown.status == "passes" and hints.is_open(session, name):
        shown.details.append(f"Other right answers: `solution({name})`.")
    return shown


def _remember(session: Session, name: str, f: Any, shown: Report) -> None:
    """Save the exercise's status and the try, except for a placeholder."""
    if shown.status == "not started":
        return
    lesson = session.lesson_of(name)
    known = session.store.get(lesson, name).after(shown.status, shown.earned, bytecode_hash(f), most=MAX_TRIES)
    session.store.record(lesson, name, known)


def latest_report(session: Session, name: str, passing: dict[str, bool] | None = None) -> Report:
    """The report on an exercise's answer as it is now: the last one, if its examples still pass, or a new one."""
    f = session.names[name]
    of, shown = session.last.get(name, (None, None))
    return (
        shown if shown and of is f and passes_examples(session, f, name) else check_report(session, f, passing=passing)
    )


def _passes(session: Session, name: str, passing: dict[str, bool]) -> bool:
    if name not in passing:
        passing[name] = False  # until it is known, for answers that call each other
        f = session.names.get(name)
        tried = f is not None and f not in session.hung
        passing[name] = tried and latest_report(session, name, passing).status == "passes"
    return passing[name]


def _judge(
    session: Session, f: Any, name: str, bar: ProgressBar | None, passing: dict[str, bool]
) -> tuple[Report, CheckRun]:
    """Run an answer and report on it, with right functions in place of wrong earlier answers."""
    found = _attempt(session, f, name, bar)
    called = [] if found.results.right or found.run.interrupted else _wrong_answers_called(session, f, name, passing)
    lesson, replaceable = session.lesson_of(name), (e for e in called if _may_be_replaced(session, e))
    stand_ins = {e: right for e in replaceable if (right := right_function_for(lesson, e, session.exercise_data(e)))}
    notes = []
    if stand_ins:
        with trusting(stand_ins.values()), replaced(namespace(session, f), stand_ins):
            again = _attempt(session, f, name, bar)
        same_points = again.rank == found.rank  # then what is said is about this answer alone
        if again.rank > found.rank or (same_points and again.results.findings != found.results.findings):
            found = again
            notes.append(
                f"Checked with a right {listed(list(stand_ins))} in place of yours, so that one mistake costs once."
            )
    shown = found.report([e for e in called if e not in stand_ins])
    shown.notes += notes
    return shown, found.run


def _wrong_answers_called(session: Session, f: Any, name: str, passing: dict[str, bool]) -> list[str]:
    """The earlier exercises of the lesson that `f` calls and that do not pass."""
    called = earlier_called(f, name, session.lesson_of(name), namespace(session, f))
    return [earlier for earlier in called if not _passes(session, earlier, passing)]


def _may_be_replaced(session: Session, name: str) -> bool:
    """An exercise has cost its points; a step has none, and only an attempt at it is replaced."""
    if session.unit_of(name) != STEP:
        return True
    f = session.names.get(name)
    return f is not None and f not in session.hung and _attempt(session, f, name, None).is_attempt


def _attempt(session: Session, f: Any, name: str, bar: ProgressBar | None) -> Attempt:
    """Run the visible examples and then, unless the answer is not started, the practice cases."""
    examples = [case_of(record) for record in session.exercise_data(name)["cases"]]
    with calls_of(session, f, name) as run:
        results, names, practice = CaseResults(run.run_case), {**namespace(session, f), name: f}, Practice()
        results.run_cases(examples, names)
        if not results.untouched:
            practice = catalog.practice_of(session.lesson_of(name), name)
            if bar:
                bar.total = len(examples) + len(practice.cases)
            results.run_cases(practice.cases, names, bar or (lambda _: None))
    return Attempt(session, name, run, results, len(examples), practice)
