"""Points to Canvas, through its API (docs/teachers.md)."""

from __future__ import annotations

from grading.plugin import Plugin, Verb

PLUGIN = Plugin(
    verbs={
        "Give back": (Verb("push", "Send a lesson's points to Canvas, after showing them."),),
    },
    settings=f"{__name__}.settings",
)
