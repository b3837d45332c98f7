"""Make what a teacher uploads so that a platform grades each submission itself: one module for each platform.

`PACKAGES` has them by the names that `grading package --for` takes. docs/platforms.md says how each is uploaded.
"""

from __future__ import annotations

from . import gradescope, prairielearn
from .package import LessonFiles, Package

__all__ = ["PACKAGES", "LessonFiles", "Package"]

PACKAGES: dict[str, Package] = {"gradescope": gradescope.PACKAGE, "prairielearn": prairielearn.PACKAGE}
