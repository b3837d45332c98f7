"""The extractor and the collector of `nbgrader zip_collect`.

nbgrader calls the extractor once, then asks the collector about every file that it finds in `extracted/`. Here the
first decides everything, so that `extracted/<student>/<notebook>.ipynb` is all that the second sees, and all that
nbgrader writes to its log: no name of a student's is in it.

One submission never stops another: what cannot be collected is told in one line that names whose it is and why.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing
from itertools import islice
from pathlib import Path
from typing import IO

from nbgrader.api import Gradebook
from nbgrader.plugins.zipcollect import ExtractorPlugin, FileNameCollectorPlugin
from nbgrader.utils import find_all_notebooks
from traitlets import Int

from .archives import DOWNLOAD_LIST, FOLDER, Budget, Entry, NotRead, in_folder, in_zip, is_junk, on_disk
from .names import Owner, outermost, printable, slug
from .people import NotTold, People
from .submission import Chosen, Submission

REMEDY = "Put what counts at submitted/<student>/{lesson}/{notebook}.ipynb yourself."


class TolerantExtractor(ExtractorPlugin):
    """Finds what counts in everything that was downloaded, and copies it to `extracted/<student>/`."""

    max_bytes = Int(Budget.max_bytes, help="Bytes to read and unpack of one submission.").tag(config=True)
    max_files = Int(Budget.max_files, help="Files and folders of one submission.").tag(config=True)
    max_depth = Int(Budget.max_depth, help="Archives in archives of one submission.").tag(config=True)

    def extract(self, archive_path: str, extracted_path: str) -> None:
        course = self.parent.coursedir
        release = course.format_path(course.release_directory, ".", course.assignment_id)
        names = find_all_notebooks(release) or [course.assignment_id]
        self._notebooks = [name.removesuffix(".ipynb") for name in names]
        self._remedy = REMEDY.format(lesson=course.assignment_id, notebook=self._notebooks[0])
        with ExitStack() as downloads:
            submissions = self._listed(Path(archive_path), downloads)
            for student, submission in self._identified(submissions):
                self._take(submission, Path(extracted_path) / student)

    def _listed(self, archive: Path, downloads: ExitStack) -> list[Submission]:
        """What each person handed in, in each download. The archive folder is one, every zip at its top another."""
        loose: dict[Owner, Submission] = {}
        found = [loose]
        nobodys = []
        for item in sorted(archive.iterdir()):
            entry = on_disk(item, archive)
            if is_junk(entry.path):
                continue
            if not entry.unfit and item.suffix.lower() == ".zip" and not outermost(item.name, folder=False):
                found.append(self._zip(item, downloads))
            elif entry.unfit == FOLDER:
                self._sort(islice(in_folder(item), self.max_files + 1), "", loose)
            else:
                nobodys += self._sort([entry], "", loose)
        self._tell_nobodys(nobodys, "the archive folder")
        return [submission for download in found for submission in download.values()]

    def _zip(self, path: Path, downloads: ExitStack) -> dict[Owner, Submission]:
        found: dict[Owner, Submission] = {}
        try:
            entries = in_zip(downloads.enter_context(path.open("rb")), Budget(max_listed=DOWNLOAD_LIST))
        except (NotRead, OSError) as why:
            self.log.error("%s is not unpacked: %s", printable(path.name), printable(str(why)))
            return found
        entries = [entry for entry in entries if not is_junk(entry.path)]
        self._tell_nobodys(self._sort(entries, path.name, found), printable(path.name))
        return found

    def _sort(self, entries: Iterable[Entry], download: str, into: dict[Owner, Submission]) -> list[str]:
        """Give each entry to the submission of its owner; returns the names that tell of none."""
        nobodys = []
        for entry in entries:
            top = outermost(entry.path[0], folder=len(entry.path) > 1 or entry.unfit == FOLDER)
            if top is None:
                nobodys.append(printable(entry.path[0]))
                continue
            if top.owner not in into:
                budget = Budget(self.max_bytes, self.max_files, self.max_depth)
                into[top.owner] = Submission(top.owner, download, budget)
            into[top.owner].add(entry)
        return nobodys

    def _identified(self, submissions: list[Submission]) -> Iterator[tuple[str, Submission]]:
        """Each submission with its student's id; told are those of nobody, and of somebody who has two."""
        with Gradebook(self.parent.coursedir.db_url, self.parent.coursedir.course_id) as gradebook:
            ids = People(gradebook.students).ids(submission.owner for submission in submissions)
        for owner, student in ids.items():
            if owner.number and student == f"{slug(owner.name)}_{owner.number}":
                self.log.warning("Several people are called %s: one is collected as %s", owner, student)
        of_student: dict[str, list[Submission]] = {}
        for submission in submissions:
            student = ids[submission.owner]
            if isinstance(student, NotTold):
                self._refuse(submission, str(student))
            else:
                of_student.setdefault(student, []).append(submission)
        for student, several in of_student.items():
            if len(several) == 1:
                yield student, several[0]
                continue
            for submission in several:
                other = next(one for one in several if one is not submission)
                self._refuse(submission, f"{other} is the same student, {printable(student)}")

    def _take(self, submission: Submission, folder: Path) -> None:
        """Write what counts of a submission into a new folder, or tell why not."""
        try:
            if submission.refused:
                raise NotRead(submission.refused)
            with closing(Chosen(submission, self._notebooks)) as chosen:
                if not chosen.contents:
                    raise NotRead(
                        _some(chosen.trouble) or f"no notebook of this lesson in it: {_some(chosen.passed_over)}"
                    )
                _write(chosen.contents, folder)
                if chosen.trouble:
                    self.log.warning("%s is collected but for %s", submission, _some(chosen.trouble))
                if chosen.passed_over:
                    self.log.info("%s is collected; passed over: %s", submission, _some(chosen.passed_over))
        except (NotRead, OSError) as why:
            self._refuse(submission, str(why))

    def _refuse(self, submission: Submission, why: str) -> None:
        self.log.warning("%s is not collected: %s. %s", submission, why, self._remedy)

    def _tell_nobodys(self, names: list[str], where: str) -> None:
        if names:
            told = "%s in %s: not collected, since the name does not tell whose it is. %s"
            self.log.warning(told, _some(names), where, self._remedy)


def _write(contents: dict[str, IO[bytes]], folder: Path) -> None:
    folder.mkdir(parents=True)
    try:
        for notebook, content in contents.items():
            content.seek(0)
            with open(folder / f"{notebook}.ipynb", "xb") as file:
                shutil.copyfileobj(content, file)
    except OSError:
        shutil.rmtree(folder)
        raise


def _some(texts: list[str]) -> str:
    """The first three, and how many more."""
    more = f" and {len(texts) - 3:,} more" if len(texts) > 3 else ""
    return "; ".join(texts[:3]) + more


class DownloadCollector(FileNameCollectorPlugin):
    """Tells nbgrader whose a file in `extracted/<student>/<notebook>.ipynb` is, as `TolerantExtractor` decided it."""

    def collect(self, submitted_file: str) -> dict[str, str]:
        path = Path(submitted_file)
        return {"student_id": path.parent.name, "file_id": path.name}
