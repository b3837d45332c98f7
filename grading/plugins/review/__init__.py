"""The local page for grading answers by hand, with a rubric: `grading review` (docs/reviewing.md).

A person grades a lesson question by question. Points and comments go to nbgrader's own columns, so the formgrader and
all other commands show the same. Does not cover: where the course's questions come from (`grading.exercises.question`),
how exercises are graded.
"""

from __future__ import annotations

from grading.plugin import Plugin, Verb

PLUGIN = Plugin(
    verbs={
        "Grade": (
            Verb("review", "Grade answers by hand on a local page, question by question.", before="report", term=True),
        ),
    },
)
