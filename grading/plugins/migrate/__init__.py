"""A new version of the lessons in the middle of a term (docs/teachers.md)."""

from __future__ import annotations

from grading.plugin import Plugin, Verb

PLUGIN = Plugin(
    verbs={
        "Look after": (
            Verb(
                "migrate",
                "Move to a new version of the lessons, after showing how it changes yours and the grades.",
                before="export-student",
            ),
        ),
    },
)
