"""`grading collect`: from downloads to `submitted/`, without nbgrader's folders."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

from nbgrader.coursedir import CourseDirectory
from rich.console import Console
from rich.progress import track

from ..course_dir.lessons import list_lessons
from ..errors import StepFailed
from ..gradebook.lock import exclusive
from ..lms.collection import Collecting, Outcome
from ..lms.downloads import DownloadIndex, DownloadReader
from ..lms.file_names import which_notebook
from ..lms.identities import IdentityTable
from ..lms.outcome_table import show
from ..nbgrader_plugins.zip_collect import REMEDY, TolerantExtractor, about
from .nbgrader_api import configuration


def collect(root: Path, archives: Iterable[Path], lesson: str, console: Console) -> list[Outcome]:
    """Collect downloads (zips or folders) into `submitted/` and show the outcomes.

    lesson: "" to detect it from the names in them. Raises StepFailed, IdentityTableError, CourseLocked.
    """
    config = configuration(root)
    identities = IdentityTable.of(root)
    with exclusive(root), ExitStack() as opened:
        reader = DownloadReader(TolerantExtractor(config=config).budget, identities, opened)
        for path in archives:
            if not path.exists():
                raise StepFailed(f"{path} is not there. Name zips or folders as they were downloaded.")
            reader.path(path)
        config.CourseDirectory.assignment_id = lesson = lesson or _detect_lesson(
            reader.found, list_lessons(root, ordinary=True)
        )
        collected_lesson, roster = about(CourseDirectory(config=config), identities)
        outcomes = Collecting(collected_lesson, roster, identities).outcomes(reader.found)
        total = len(reader.found.submissions)
        collected = list(track(outcomes, f"{lesson}: collecting", total, console=console, transient=True))
    identities.save()
    show(collected, console, str(identities.path), REMEDY.format(lesson=lesson, notebook=collected_lesson.notebooks[0]))
    return collected


def _detect_lesson(listing: DownloadIndex, names: list[str]) -> str:
    """Detect the lesson from file names. Raises StepFailed unless there is exactly one."""
    files = {entry.path[-1] for submission in listing.submissions for entry in submission.entries}
    files |= {submission.download for submission in listing.submissions}
    detected = {
        name
        for name in names
        if any((meant := which_notebook(file, [name])) is not None and meant.by_name for file in files)
    }
    if len(detected) != 1:
        which = f"several lessons ({', '.join(sorted(detected))})" if detected else "no lesson"
        raise StepFailed(
            f"the names in it tell of {which}. Say which one it is: --lesson {names[0] if names else 'NAME'}"
        )
    return detected.pop()
