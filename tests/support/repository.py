"""The repository under test: its folder, its lessons, and the seed of the courses that tests build."""

from __future__ import annotations

from pathlib import Path

from grading.course_dir.lessons import list_lessons

ROOT = Path(__file__).parents[2]
LESSONS = list_lessons(ROOT)
SEED = "5eed" * 8  # fixed, so that a failure can be repeated
