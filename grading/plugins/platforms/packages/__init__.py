"""Make what a teacher uploads so that a platform grades each submission itself: one module for each platform.

`PACKAGES` has them by the names that `grading package --for` takes. docs/platforms.md says what they hold.
"""

from __future__ import annotations

from . import classroom50_folder, gradescope_zip, prairielearn_question
from .package import LessonFiles, Package

__all__ = ["PACKAGES", "LessonFiles", "Package"]

PACKAGES: dict[str, Package] = {
    "gradescope": gradescope_zip.PACKAGE,
    "prairielearn": prairielearn_question.PACKAGE,
    "classroom50": classroom50_folder.PACKAGE,
}
