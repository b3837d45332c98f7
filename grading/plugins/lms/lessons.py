"""Find the lessons in a download, by the names of its files.

A platform's download is for one assignment: the lesson that more than half of its submissions name. It is for several
lessons only if more than half of the submissions name each of them, for example if an assignment asks for two
notebooks. A file of another lesson in it is then a student's mistake, and stays a row in the table. Folders and files
that a teacher gathered have no assignment: each belongs to the lessons that it names.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace

from course.which_counts import which_notebook
from grading.errors import OverBudget
from grading.submitted.archives import Names, archive_kind, unpacked

from .downloads import DownloadIndex
from .platforms import GATHERED
from .selection import Submission

NO_LESSON = "the file names show no lesson"
SEVERAL_LESSONS = "the file names show several lessons ({})"


@dataclass
class SortedDownloads:
    """Submissions by lesson.

    `unsorted`: submissions whose names reveal no single lesson, by the reason.
    """

    lessons: dict[str, DownloadIndex] = field(default_factory=dict)
    unsorted: list[tuple[str, list[Submission]]] = field(default_factory=list)

    def add(self, lesson: str, submissions: Iterable[Submission]) -> None:
        """Add submissions to a lesson, each with a budget of its own."""
        index = self.lessons.setdefault(lesson, DownloadIndex())
        index.submissions += [submission.copy() for submission in submissions]


def sort_by_lesson(listings: list[DownloadIndex], lessons: list[str]) -> SortedDownloads:
    """Sort the submissions of each download by the lessons that their files name."""
    done = SortedDownloads()
    for listing in listings:
        names_of = {submission: _named(submission, lessons) for submission in listing.submissions}
        gathered = [submission for submission in names_of if submission.owner.platform in GATHERED]
        _sort_gathered({submission: names_of.pop(submission) for submission in gathered}, lessons, done)
        _sort_download(names_of, lessons, done)
    if len(done.lessons) == 1:  # submissions that name no lesson belong to the only one
        (only,) = done.lessons
        for why, submissions in done.unsorted:
            if why == NO_LESSON:
                done.add(only, submissions)
        done.unsorted = [(why, submissions) for why, submissions in done.unsorted if why != NO_LESSON]
    return done


def _sort_download(names_of: dict[Submission, set[str]], lessons: list[str], done: SortedDownloads) -> None:
    """Sort a platform's download.

    `names_of`: the lessons that each submission's files name.
    """
    if not names_of:
        return
    named = set().union(*names_of.values()) or _lessons_in([next(iter(names_of)).download], lessons)
    asked = [name for name in lessons if 2 * sum(name in names for names in names_of.values()) > len(names_of)]
    asked = asked or (sorted(named) if len(named) == 1 else [])
    if not asked:
        which = SEVERAL_LESSONS.format(", ".join(sorted(named))) if named else NO_LESSON
        done.unsorted.append((which, list(names_of)))
    elif len(asked) == 1:
        done.add(asked[0], names_of)
    else:
        _sort_each({submission: names & set(asked) for submission, names in names_of.items()}, done)


def _sort_gathered(names_of: dict[Submission, set[str]], lessons: list[str], done: SortedDownloads) -> None:
    """Sort files that a teacher gathered.

    A file that names no lesson belongs to the only lesson that the others name.
    """
    named = set().union(*names_of.values()) or _lessons_in([submission.download for submission in names_of], lessons)
    only = named if len(named) == 1 else set[str]()
    _sort_each({submission: names or only for submission, names in names_of.items()}, done)


def _sort_each(names_of: dict[Submission, set[str]], done: SortedDownloads) -> None:
    for submission, names in names_of.items():
        for name in sorted(names):
            done.add(name, [submission])
        if not names:
            done.unsorted.append((NO_LESSON, [submission]))


def _named(submission: Submission, lessons: list[str]) -> set[str]:
    """The lessons that the names of a submission's files show, in archives too if none outside does."""
    found = _lessons_in((entry.path[-1] for entry in submission.entries), lessons)
    if not found and any(not entry.unfit and archive_kind(entry.path[-1]) for entry in submission.entries):
        found = _lessons_in(_names_inside(submission), lessons)
    return found


def _names_inside(submission: Submission) -> list[str]:
    found: list[str] = []
    with suppress(OverBudget):  # collecting reports this error
        entries = unpacked(submission.entries, replace(submission.budget), _pass_over)
        found.extend(entry.path[-1] for entry in entries)
    return found


def _pass_over(path: Names, why: str) -> None:
    """Ignore an unreadable archive, since collecting reports it."""


def _lessons_in(names: Iterable[str], lessons: list[str]) -> set[str]:
    stems = list(names)
    return {
        lesson
        for lesson in lessons
        if any((meant := which_notebook(stem, [lesson])) is not None and meant.by_name for stem in stems)
    }
