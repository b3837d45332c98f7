"""PrairieLearn's `results.json` of an external grader: https://prairielearn.readthedocs.io/en/latest/externalGrading
(read 2026-11-26).
"""

from __future__ import annotations

import json

from .file_result import FileResult, ResultForm

MOST = 1_000_000  # bytes that PrairieLearn takes
CUT = 2_000  # characters of one output in a result that would be larger


def write(result: FileResult) -> str:
    """One test per criterion, and the score as a share of the maximum.

    A file that the student should hand in again is not gradable, which costs no attempt.
    """
    if result.student_may_hand_in_again:
        return json.dumps({"gradable": False, "format_errors": [result.unreadable]}, indent=1)
    text = _write(result, None)
    return text if len(text.encode()) <= MOST else _write(result, CUT)


def _write(result: FileResult, most: int | None) -> str:
    tests = [
        {
            "name": row.title,
            "description": "A person will grade this." if row.status == "open" else "",
            "points": row.earned,
            "max_points": row.points,
            "output": row.text[:most],
        }
        for row in result.rows()
    ]
    share = result.earned / result.points if result.points else 0.0
    return json.dumps({"gradable": True, "score": share, "message": result.summary, "tests": tests}, indent=1)


FORM = ResultForm("results.json", write)
