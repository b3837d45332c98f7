"""The result of one graded file, from which each form is written.

It holds verdicts as they are stored, which show no hidden case, and never the student's code or name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from nbformat import NotebookNode

from grading.grader.verdict import ExerciseVerdict
from grading.grader.verdict_report import to_report
from grading.notebooks.cells import RECORD, exercise_named, grade_id, title_of
from grading.notebooks.submitted_file import asks_for_another_file
from grading.notebooks.verdict_cell import is_autograded, nbgrader_metadata, points_of, verdict_of
from grading.points import points_text, rounded
from grading.sandbox.policy import FULL

JUDGED = ("right", "partly right", "wrong")  # statuses whose criteria have points of their own
OPEN = "needs a person"
NOT_REACHED = "No case of this requirement was reached."
BY_A_PERSON = "A person will grade this answer."


@dataclass(frozen=True)
class ResultRow:
    """One line of a result: a criterion, or an exercise as a whole.

    number    "2.1" is the first criterion of the second exercise
    status    "passed", "failed" or "open": a person grades it
    headline  what is wrong, in one sentence, and `text`, the report on it; "" if nothing is
    """

    exercise: str
    name: str
    number: str
    earned: float
    points: float
    status: str
    headline: str = ""
    text: str = ""

    @property
    def title(self) -> str:
        return f"{self.exercise}: {self.name}" if self.name else self.exercise


@dataclass(frozen=True)
class FileResult:
    """The result of one graded file.

    verdicts    one per exercise, in the lesson's order
    questions   points of written questions, which a person grades, by name
    unreadable  why the file could not be read; "" if it could
    seconds     from the start of grading to the result
    level       of the sandbox: "full", "contained" or "none" (docs/security.md)
    page        the feedback page, as HTML; "" if none was made
    """

    lesson: str
    title: str
    verdicts: list[ExerciseVerdict]
    questions: dict[str, float] = field(default_factory=dict)
    unreadable: str = ""
    sandboxed: bool = True
    seconds: float = 0.0
    level: str = FULL
    page: str = field(default="", repr=False)

    @classmethod
    def of(cls, nb: NotebookNode, lesson: str, seconds: float, level: str = FULL) -> FileResult:
        """Read the result from an autograded notebook."""
        record, verdicts, questions = nb.metadata.get(RECORD, {}), list[ExerciseVerdict](), dict[str, float]()
        for cell in nb.cells:
            if is_autograded(cell):
                verdicts.append(verdict_of(cell))
            elif nbgrader_metadata(cell).get("grade"):
                questions[exercise_named(grade_id(cell))] = points_of(cell)
        title = title_of(cell.source for cell in nb.cells if cell.cell_type == "markdown") or lesson
        unreadable, sandboxed = str(record.get("unreadable", "")), bool(record.get("sandboxed", True))
        return cls(lesson, title, verdicts, questions, unreadable, sandboxed, seconds, level)

    @property
    def earned(self) -> float:
        return rounded(sum(verdict.earned for verdict in self.verdicts))

    @property
    def points(self) -> float:
        """The maximum, with the written questions."""
        whole = [verdict.points for verdict in self.verdicts] + list(self.questions.values())
        return rounded(sum(whole))

    @property
    def open(self) -> list[str]:
        """The exercises and questions that a person grades; the points are provisional while there are any."""
        return [verdict.exercise for verdict in self.verdicts if verdict.status == OPEN] + list(self.questions)

    @property
    def student_may_hand_in_again(self) -> bool:
        """Whether the file could not be read through the student's fault, who then hands in another."""
        return bool(self.unreadable) and asks_for_another_file(self.unreadable)

    @property
    def summary(self) -> str:
        """One to three sentences on the whole file."""
        if self.unreadable:
            return f"This file could not be graded. {self.unreadable}"
        sentences = [f"{points_text(self.earned)} of {points_text(self.points)} points."]
        if self.open:
            verb = "is" if len(self.open) == 1 else "are"
            sentences.append(f"These points are provisional: {', '.join(self.open)} {verb} still graded by a person.")
        if not self.sandboxed:
            sentences.append("Graded without the sandbox.")
        return " ".join(sentences)

    def rows(self) -> Iterator[ResultRow]:
        """Every criterion in order; exercises that were not judged by criteria, and questions, as one row each."""
        for number, verdict in enumerate(self.verdicts, 1):
            yield from _rows(verdict, number)
        for number, (name, points) in enumerate(self.questions.items(), len(self.verdicts) + 1):
            yield ResultRow(name, "", f"{number}", 0.0, points, "open", BY_A_PERSON, BY_A_PERSON)


@dataclass(frozen=True)
class ResultForm:
    """A platform's form.

    file   the name that the platform gives to the file
    write  the text of the file
    """

    file: str
    write: Callable[[FileResult], str]


def _rows(verdict: ExerciseVerdict, number: int) -> Iterator[ResultRow]:
    report, name = to_report(verdict), verdict.exercise
    if verdict.status not in JUDGED or not verdict.criteria:
        status = "open" if verdict.status == OPEN else "passed" if verdict.status == "right" else "failed"
        said = ("", "") if status == "passed" else (report.headline or report.head, report.to_text())
        yield ResultRow(name, "", f"{number}", verdict.earned, verdict.points, status, *said)
        return
    first = True  # the report of the exercise is given once
    for index, (criterion, row) in enumerate(zip(verdict.criteria, report.rows, strict=True), 1):
        status, headline, text = "passed", "", ""
        if criterion.status != "right":
            lines = [line for case in row.cases for line in case.lines()] or [NOT_REACHED]
            status, headline = "failed", criterion.finding or NOT_REACHED
            if first:
                headline, lines, first = report.headline or headline, [report.to_text(), "", *lines], False
            text = "\n".join(lines)
        earned, most = criterion.earned, criterion.points
        yield ResultRow(name, criterion.name, f"{number}.{index}", earned, most, status, headline, text)
