"""Jobs for judges: what is asked, of which lesson or grade, and within which limits.

A judge's work is done by a module, its task, with three functions:

    warm(lesson)                the server computes once what all jobs for a `GradedLesson` need
    prepare(request, place)     the judge, which has not read the file yet, copies what it needs into the folder `place`
    run(request, data, ready)   it yields its `messages`; `data`: the file's bytes; `ready`: what `prepare` returned

Does not cover: which judge does a job (`start_judge`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from grading.course_dir.lesson_change import LessonChange
from grading.sandbox.policy import FULL, NONE, Policy

from ..notebooks.released import ReleasedNotebook

POLICY = Policy(memory=2 * 2**30, cpu_seconds=300, processes=64)
GRADERS, SHARED = "grader_tests", "shared"


@dataclass(frozen=True)
class GradedLesson:
    """A lesson as a course grades it.

    root      course directory
    change    what the course changes in the lesson
    seed      the lesson's own
    device    on which answers are graded
    mistaken  exercises whose known mistakes are needed
    """

    root: Path
    name: str
    change: LessonChange
    seed: str
    device: str
    mistaken: tuple[str, ...]

    @property
    def graders(self) -> Path:
        return self.root / GRADERS / self.name


@dataclass(frozen=True)
class GradeRequest:
    """Grade a submission.

    level, limits     of the kernels' sandbox; seconds: those of a `Stopwatch`
    earlier_releases  checksums of the lesson's cells in earlier releases
    """

    task: ClassVar[str] = "grading.judge.grade_notebook"
    lesson: GradedLesson
    released: ReleasedNotebook
    earlier_releases: list[Any]
    level: str
    limits: dict[str, Any]
    cell_seconds: float
    notebook_seconds: float

    @property
    def sandboxed(self) -> bool:
        return self.level != NONE


@dataclass(frozen=True)
class CellGrade:
    """A cell's grade. manual: scored by a person; waiting: open; given: whether it has points, which may be open."""

    score: float
    points: float
    manual: bool = False
    waiting: bool = False
    given: bool = True


@dataclass(frozen=True)
class GradebookView:
    """The gradebook's data on one submission and its lesson.

    late           how late it is, and the late policy; "" if it is on time
    title          the lesson's title; "" if unknown
    left_out       texts and code of the lesson itself, which the page does not repeat
    models         rubrics and model answers of graded questions, as Markdown, by grade_id
    not_collected  the files of the submission that were not collected, each with the reason
    """

    student: str
    grades: dict[str, CellGrade] = field(default_factory=dict)
    comments: dict[str, str] = field(default_factory=dict)
    late_penalty: float = 0.0
    late: str = ""
    title: str = ""
    left_out: tuple[str, ...] = ()
    models: dict[str, str] = field(default_factory=dict)
    not_collected: tuple[str, ...] = ()


@dataclass(frozen=True)
class PageRequest:
    """Make the feedback page of a graded notebook. notebook: nbgrader's name of it."""

    task: ClassVar[str] = "grading.feedback.page"
    notebook: str
    known: GradebookView


@dataclass(frozen=True)
class AnswerRequest:
    """Render an answer, a Markdown text, with the pictures of the notebook that has it."""

    task: ClassVar[str] = "grading.feedback.answer_html"
    text: str


REQUESTS = (GradeRequest, PageRequest, AnswerRequest)
Request = TypeVar("Request", bound=GradeRequest | PageRequest | AnswerRequest)


@dataclass(frozen=True)
class Job(Generic[Request]):
    """One request to a judge, in one course.

    root      course directory
    level     how the judge is confined
    policy    limits of the judge; wall: wall-clock limit in seconds
    private   at the level `contained`, more paths that no kernel may read or change
    """

    request: Request
    root: Path
    level: str = FULL
    policy: Policy = POLICY
    wall: float = 600.0
    private: tuple[str, ...] = ()

    @property
    def confined(self) -> bool:
        return self.level != NONE

    @property
    def lesson(self) -> GradedLesson | None:
        return self.request.lesson if isinstance(self.request, GradeRequest) else None

    @property
    def kernels(self) -> bool:
        """Whether the judge may start sandboxed kernels, which requires that it is confined itself."""
        return self.confined and self.lesson is not None

    def start(self) -> StartJudge:
        """The message that asks the server for a judge, or, without descriptors, to prepare for it."""
        return StartJudge(self.request.task, self.lesson, self.kernels, self.policy, self.wall)


@dataclass(frozen=True)
class StartJudge:
    """What the judges' server gets of a job."""

    task: str
    lesson: GradedLesson | None
    kernels: bool
    policy: Policy
    wall: float


@dataclass(frozen=True)
class SubmittedFile:
    """The file that a judge reads: its name in the folder that it gets, and the most bytes that it may have."""

    name: str
    max_bytes: int
