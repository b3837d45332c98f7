"""Sort downloads directly into `submitted/`, without nbgrader's folders."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

from rich.console import Console
from rich.progress import track

from grading.course import Course
from grading.errors import StepFailed
from grading.gradebook.lock import exclusive
from grading.submitted.choices import ASK, ChoiceTable

from .collection import SKIPPED, Collecting, Outcome, nobodys_outcomes
from .downloads import DownloadIndex
from .identities import IdentityTable
from .lessons import SortedDownloads, sort_by_lesson
from .outcome_table import show
from .zip_collect import TolerantExtractor, load_lesson_and_roster

OPTIONS = "--keep or --replace"


def collect(
    course: Course, archives: Iterable[Path], lesson: str, console: Console, *, undecided: str = ASK
) -> list[Outcome]:
    """Collect downloads (zips or folders) into `submitted/` and show the outcomes.

    lesson     "" to detect it from the file names, separately for each download
    undecided  what to do if nothing shows that a download is newer: `choices.ASK`, KEEP or REPLACE

    Raises StepFailed, IdentityTableError, ChoiceTableError, CourseLocked.
    """
    identities, choices = IdentityTable.of(course.root), ChoiceTable(course.root, undecided)
    with exclusive(course.root), ExitStack() as opened:
        listings = [_read(path, course, identities, opened) for path in archives]
        if lesson:
            by_lesson = SortedDownloads({lesson: DownloadIndex()})
            by_lesson.add(lesson, (submission for listing in listings for submission in listing.submissions))
        else:
            by_lesson = sort_by_lesson(listings, course.lessons())
        collected = list(_not_sorted(course, listings, by_lesson))
        for name, listing in sorted(by_lesson.lessons.items()):
            loaded, roster = load_lesson_and_roster(course.directory(name), identities)
            outcomes = Collecting(loaded, roster, identities, choices).outcomes(listing)
            title, total = f"{name}: collecting", len(listing.submissions)
            collected += track(outcomes, title, total, console=console, transient=True)
    identities.save()
    choices.save()
    show(collected, console, str(identities.path), str(choices.path), OPTIONS, course.zone)
    return collected


def _read(path: Path, course: Course, identities: IdentityTable, opened: ExitStack) -> DownloadIndex:
    if not path.exists():
        raise StepFailed(f"{path} does not exist. Name a zip or folder as it was downloaded.")
    reader = TolerantExtractor(config=course.config).reader(identities, opened)
    reader.path(path)
    return reader.found


def _not_sorted(course: Course, listings: list[DownloadIndex], found: SortedDownloads) -> Iterable[Outcome]:
    """Outcomes of files without a lesson; raises StepFailed if there are no others."""
    lessons = course.lessons()
    remedy = f"Name the lesson: --lesson {lessons[0] if lessons else 'NAME'}"
    if not found.lessons and not any(listing.unread for listing in listings):
        raise StepFailed(f"{found.unsorted[0][0] if found.unsorted else 'the download has no submission'}. {remedy}")
    for why, submissions in found.unsorted:
        for submission in submissions:
            yield Outcome(SKIPPED, str(submission), why=f"{why}. {remedy}, and collect this download alone")
    for listing in listings:
        yield from nobodys_outcomes(listing)
