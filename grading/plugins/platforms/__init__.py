"""Platforms that grade each submission when it is handed in (docs/platforms.md)."""

from __future__ import annotations

from grading.plugin import Plugin, Verb

PLUGIN = Plugin(
    verbs={
        "Grade": (
            Verb("grade-file", "Grade one file, and write the result in a platform's form.", before="report"),
            Verb("package", "Make what a platform needs to grade a lesson itself.", before="report"),
        ),
    },
)
