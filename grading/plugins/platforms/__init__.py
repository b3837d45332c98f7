"""Platforms that grade each submission when it is handed in (docs/platforms.md)."""

from __future__ import annotations

from grading.plugin import Plugin, Verb

PLUGIN = Plugin(
    verbs=(
        Verb(
            "grade-file",
            "Grade one file, and write the result in a platform's form.",
            "grading.plugins.platforms.verbs",
            "Grade",
            before="report",
        ),
        Verb(
            "package",
            "Make what a platform needs to grade a lesson itself.",
            "grading.plugins.platforms.verbs",
            "Grade",
            before="report",
        ),
    ),
)
