"""Gradescope's autograder zip: https://gradescope-autograders.readthedocs.io/en/latest/specs (read 2026-11-27).

Gradescope unpacks it into /autograder/source, runs setup.sh once, as root and with a network, and then run_autograder
for each submission, which is in /autograder/submission. Only teachers can download the zip.
"""

from __future__ import annotations

from .package import LessonFiles, Package, grading_files, set_up_files, text


def _files(lesson: LessonFiles) -> dict[str, bytes]:
    return {
        "setup.sh": text("gradescope_setup.sh"),
        "run_autograder": text("gradescope_run.sh"),
        **set_up_files(lesson),
        **grading_files(lesson, "gradescope", page=True),
    }


PACKAGE = Package(True, _files, frozenset({"setup.sh", "run_autograder", "set_up.sh", "grade.sh"}))
