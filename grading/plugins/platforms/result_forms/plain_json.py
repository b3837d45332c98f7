"""Plain JSON, for programs of your own: docs/result.schema.json is its schema."""

from __future__ import annotations

import json

from grading.grader.verdict_report import to_report

from .file_result import FileResult, ResultForm

SCHEMA = "attention-course/result/v1"


def write(result: FileResult) -> str:
    """All of the result; an exercise is the record `report` of docs/json.md, with the name of the mistake."""
    whole = {
        "schema": SCHEMA,
        "lesson": result.lesson,
        "title": result.title,
        "points": result.earned,
        "most": result.points,
        "needs_a_person": result.open,
        "unreadable": result.unreadable,
        "sandboxed": result.sandboxed,
        "level": result.level,
        "seconds": round(result.seconds, 1),
        "summary": result.summary,
        "exercises": [to_report(verdict).to_json() | {"mistake": verdict.mistake_names} for verdict in result.verdicts],
        "questions": [{"question": name, "most": points} for name, points in result.questions.items()],
    }
    return json.dumps(whole, indent=1)


FORM = ResultForm("result.json", write)
