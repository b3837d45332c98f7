"""Classroom 50's autograder, for its repository of the course, and the files of the assignment's template.

It grades in the student's repository, where its own workflow fetches CLASSROOM/autograders/ASSIGNMENT as a bundle from
a public address, 10 MiB at most. So nothing secret is packed, and the result is provisional. `classroom50.autograder`
says what its runner expects, and where that is published.
"""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path, PurePosixPath

from course.notebook.catalog import ENDING as EXAMPLES
from grading.errors import StepFailed

from ..classroom50 import autograder
from .package import TORCH_INDEX, LessonFiles, Package

OF_ONE_LESSON = ("course/examples", "course/lessons")  # folders of the wheel with a folder for each lesson


def _files(lesson: LessonFiles) -> dict[str, bytes]:
    (wheel,) = lesson.wheels
    content = trimmed(lesson.wheels[wheel], lesson.lesson)
    if f"{lesson.lesson}{EXAMPLES}" not in lesson.student and not _is_in_wheel(content, lesson.lesson):
        raise StepFailed(
            f"{lesson.lesson} is not packaged. Classroom 50 checks with public examples, and this lesson has none: "
            "students need `check` in its notebook, as `grading new` writes it"
        )
    about = {
        "lesson": lesson.lesson,
        "exercises": lesson.exercises,
        "questions": lesson.questions,
        "torch": f"torch=={lesson.pins['torch']}",
        "torch_index": TORCH_INDEX,
        "wheel": wheel,
    }
    beside = {path: content for path, content in lesson.student.items() if not path.endswith((".ipynb", ".whl", ".md"))}
    return {
        "runtime.json": _json({"runs-on": "ubuntu-latest", "python": lesson.python}),
        **{f"template/{path}": content for path, content in lesson.student.items()},
        "autograder/autograder.py": Path(autograder.__file__).read_bytes(),
        "autograder/lesson.json": _json(about),
        "autograder/constraints.txt": "".join(f"{n}=={v}\n" for n, v in sorted(lesson.pins.items())).encode(),
        f"autograder/{wheel}": content,
        **{f"autograder/lesson/{path}": content for path, content in beside.items()},
    }


def _json(content: object) -> bytes:
    return f"{json.dumps(content, indent=2)}\n".encode()


def trimmed(wheel: bytes, lesson: str) -> bytes:
    """The student's wheel without the notebooks and the practice cases of other lessons, which are most of its size."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(wheel)) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            content = old.read(entry)
            if entry.filename.endswith(".dist-info/RECORD"):
                lines = content.decode().splitlines(keepends=True)
                content = "".join(line for line in lines if _keeps(line.split(",")[0], lesson)).encode()
            if _keeps(entry.filename, lesson):
                new.writestr(entry, content)
    return made.getvalue()


def _is_in_wheel(wheel: bytes, lesson: str) -> bool:
    with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
        return f"course/examples/{lesson}{EXAMPLES}" in archive.namelist()


def _keeps(path: str, lesson: str) -> bool:
    whole = PurePosixPath(path)
    return not (len(whole.parts) == 4 and str(whole.parents[1]) in OF_ONE_LESSON and whole.parts[2] != lesson)


PACKAGE = Package(False, _files, frozenset(), public=True)
