"""What hostile submissions achieve against nbgrader alone and this course.

    python -m benchmarks.hostile [NAME ...] [-v]     NAME: a kind, or the beginning of a submission's name

Both grade the corpus of tests/submissions, the same answers to the same exercise cells; nbgrader alone has the hidden
cases as asserts in the student's kernel (`stock`). Each submission is graded between two honest neighbours, beside the
canaries of tests/support/canaries.py. Counted are submissions that

    earned too much   got more points for an exercise than its tensors earn
    got out           showed a secret, disturbed a canary or somebody else's file or grade, or left a process running
    stopped grading   ended or hung the batch, kept a neighbour from being graded, or made the process that holds the
                      gradebook take gigabytes
    acted when read   when the teacher opened them in a real formgrader or as feedback: ran a script, sent a request, or
                      changed the gradebook or a file (kind `page`, which needs Chromium)
    lost points       got less than all points for a correct answer

Against nbgrader alone, every submission gets its own copy of the course and its own process, with a time limit and
bounded memory, since some would end or hang the batch. Here, each kind is graded as one batch, and one by one only if
something went wrong for the batch. The attacks are bounded: those that succeed harm only that copy.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import groupby
from pathlib import Path

import nbformat
from nbformat.warnings import DuplicateCellId
from nbgrader.api import Gradebook, MissingEntry
from playwright.sync_api import sync_playwright
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from sqlalchemy.exc import SQLAlchemyError

from grading.coordinator.demo_class import correct_answers, hand_in, write_answers
from grading.exercises.lesson import load_lesson
from grading.notebooks.cells import exercise_named
from tests.browser.conftest import CHROMIUM
from tests.browser.teacher import opening, sang
from tests.support.canaries import Canaries, register, told, with_secret
from tests.support.corpus import Submission, cases

from .course import ROOT, our_course
from .stock import make_course
from .supervise import succeeded, supervised

LESSON = "02_softmax"
KINDS = ("forge", "peek", "escape", "exhaust", "break", "tamper", "broken", "page", "wrong", "right")
COUNTED = {
    "too_much": "earned too much",
    "out": "got out",
    "stopped": "stopped grading",
    "acted": "acted when read",
    "lost": "lost points",
}
EARLIER, LATER = "aa-honest", "zz-honest"  # neighbours, graded before and after
CELL = 20  # seconds for a cell
FIRST, EACH = 150, 40  # time limit of nbgrader's process in seconds: for one submission, and for each further
GREEDY = 2 * 2**30  # bytes: more than any submission should make the process with the gradebook take
MEMORY = 8 * 2**30  # bytes of address space for each process of nbgrader alone; ours has the sandbox's own limits
LIMITS = f"""
c.ExecutePreprocessor.timeout = {CELL}
c.JudgedExecute.limits = {{"memory": 1536 * 2**20, "disk": 64 * 2**20, "processes": 64}}
"""


@dataclass
class Outcome:
    """What one submission achieved, each as a sentence."""

    case: Submission
    too_much: list[str] = field(default_factory=list)
    out: list[str] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)
    acted: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)


@dataclass(eq=False)
class Batch:
    """One way of grading.

    course  to be copied; the lesson is released and the earlier neighbour graded
    """

    name: str
    course: Path
    memory: int
    together: bool  # whether all of a kind are graded in one go
    most: dict[str, dict[str, float]] = field(default_factory=dict)  # as in `CommandRun`, over all that was graded

    def grade(self, corpus: list[Submission], canaries: Canaries) -> Iterator[Outcome]:
        """Yield the outcomes as they become known."""
        pages = corpus[0].kind == "page"  # their target is the reader, not the grading process
        if not (self.together or pages) and len(corpus) > 1:
            for case in corpus:
                yield from self.grade([case], canaries)
            return
        with tempfile.TemporaryDirectory(prefix="hostile-") as made:
            root = Path(made, "course")
            shutil.copytree(self.course, root)
            for case in corpus:
                case.hand_in(root, canaries)
            outcomes, (out, stopped) = [Outcome(case) for case in corpus], self._grade(root, corpus, canaries)
            for outcome in outcomes:
                self._look(root, outcome)
            if pages:
                self._open(root, outcomes)
        if (out or stopped) and len(corpus) > 1:  # find out which one did it
            for case in corpus:
                yield from self.grade([case], canaries)
            return
        for outcome in outcomes:
            outcome.out += out
            outcome.stopped += stopped
        yield from outcomes

    def _grade(self, root: Path, corpus: list[Submission], canaries: Canaries) -> tuple[list[str], list[str]]:
        """Autograde the class; returns what was disturbed, and what was stopped."""
        mine = {"gradebook.db", *(case.name for case in corpus)}
        canaries.lay()
        before = _files(root, mine)
        ran = supervised(
            ["nbgrader", "autograde", LESSON],
            root,
            FIRST + EACH * (len(corpus) - 1),
            self.memory,
            canaries.environment,
        )
        after = _files(root, mine | {LATER}) | {k: v for k, v in _files(root, mine).items() if k in before}
        found = [f"{name} was disturbed" for name in canaries.sang()]
        found += [f"{name} was changed" for name in before if after.get(name) != before[name]]
        found += [f"{name} was planted" for name in after if name not in before]
        if ran.left:
            found.append(f"{ran.left} processes were left running")
        stopped = ["the batch never ended"] if ran.code is None else []
        for neighbour in (EARLIER, LATER):
            grades = points(root, neighbour)
            if not grades:
                stopped.append(f"the neighbour {neighbour} has no grade")
            elif any(got != most for got, most in grades.values()):
                found.append(f"the neighbour {neighbour} has {sum(got for got, _ in grades.values()):g} points")
        for role, used in ran.most.items():
            known = self.most.setdefault(role, dict.fromkeys(used, 0.0))
            known.update({what: max(number, known[what]) for what, number in used.items()})
        if ran.most["grader"]["bytes"] > GREEDY:
            stopped.append(f"the grading process took {ran.most['grader']['bytes'] / 2**30:.1f} GiB")
        return found, stopped

    def _open(self, root: Path, outcomes: list[Outcome]) -> None:
        """Open each submission as the teacher, and its feedback if it was written."""
        supervised(["nbgrader", "generate_feedback", LESSON], root, FIRST + EACH * len(outcomes))
        with (
            tempfile.TemporaryDirectory(prefix="home-") as home,
            sync_playwright() as playwright,
            playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"]) as browser,
            opening(root, LESSON, EARLIER, browser, Path(home)) as teacher,
        ):
            usual = sang(teacher, EARLIER, teacher.feedback(EARLIER))  # nbgrader's own feedback asks for MathJax
            for outcome in outcomes:
                student = outcome.case.name
                if student in teacher.ids:
                    outcome.acted += sang(teacher, student, teacher.formgrader(student))
                if teacher.feedback_file(student).exists():
                    found = sang(teacher, student, teacher.feedback(student))
                    outcome.acted += [deed for deed in found if deed not in usual]

    def _look(self, root: Path, outcome: Outcome) -> None:
        """Add what the gradebook and the graded notebook show about one submission."""
        case = outcome.case
        grades = points(root, case.name)
        for name, exercise in load_lesson(ROOT / "grader_tests" / LESSON).exercises.items():
            wanted = case.points.get(name, exercise.points if case.others == "right" else 0)
            got = grades.get(name, (0.0, 0.0))[0]
            # A correct answer may earn all its points, even if an attack on another one costs it some here
            fair = "any" if case.others == "right" and name not in case.answered else wanted
            most = {"some": exercise.points - 0.25, "any": exercise.points}.get(str(fair), fair)
            if got > float(most):
                outcome.too_much.append(f"{got:g} for {name}")
            if wanted == exercise.points and got < wanted:
                outcome.lost.append(f"{got:g} of {wanted:g} for {name}")
        graded = root / "autograded" / case.name / LESSON / f"{LESSON}.ipynb"
        if graded.exists():
            notebook = nbformat.read(graded, as_version=4)
            # A grade cell that fails may show its own hidden lines, which the student did not cause
            notebook.cells = [c for c in notebook.cells if not c.metadata.get("nbgrader", {}).get("grade")]
            outcome.out += [f"shows {secret!r}" for secret in told(notebook)]


def batches(made: Path) -> list[Batch]:
    """nbgrader alone and this course, each with the earlier neighbour graded.

    Raises RuntimeError if that fails.
    """
    ours, stock = made / "ours", made / "stock"
    our_course(ours, LESSON)
    config = ours / "nbgrader_config.py"
    config.write_text(config.read_text() + LIMITS)
    make_course(stock, ours, LESSON, seconds=CELL, demos=False)
    for root in (stock, ours):
        succeeded(supervised(["nbgrader", "generate_assignment", LESSON], root, FIRST))
        release = nbformat.read(root / "release" / LESSON / f"{LESSON}.ipynb", as_version=4)
        answers = correct_answers(load_lesson(ROOT / "grader_tests" / LESSON), 1)
        for neighbour in (EARLIER, LATER):
            hand_in(root, LESSON, neighbour, with_secret(write_answers(release, answers)))
            register(root, neighbour)
        succeeded(supervised(["nbgrader", "autograde", LESSON, "--student", EARLIER], root, FIRST))
    return [Batch("nbgrader alone", stock, MEMORY, False), Batch("this course", ours, 0, True)]


def points(root: Path, student: str) -> dict[str, tuple[float, float]]:
    """(points, maximum) by exercise; empty if the gradebook cannot be read."""
    try:
        with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as gradebook:
            grades = gradebook.find_submission_notebook(LESSON, LESSON, student).grades
            return {exercise_named(grade.name): (grade.score, grade.max_score) for grade in grades}
    except (MissingEntry, SQLAlchemyError):
        return {}


def _files(root: Path, but: set[str]) -> dict[str, str]:
    """A digest of each file in a course by path, except those below a name in `but`."""
    found = {}
    for path in sorted(root.rglob("*")):
        parts = path.relative_to(root).parts
        if path.is_file() and not path.is_symlink() and not but & set(parts) and "__pycache__" not in parts:
            found["/".join(parts)] = sha256(path.read_bytes()).hexdigest()
    return found


def compare(corpus: list[Submission], console: Console, verbose: bool = False) -> dict[Batch, list[Outcome]]:
    """Run the corpus both ways, with progress; `verbose` prints each outcome at once."""
    with ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore", DuplicateCellId)  # some submissions have such
        made = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-")))
        canaries = stack.enter_context(Canaries())
        console.print("making both courses …")
        ways = batches(made)
        columns = TextColumn("{task.description:<28}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
        progress = stack.enter_context(Progress(*columns, console=console))
        found: dict[Batch, list[Outcome]] = {way: [] for way in ways}
        for way in ways:
            task = progress.add_task(way.name, total=len(corpus))
            for kind, those in groupby(corpus, key=lambda case: case.kind):
                progress.update(task, description=f"{way.name}: {kind}")
                for outcome in way.grade(list(those), canaries):
                    found[way].append(outcome)
                    progress.advance(task)
                    if verbose:
                        achieved = [deed for what in COUNTED for deed in getattr(outcome, what)]
                        console.print(f"{way.name}: {outcome.case.name}: {'; '.join(achieved) or 'nothing'}")
            progress.update(task, description=way.name)
    return found


def table(found: dict[Batch, list[Outcome]]) -> Table:
    """The counts of both ways for each kind."""
    stock, ours = found
    title = f"Submissions of {LESSON} that …, each with {stock.name} / with {ours.name}"
    shown = Table(title=title, box=SIMPLE_HEAD, show_edge=False)
    shown.add_column("kind", no_wrap=True)
    shown.add_column("in all", justify="right")
    for what in COUNTED.values():
        shown.add_column(what, justify="right")
    kinds = list(dict.fromkeys(outcome.case.kind for outcome in found[stock]))
    for kind in [*kinds, ""]:
        these = {way: [o for o in outcomes if kind in ("", o.case.kind)] for way, outcomes in found.items()}
        row = [kind or "all", str(len(these[stock]))]
        for what in COUNTED:
            alone, here = (sum(bool(getattr(o, what)) for o in these[way]) for way in (stock, ours))
            row.append(f"{alone} / {here}")
        shown.add_row(*row, end_section=kind == kinds[-1])
    return shown


def main(arguments: list[str] | None = None) -> list[str]:
    """Run the corpus and print; returns the lines of the summary."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    about = f"such as {', '.join(KINDS)}; all, where none is named"
    parser.add_argument("names", nargs="*", metavar="NAME", help=about)
    parser.add_argument("-v", "--verbose", action="store_true", help="say what each submission achieved")
    options = parser.parse_args(arguments)
    wanted = tuple(options.names) or ("",)
    kinds = [kind for kind in KINDS if kind != "page" or CHROMIUM.exists()]
    corpus = [c for kind in kinds for c in cases(kind) if c.lesson == LESSON and c.name.startswith(wanted)]
    if not corpus:
        parser.error(f"no submission's name begins with {' or '.join(wanted)}")
    console = Console()
    found = compare(corpus, console, options.verbose)
    console.print(table(found))
    stock, ours = found
    counts = [
        f"{what:<16} {sum(bool(getattr(o, name)) for o in found[ours]):6} of {len(corpus)}, with nbgrader alone "
        f"{sum(bool(getattr(o, name)) for o in found[stock])}"
        for name, what in COUNTED.items()
    ]
    return counts + [
        f"at most, {way.name}, one {role}: {used['bytes'] / 2**20:.0f} MiB, {used['seconds']:.0f} s"
        for way in (ours, stock)
        for role, used in way.most.items()
        if used["bytes"]
    ]


if __name__ == "__main__":
    print(*main(), sep="\n")
