"""Classroom 50's `result.json`, schema classroom50/result/v1:
https://github.com/foundation50/classroom50/wiki/Advanced-Autograding (read 2026-11-27, as was its
runner, which refuses a result without the fields below).

Its runner gives the names of classroom, assignment and submission in environment variables. Scores are whole numbers
there, so where points have fractions, all of them are multiplied by the same number.
"""

from __future__ import annotations

import json
import math
import os
from datetime import UTC, datetime
from fractions import Fraction

from .file_result import FileResult, ResultForm

SCHEMA = "classroom50/result/v1"
FROM_RUNNER = {
    "classroom": "CLASSROOM",
    "assignment": "ASSIGNMENT",
    "assignment_type": "ASSIGNMENT_TYPE",
    "owner": "OWNER",
    "submission": "SUBMISSION_TAG",
    "commit": "COMMIT_URL",
    "release": "RELEASE_URL",
    "review": "REVIEW_URL",
}
FINEST = 100  # parts of a point that scores distinguish


def write(result: FileResult) -> str:
    """One test per criterion. Fields that the schema does not name are kept with a test as they are."""
    rows = list(result.rows())
    factor = _whole_factor([points for row in rows for points in (row.earned, row.points)])
    tests = [
        {
            "test-name": row.title,
            "passed": row.status == "passed",
            "score": round(row.earned * factor),
            "max-score": round(row.points * factor),
            "points": row.earned,
            "needs-a-person": row.status == "open",
            "output": row.text,
        }
        for row in rows
    ]
    about = {name: os.environ.get(variable, "") for name, variable in FROM_RUNNER.items()}
    whole = {
        "schema": SCHEMA,
        **about,
        "assignment_type": about["assignment_type"] or "individual",
        "owner": about["owner"] or os.environ.get("USERNAME", ""),
        "review": about["review"] or about["commit"],
        "datetime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "score": sum(round(row.earned * factor) for row in rows),
        "max-score": sum(round(row.points * factor) for row in rows),
        "tests": tests,
        "points-per-score": 1 / factor,
        "summary": result.summary,
    }
    return json.dumps(whole, indent=1)


def _whole_factor(points: list[float]) -> int:
    """The smallest number by which all points become whole, at most FINEST."""
    parts = [Fraction(value).limit_denominator(FINEST).denominator for value in points]
    return min(math.lcm(*parts), FINEST)


FORM = ResultForm("result.json", write)
