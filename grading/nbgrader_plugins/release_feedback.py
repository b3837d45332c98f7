"""The exchange's `release_feedback`: a student whose page cannot be released does not stop the others.

nbgrader's own step stops with a traceback at the first student who did not hand in by the exchange, or whose files
cannot be read.
"""

from __future__ import annotations

import glob
from pathlib import Path

from nbgrader.exchange.default.release_feedback import ExchangeReleaseFeedback

from grading.safe_text import one_line

NEEDED = ("timestamp.txt", "submission_secret.txt")  # the exchange writes both when a student submits


class ReleaseFeedback(ExchangeReleaseFeedback):
    """nbgrader's step for one assignment, student by student."""

    src_path: str

    def copy_files(self) -> None:
        every = self.src_path
        for folder in sorted(map(Path, glob.glob(every))):
            student = one_line(folder.parent.name)
            if lacking := [name for name in NEEDED if not (folder / name).is_file()]:
                self.log.warning(
                    "%s: no feedback is released, because it was not handed in through the exchange (there is no %s)",
                    student,
                    lacking[0],
                )
                continue
            self.src_path = glob.escape(str(folder))
            try:
                super().copy_files()
            except Exception as error:  # nbgrader raises various ones
                self.log.error("%s: no feedback is released: %s", student, one_line(str(error)))
        self.src_path = every
