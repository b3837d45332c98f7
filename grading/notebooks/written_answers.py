"""Cells with answers to written questions: `%%answer NAME`, then the text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

STUB = "YOUR ANSWER HERE"  # nbgrader's; `course.notebook.written_answer` has the same
LINE = re.compile(r"%%answer[ \t]+(\w+)[^\n]*(?:\n|\Z)")


def answered_question(cell: Mapping[str, Any]) -> str:
    """The written question that a code cell answers; "" if it answers none."""
    found = LINE.match(cell["source"]) if cell["cell_type"] == "code" else None
    return found[1] if found else ""


def written_answer(source: str) -> str:
    """The student's text below the first line."""
    lines = LINE.sub("", source, count=1).splitlines()
    return "\n".join(line for line in lines if line.strip() != STUB).strip()
