"""A JupyterHub with nbgrader's exchange: submissions are graded as they arrive (docs/hub.md)."""

from __future__ import annotations

from grading.plugin import Plugin, Verb

PLUGIN = Plugin(
    verbs={
        "Grade": (
            Verb(
                "watch",
                "Grade submissions in nbgrader's exchange as they arrive, and release their feedback.",
                before="report",
            ),
        ),
    },
    settings=f"{__name__}.settings",
)
