"""The parts of every platform's package: the lesson, the wheels, the pinned versions, and two scripts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grading.safe_html import page_templates

TORCH_INDEX = "https://download.pytorch.org/whl/cpu"  # builds without CUDA, which would be several gigabytes
_TEMPLATES = page_templates(Path(__file__).parents[1] / "templates")


@dataclass(frozen=True)
class LessonFiles:
    """Everything that a platform needs to grade a lesson.

    title      of the lesson, as its notebook gives it
    exercises  points of each exercise, in order
    questions  the written questions that a person grades
    student    files that students get, by path in the release
    wheels     by file name
    pins       versions of the packages that these wheels need, by name
    python     version of Python, such as "3.11"
    course     files of a course directory with this lesson alone, its secret seed included, by path; none where the
               package is public
    """

    lesson: str
    title: str
    exercises: Mapping[str, float]
    questions: Sequence[str]
    student: Mapping[str, bytes] = field(repr=False)
    wheels: Mapping[str, bytes] = field(repr=False)
    pins: Mapping[str, str]
    python: str
    course: Mapping[str, bytes] = field(repr=False, default_factory=dict)


@dataclass(frozen=True)
class Package:
    """A platform's package.

    zipped  whether a teacher uploads one zip, in place of a folder
    files   the files by path; those that `runs` names are executable
    public  whether students can read it: then `files` gets neither graders nor seed nor the teacher's wheel
    """

    zipped: bool
    files: Callable[[LessonFiles], dict[str, bytes]]
    runs: frozenset[str]
    public: bool = False


def text(template: str, **values: object) -> bytes:
    """A file made from a template in plugins/platforms/templates."""
    return f"{_TEMPLATES.get_template(f'{template}.j2').render(**values)}\n".encode()


def set_up_files(lesson: LessonFiles) -> dict[str, bytes]:
    """The files from which the platform's image is built: set_up.sh, constraints.txt and wheels."""
    torch = f"torch=={lesson.pins['torch']}"
    pins = "".join(f"{name}=={version}\n" for name, version in sorted(lesson.pins.items()))
    values = {"lesson": lesson.lesson, "python": lesson.python, "torch": torch, "torch_index": TORCH_INDEX}
    return {
        "set_up.sh": text("set_up.sh", **values),
        "constraints.txt": pins.encode(),
        **{f"wheels/{name}": content for name, content in lesson.wheels.items()},
    }


def grading_files(lesson: LessonFiles, form: str, *, page: bool = False) -> dict[str, bytes]:
    """The files that grade a submission: grade.sh and the course directory beside it.

    page  whether the result holds the feedback page
    """
    course = {f"course/{path}": content for path, content in lesson.course.items()}
    return {"grade.sh": text("grade.sh", lesson=lesson.lesson, form=form, page=page), **course}
