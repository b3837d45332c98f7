"""The extractor and the collector of `nbgrader zip_collect`.

nbgrader calls the extractor once, then the collector for every file in `extracted/`. Here the extractor decides
everything: the collector, and so nbgrader's log, only sees `extracted/<student>/<notebook>.ipynb` of changed work, and
no name that a student chose.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import IO

from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.plugins.zipcollect import ExtractorPlugin, FileNameCollectorPlugin
from nbgrader.utils import find_all_notebooks
from traitlets import Int

from grading.safe_console import SafeConsole

from ..lms import submitted_dir
from ..lms.archives import Budget
from ..lms.collection import Collecting, Lesson, Outcome, Put
from ..lms.downloads import DownloadReader
from ..lms.identities import IdentityTable
from ..lms.outcome_table import show
from ..lms.roster import Roster, Student

REMEDY = "Skipped: put what counts at submitted/<student>/{lesson}/{notebook}.ipynb yourself."


class TolerantExtractor(ExtractorPlugin):
    """Finds the files that count, and copies them to `extracted/<student>/`.

    outcomes: of each submission. times: student -> text for timestamp.txt.
    """

    max_bytes = Int(Budget.max_bytes, help="Bytes to read and unpack of one submission.").tag(config=True)
    max_files = Int(Budget.max_files, help="Files and folders of one submission.").tag(config=True)
    max_depth = Int(Budget.max_depth, help="Archives in archives of one submission.").tag(config=True)

    def extract(self, archive_path: str, extracted_path: str) -> None:
        course = self.parent.coursedir
        self.times: dict[str, str] = {}

        def put(student: str, contents: dict[str, IO[bytes]], time: str) -> None:
            submitted_dir.write(Path(extracted_path) / student, contents, "")
            self.times[student] = time if submitted_dir.time_of(time) else ""

        identities = IdentityTable.of(Path(course.root))
        lesson, roster = about(course, identities, put)
        with ExitStack() as opened:
            reader = DownloadReader(self.budget, identities, opened)
            reader.archive_folder(Path(archive_path))
            self.outcomes: list[Outcome] = list(Collecting(lesson, roster, identities).outcomes(reader.found))
        identities.save()
        show(
            self.outcomes,
            SafeConsole(),
            identities.path.name,
            REMEDY.format(lesson=course.assignment_id, notebook=lesson.notebooks[0]),
        )

    def budget(self) -> Budget:
        return Budget(self.max_bytes, self.max_files, self.max_depth)


class DownloadCollector(FileNameCollectorPlugin):
    """Tells nbgrader the student of a file that `TolerantExtractor` has copied."""

    def collect(self, submitted_file: str) -> dict[str, str]:
        path = Path(submitted_file)
        attributes = {"student_id": path.parent.name, "file_id": path.name}
        time = self.parent.extractor_plugin_inst.times.get(path.parent.name, "")
        return attributes | ({"timestamp": time} if time else {})


def about(course: CourseDirectory, whose: IdentityTable, put: Put | None = None) -> tuple[Lesson, Roster]:
    """The lesson `assignment_id` and the roster of a course. `put`: writer to another folder than `submitted/`."""

    def folder(student: str) -> Path:
        return Path(course.format_path(course.submitted_directory, student, lesson))

    def into_submitted(student: str, contents: dict[str, IO[bytes]], time: str) -> None:
        submitted_dir.write(folder(student), contents, time)

    lesson = course.assignment_id
    names = find_all_notebooks(course.format_path(course.release_directory, ".", lesson)) or [lesson]
    with Gradebook(course.db_url, course.course_id) as gradebook:
        due = next((assignment.duedate for assignment in gradebook.assignments if assignment.name == lesson), None)
        students = [
            Student(row.id, row.first_name or "", row.last_name or "", row.email or "", str(row.lms_user_id or ""))
            for row in gradebook.students
        ]
    return (
        Lesson(
            notebooks=[name.removesuffix(".ipynb") for name in names],
            due=due and submitted_dir.utc(due),
            folder=folder,
            put=put or into_submitted,
        ),
        Roster(students, whose),
    )
