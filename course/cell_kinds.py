"""The kinds of cell in a lesson's notebook. Each cell has one, as a tag.

text        prose, worked examples, bugs
picture     something to look at: a figure, a table of results, a measurement
code        code to read, whose names later cells and answers may use; the set-up cell, too
exercise    an answer to write, and its check
prediction  a guess before the result
experiment  an experiment that the learner makes, and the check of its finding
model       a model with the learner's part in it: compared, or trained
progress    what is done and what is next

Does not cover: how the build finds the kind of a cell (`grading.authoring.lesson_text`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

KINDS = ("text", "picture", "code", "exercise", "prediction", "experiment", "model", "progress")
LEFT_OUT = ("picture", "experiment", "model", "progress")  # kinds that no answer depends on


def is_left_out(metadata: Mapping[str, Any], source: str) -> bool:
    """Whether no answer depends on a cell, by its kind, or because it only checks and earns no points.

    Neither a grade nor a proof runs such a cell, unless a student has changed it.
    """
    tags, text = metadata.get("tags"), source.strip()
    by_kind = isinstance(tags, list) and any(kind in tags for kind in LEFT_OUT)
    return by_kind or (not metadata.get("nbgrader") and text.startswith("check(") and "\n" not in text)
