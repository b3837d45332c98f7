"""Feedback for an LMS to take back: each student's page under the name that the LMS gave what was handed in."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from nbgrader.coursedir import CourseDirectory
from rich.console import Console

from ..errors import StepFailed
from ..lms.downloads import DownloadReader
from ..lms.feedback_zip import TAKES_BACK, name_for, pack
from ..lms.identities import FILE, IdentityTable
from ..lms.platforms import ParsedName
from ..nbgrader_plugins.zip_collect import TolerantExtractor, about
from .nbgrader_api import configuration, needs_manual_grading
from .write_feedback import write_feedback


@dataclass
class HandedBack:
    """names: by student, in the zip; left_out: who is, and why; nobodys: names in the download that are nobody's;
    not_in_it: students with a page and without such a name."""

    names: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    nobodys: list[str] = field(default_factory=list)
    not_in_it: list[str] = field(default_factory=list)


def hand_back(root: Path, lesson: str, downloads: Iterable[Path], out: Path, console: Console) -> HandedBack:
    """Make the feedback of a lesson and write it to a zip, named as in these downloads. Raises StepFailed.

    What still needs a person is left out, and so is what has no grade.
    """
    tops = _tops(root, lesson, downloads)
    write_feedback(root, [lesson], console)
    pages = {page.parents[1].name: page for page in (root / "feedback").glob(f"*/{lesson}/{lesson}.html")}
    open_ = {student for student, name, _ in needs_manual_grading(root) if name == lesson}
    done, packed = HandedBack(nobodys=tops.pop("", [])), dict[str, Path]()
    for student, names in sorted(tops.items()):
        if student in open_:
            done.left_out[student] = "an exercise needs a person"
        elif student not in pages:
            done.left_out[student] = "has no feedback: it is not graded"
        else:
            done.names[student] = names[-1]
            packed[names[-1]] = pages[student]
    done.not_in_it = sorted(pages.keys() - tops.keys())
    if packed:
        pack(out, packed)
    return done


def _tops(root: Path, lesson: str, downloads: Iterable[Path]) -> dict[str, list[str]]:
    """Names of feedback files by student, the one of the last attempt last; under "" names that are nobody's."""
    config, whose = configuration(root), IdentityTable(root / FILE)
    config.CourseDirectory.assignment_id = lesson
    _, people = about(CourseDirectory(config=config), whose)
    found: dict[str, ParsedName] = {}
    with ExitStack() as opened:
        for path in downloads:
            if not path.exists():
                raise StepFailed(f"{path} is not there. Name the zip or folder of submissions as it was downloaded.")
            lister = DownloadReader(TolerantExtractor(config=config).budget, whose, opened)
            lister.path(path)
            for submission in lister.found.submissions:
                if submission.owner.platform in TAKES_BACK:
                    found |= submission.tops
    if not found:
        raise StepFailed(
            "nothing in it is named as Canvas or Moodle names what was handed in, and no other platform takes feedback "
            "files back by their names"
        )
    owners = people.whose(one.owner for one in found.values())
    named: dict[str, list[str]] = {}
    for top, one in sorted(found.items(), key=lambda item: item[1].order):
        whom = owners[one.owner]
        name = name_for(top, one.own, lesson)
        for student in ("",) if whom.left_out else whom.students or ("",):
            named.setdefault(student, []).append(name if student else top)
    return named
