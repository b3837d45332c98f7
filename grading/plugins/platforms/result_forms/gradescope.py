"""Gradescope's `results.json`: https://gradescope-autograders.readthedocs.io/en/latest/specs (read 2026-11-26)."""

from __future__ import annotations

import json
import re
from typing import Any

from .file_result import FileResult, ResultForm, ResultRow


def write(result: FileResult) -> str:
    """One test per criterion, and the feedback page above them if there is one.

    Answers that a person grades have no status, so they are not shown as failed.
    """
    page = re.search(r"<main>.*</main>", result.page, re.S)
    whole = {
        "score": result.earned,
        "execution_time": round(result.seconds),
        "output": page[0] if page else result.summary,
        "output_format": "html" if page else "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": [_test(row) for row in result.rows()],
        "extra_data": {"lesson": result.lesson, "needs_a_person": result.open},
    }
    return json.dumps(whole, indent=1)


def _test(row: ResultRow) -> dict[str, Any]:
    test = {
        "name": row.title,
        "number": row.number,
        "score": row.earned,
        "max_score": row.points,
        "output": row.text,
        "output_format": "text",
    }
    return test if row.status == "open" else {**test, "status": row.status}


FORM = ResultForm("results.json", write)
