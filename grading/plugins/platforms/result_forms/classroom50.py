"""Classroom 50's `result.json`, schema classroom50/result/v1 (`classroom50.autograder` says where it is published).

Its runner gives the names of classroom, assignment and submission in environment variables.
"""

from __future__ import annotations

import json

from ..classroom50.autograder import make_result
from .file_result import FileResult, ResultForm


def write(result: FileResult) -> str:
    """One test per criterion. Fields that the schema does not name are kept with a test as they are."""
    tests = [
        {
            "name": row.title,
            "earned": row.earned,
            "points": row.points,
            "passed": row.status == "passed",
            "needs-a-person": row.status == "open",
            "output": row.text,
        }
        for row in result.rows()
    ]
    return json.dumps(make_result(tests), indent=1)


FORM = ResultForm("result.json", write)
