"""Data about people: backups, a copy of everything about one student, and its deletion (docs/teachers.md)."""

from __future__ import annotations

from grading.plugin import Plugin, Verb

PLUGIN = Plugin(
    verbs={
        "Look after": (
            Verb(
                "backup",
                "Back up the gradebook, submissions and settings, even while grading runs.",
                before="completion",
            ),
            Verb("restore-backup", "Check a backup, and unpack it into an empty directory.", before="completion"),
            Verb(
                "export-student",
                "Write everything that the course holds about one student to a zip.",
                before="completion",
            ),
            Verb("forget", "Show what the course holds about one student, and delete it.", before="completion"),
        ),
    },
)
