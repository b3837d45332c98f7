"""Sort downloads directly into `submitted/`, without nbgrader's folders."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

from nbgrader.coursedir import CourseDirectory
from rich.console import Console
from rich.progress import track

from grading.coordinator.nbgrader_api import configuration
from grading.course_dir.course_time import zone_of
from grading.course_dir.lessons import list_lessons
from grading.errors import StepFailed
from grading.gradebook.lock import exclusive
from grading.submitted.choices import ASK, ChoiceTable

from .collection import SKIPPED, Collecting, Outcome, nobodys_outcomes
from .downloads import DownloadIndex
from .identities import IdentityTable
from .lessons import SortedDownloads, sort_by_lesson
from .outcome_table import show
from .zip_collect import TolerantExtractor, about

OPTIONS = "--keep or --replace"


def collect(
    root: Path, archives: Iterable[Path], lesson: str, console: Console, *, undecided: str = ASK
) -> list[Outcome]:
    """Collect downloads (zips or folders) into `submitted/` and show the outcomes.

    lesson     "" to detect it from the file names, separately for each download
    undecided  what to do if nothing shows that a download is newer: `choices.ASK`, KEEP or REPLACE

    Raises StepFailed, IdentityTableError, ChoiceTableError, CourseLocked.
    """
    config = configuration(root)
    identities, choices = IdentityTable.of(root), ChoiceTable(root, undecided)
    with exclusive(root), ExitStack() as opened:
        listings = [_read(path, config, identities, opened) for path in archives]
        if lesson:
            by_lesson = SortedDownloads({lesson: DownloadIndex()})
            by_lesson.add(lesson, (submission for listing in listings for submission in listing.submissions))
        else:
            by_lesson = sort_by_lesson(listings, list_lessons(root, ordinary=True))
        collected = list(_not_sorted(root, listings, by_lesson))
        for name, listing in sorted(by_lesson.lessons.items()):
            config.CourseDirectory.assignment_id = name
            of_lesson, roster = about(CourseDirectory(config=config), identities)
            outcomes = Collecting(of_lesson, roster, identities, choices).outcomes(listing)
            title, total = f"{name}: collecting", len(listing.submissions)
            collected += track(outcomes, title, total, console=console, transient=True)
    identities.save()
    choices.save()
    show(collected, console, str(identities.path), str(choices.path), OPTIONS, zone_of(config))
    return collected


def _read(path: Path, config: object, identities: IdentityTable, opened: ExitStack) -> DownloadIndex:
    if not path.exists():
        raise StepFailed(f"{path} does not exist. Name a zip or folder as it was downloaded.")
    reader = TolerantExtractor(config=config).reader(identities, opened)
    reader.path(path)
    return reader.found


def _not_sorted(root: Path, listings: list[DownloadIndex], found: SortedDownloads) -> Iterable[Outcome]:
    """Outcomes of files without a lesson; raises StepFailed if there are no others."""
    lessons = list_lessons(root, ordinary=True)
    remedy = f"Name the lesson: --lesson {lessons[0] if lessons else 'NAME'}"
    if not found.lessons and not any(listing.unread for listing in listings):
        raise StepFailed(f"{found.untold[0][0] if found.untold else 'the download has no submission'}. {remedy}")
    for why, submissions in found.untold:
        for submission in submissions:
            yield Outcome(SKIPPED, str(submission), why=f"{why}. {remedy}, and collect this download alone")
    for listing in listings:
        yield from nobodys_outcomes(listing)
