"""Measure the graders of the course in this directory: `python -m benchmarks.strength [LESSON or EXERCISE ...]`."""

from __future__ import annotations

import sys

from grading.course_dir.paths import course_root

from .write_reports import measure_course

if __name__ == "__main__":
    sys.exit(measure_course(course_root(), sys.argv[1:]))
