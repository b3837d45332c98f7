"""Pack feedback pages for an LMS, under the names by which it knows their owners.

Canvas  smithjane_12345_991_02_softmax.ipynb -> smithjane_12345_991_02_softmax.html; its user and file numbers count
        (*Upload Submissions* in the gradebook's menu of the assignment)
Moodle  Jane Smith_88231_assignsubmission_file_/… -> Jane Smith_88231_assignsubmission_file_02_softmax.html; its
        participant's number counts (*Upload multiple feedback files in a zip* in the assignment)
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Container, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

from course.models.write_file import open_replacement
from grading.coordinator.write_feedback import write_feedback
from grading.course import Course
from grading.errors import StepFailed
from grading.notebooks.cells import RECORD
from grading.notebooks.submitted_file import asks_for_another_file

from .identities import IdentityTable
from .platforms import ParsedName
from .zip_collect import TolerantExtractor, load_lesson_and_roster

TAKES_BACK = ("canvas", "anonymous", "moodle")


@dataclass
class HandedBack:
    """The packed pages. `names`: by student, in the zip; `left_out`: why, by student; `nobodys`: unknown names in the
    download; `not_in_it`: students with a page who are not in the download."""

    names: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    nobodys: list[str] = field(default_factory=list)
    not_in_it: list[str] = field(default_factory=list)


def hand_back(
    course: Course,
    lesson: str,
    downloads: Iterable[Path],
    out: Path,
    console: Console,
    *,
    students: Container[str] | None = None,
) -> HandedBack:
    """Make a lesson's feedback pages and zip them, named as in these downloads.

    Leaves out submissions that have no grade or still need a person. Includes a page that asks the student for another
    file, since there is nothing to wait for. Raises StepFailed.
    """
    every = _feedback_names(course, lesson, downloads)
    names_of = {who: names for who, names in every.items() if students is None or who in students}
    write_feedback(course, [lesson], console, students=students)
    pages = {page.parents[1].name: page for page in (course.root / "feedback").glob(f"*/{lesson}/{lesson}.html")}
    open_ = {student for student, name, _ in course.needs_manual_grading() if name == lesson}
    done, packed = HandedBack(nobodys=every.get("", []) if students is None else []), dict[str, Path]()
    names_of.pop("", None)
    for student, names in sorted(names_of.items()):
        if student in open_ and not _is_asked_again(course, lesson, student):
            done.left_out[student] = "has no final grade: an exercise needs a person"
        elif student not in pages:
            done.left_out[student] = "has no feedback: the submission is not graded"
        else:
            done.names[student] = names[-1]
            packed[names[-1]] = pages[student]
    done.not_in_it = sorted(page for page in pages.keys() - every.keys() if students is None or page in students)
    if packed:
        _pack(out, packed)
    return done


def _is_asked_again(course: Course, lesson: str, student: str) -> bool:
    """Whether the feedback asks the student for another file.

    Reads our autograded notebook, not the student's.
    """
    path = course.root / "autograded" / student / lesson / f"{lesson}.ipynb"
    try:
        record = json.loads(path.read_text(encoding="utf-8"))["metadata"].get(RECORD, {})
    except Exception:  # one notebook must not keep the pages of the others
        return False
    return asks_for_another_file(str(record.get("unreadable", "")))


def _feedback_names(course: Course, lesson: str, downloads: Iterable[Path]) -> dict[str, list[str]]:
    """Names of feedback files by student, last attempt last; "": names of no known student."""
    identities = IdentityTable.of(course.root)
    _, people = load_lesson_and_roster(course.directory(lesson), identities)
    found: dict[str, ParsedName] = {}
    with ExitStack() as opened:
        for path in downloads:
            if not path.exists():
                raise StepFailed(f"{path} does not exist. Name the zip or folder of submissions as it was downloaded.")
            reader = TolerantExtractor(config=course.config).reader(identities, opened)
            reader.path(path)
            for submission in reader.found.submissions:
                if submission.owner.platform in TAKES_BACK:
                    found |= submission.tops
    if not found:
        raise StepFailed(
            "no file in the download has a name that Canvas or Moodle gives to submissions, and other "
            "platforms do not import feedback files by their names"
        )
    owners = people.whose(parsed.owner for parsed in found.values())
    by_student: dict[str, list[str]] = {}
    for top, parsed in sorted(found.items(), key=lambda item: item[1].order):
        match = owners[parsed.owner]
        name = _name_for(top, parsed.own, lesson)
        for student in ("",) if match.left_out else match.students or ("",):
            by_student.setdefault(student, []).append(name if student else top)
    return by_student


def _name_for(top: str, own: str, lesson: str) -> str:
    """The name of a feedback file.

    top  the outermost name in the download
    own  the part of it that the student chose, "" for a folder
    """
    given = top.removesuffix(own) if own else top
    return f"{given.rstrip('_')}_{lesson}.html"


def _pack(out: Path, pages: Mapping[str, Path]) -> None:
    """Write the pages to a zip, atomically.

    `pages`: files by their names in the zip. Raises OSError.
    """
    with open_replacement(out) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, page in sorted(pages.items()):
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), page.read_bytes(), zipfile.ZIP_DEFLATED)
