"""Names of version 0.1 in a course's files, importable until version 0.3.

A course's `nbgrader_config.py` and `grader_tests/` may still use them.
"""

from __future__ import annotations

import sys

from course.old_names import OldNames

PLUGINS = "grading.nbgrader_plugins"
#: Modules: old name -> new name
MOVED = {
    "grading.judge.exercise": "grading.exercises.exercise",
    f"{PLUGINS}.collect": f"{PLUGINS}.zip_collect",
    f"{PLUGINS}.export": f"{PLUGINS}.csv_exporters",
    f"{PLUGINS}.exporter": f"{PLUGINS}.submission_exporter",
    f"{PLUGINS}.feedback": f"{PLUGINS}.feedback_exporter",
    f"{PLUGINS}.late": f"{PLUGINS}.late_policy",
    f"{PLUGINS}.releasing": f"{PLUGINS}.release_exporter",
}
#: Names inside those modules: old module -> old name -> name in the module it is now
RENAMED = {
    "grading.judge.exercise": {
        "Right": "CorrectAnswer",
        "SUBJECT": "EXERCISE",
        "challenge": "step",
        "specimen": "sample_model",
    }
}


def install() -> None:
    """Make the old names importable, once."""
    sys.meta_path.append(OldNames(MOVED, RENAMED))
