"""The extractor and the collector of `nbgrader zip_collect`.

nbgrader calls the extractor once, and then copies every file in `extracted/` into `submitted/`, deleting what was there
before. Here the extractor does all of it, by the same rules as `grading collect`, and nbgrader copies nothing.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.plugins.zipcollect import ExtractorPlugin, FileNameCollectorPlugin
from nbgrader.utils import find_all_notebooks
from traitlets import Enum, Int

from grading.course_dir.course_time import own_zone_of, zone_of
from grading.safe_console import SafeConsole
from grading.submitted.archives import Budget
from grading.submitted.choices import ASK, KEEP, REPLACE, ChoiceTable
from grading.submitted.submitted_dir import SubmittedFolder, handed_out, submitted_folder, utc

from .collection import Collecting, Lesson, Outcome, nobodys_outcomes
from .downloads import DownloadReader
from .identities import IdentityTable
from .outcome_table import show
from .roster import Roster, Student

OPTIONS = "--TolerantExtractor.undecided=keep or --TolerantExtractor.undecided=replace"


class TolerantExtractor(ExtractorPlugin):
    """Finds the files that count, and puts them into `submitted/`.

    outcomes: what happened to each submission
    """

    max_bytes = Int(Budget.max_bytes, help="Bytes that are read and unpacked from one submission at most.").tag(
        config=True
    )
    max_files = Int(Budget.max_files, help="Files and folders of one submission at most.").tag(config=True)
    max_depth = Int(Budget.max_depth, help="Archives within archives of one submission at most.").tag(config=True)
    undecided = Enum(
        (ASK, KEEP, REPLACE),
        ASK,
        help="What to do if it is not clear whether a download is newer than the file in submitted/.",
    ).tag(config=True)

    def extract(self, archive_path: str, extracted_path: str) -> None:
        course = self.parent.coursedir
        identities = IdentityTable.of(Path(course.root))
        choices = ChoiceTable(Path(course.root), self.undecided)
        lesson, roster = load_lesson_and_roster(course, identities)
        with ExitStack() as opened:
            reader = self.reader(identities, opened)
            reader.archive_folder(Path(archive_path))
            collecting = Collecting(lesson, roster, identities, choices)
            self.outcomes: list[Outcome] = [*nobodys_outcomes(reader.found), *collecting.outcomes(reader.found)]
        identities.save()
        choices.save()
        table = str(choices.path.relative_to(course.root))
        show(self.outcomes, SafeConsole(), identities.path.name, table, OPTIONS, zone_of(course.config))
        self.parent.process_extracted_files = lambda: None  # nothing is left to copy

    def reader(self, identities: IdentityTable, opened: ExitStack) -> DownloadReader:
        """A reader with these limits, and with the course's time zone if it has one."""
        return DownloadReader(self.budget, identities, opened, own_zone_of(self.config))

    def budget(self) -> Budget:
        return Budget(self.max_bytes, self.max_files, self.max_depth)


class DownloadCollector(FileNameCollectorPlugin):
    """A collector without work, because `TolerantExtractor` leaves nothing to copy.

    `c.ZipCollectApp.collector_plugin` needs one.
    """

    def collect(self, submitted_file: str) -> None:
        """Collect nothing."""


def load_lesson_and_roster(course: CourseDirectory, identities: IdentityTable) -> tuple[Lesson, Roster]:
    """The lesson `assignment_id` and the roster of a course."""

    def folder(student: str) -> SubmittedFolder:
        return submitted_folder(course, student, lesson)

    lesson = course.assignment_id
    names = find_all_notebooks(course.format_path(course.release_directory, ".", lesson)) or [lesson]
    with Gradebook(course.db_url, course.course_id) as gradebook:
        due = next((assignment.duedate for assignment in gradebook.assignments if assignment.name == lesson), None)
        students = [
            Student(row.id, row.first_name or "", row.last_name or "", row.email or "", str(row.lms_user_id or ""))
            for row in gradebook.students
        ]
    notebooks = [name.removesuffix(".ipynb") for name in names]
    return Lesson(lesson, notebooks, due and utc(due), folder, handed_out(course, lesson)), Roster(students, identities)
