"""The exchange's `release_feedback`: skip students who did not hand in by the exchange, and go on.

nbgrader's own step stops with a traceback at the first such student, and the following ones get no feedback.
"""

from __future__ import annotations

import glob
from pathlib import Path

from nbgrader.exchange.default.release_feedback import ExchangeReleaseFeedback

from grading.safe_text import one_line

NEEDED = ("timestamp.txt", "submission_secret.txt")  # the exchange writes both when a student submits


class ReleaseFeedback(ExchangeReleaseFeedback):
    """nbgrader's step for one assignment, without those whose pages it cannot release."""

    def copy_files(self) -> None:
        missing = {}
        for folder in sorted(map(Path, glob.glob(self.src_path))):
            if lacking := [name for name in NEEDED if not (folder / name).is_file()]:
                missing[folder.parent.name] = lacking[0]
        for student, name in missing.items():
            self.log.warning(
                "%s: no feedback is released, because it was not handed in through the exchange (there is no %s)",
                one_line(student),
                name,
            )
        excluded = self.coursedir.student_id_exclude
        self.coursedir.student_id_exclude = ",".join(filter(None, [excluded, *missing]))
        try:
            super().copy_files()
        finally:
            self.coursedir.student_id_exclude = excluded
