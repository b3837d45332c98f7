"""The exchange's `release_feedback`: a student whose page cannot be released does not stop the others.

nbgrader's own step stops with a traceback at the first student who did not hand in by the exchange, or whose files
cannot be read. A student fetches a page by the name of the notebook that was handed in, so a page is released under
other names, too.
"""

from __future__ import annotations

import glob
import shutil
from pathlib import Path

from nbgrader.exchange.default.release_feedback import ExchangeReleaseFeedback
from nbgrader.utils import notebook_hash

from grading.coordinator.gradebook_writer import EXCHANGE_FILES
from grading.safe_text import one_line

MOST_NAMES = 20  # of one submission, since a student chooses how many there are


class ReleaseFeedback(ExchangeReleaseFeedback):
    """nbgrader's step for one assignment, student by student."""

    src_path: str

    def copy_files(self) -> None:
        every = self.src_path
        for folder in sorted(map(Path, glob.glob(every))):
            student = one_line(folder.parent.name)
            if lacking := [name for name in EXCHANGE_FILES if not (folder / name).is_file()]:
                self.log.warning(
                    "%s: no feedback is released, because it was not handed in through the exchange (there is no %s)",
                    student,
                    lacking[0],
                )
                continue
            self.src_path = glob.escape(str(folder))
            try:
                super().copy_files()
                self._release_under_other_names(folder)
            except Exception as error:  # nbgrader raises various ones
                self.log.error("%s: no feedback is released: %s", student, one_line(str(error)))
        self.src_path = every

    def _release_under_other_names(self, folder: Path) -> None:
        coursedir, lesson = self.coursedir, self.coursedir.assignment_id
        secret = (folder / EXCHANGE_FILES[1]).read_text(encoding="utf-8")
        released = Path(self.dest_path) / page_name(secret, lesson)
        handed_in = Path(coursedir.format_path(coursedir.submitted_directory, folder.parent.name, lesson))
        for name in other_names(handed_in, lesson) if released.exists() else []:
            if (folder / f"{name}.html").exists():  # a page of its own
                continue
            beside = Path(self.dest_path) / f"tmp-{page_name(secret, name)}"
            shutil.copy(released, beside)
            beside.replace(Path(self.dest_path) / page_name(secret, name))


def page_name(secret: str, notebook: str) -> str:
    """The name of a feedback page in the exchange."""
    return f"{notebook_hash(secret=secret, notebook_id=notebook)}.html"


def other_names(folder: Path, lesson: str) -> list[str]:
    """The names of the notebooks in a submission besides the lesson's own, as far as they can be hashed."""
    names = sorted(path.stem for path in folder.glob("*.ipynb"))
    return [name for name in names if name != lesson and name.isprintable()][:MOST_NAMES]
