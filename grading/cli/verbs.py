"""The verbs of `grading`: those of the core, in the order of a term, and those of plug-ins."""

from __future__ import annotations

from ..plugin import Plugin, Verb, load_plugins

CORE = Plugin(
    verbs={
        "Begin a course": (
            Verb("init", "Make a course directory with settings, lessons and a secret seed.", "course", term=True),
            Verb("settings", "Show the settings in force and the file that sets each.", "course"),
            Verb("demo", "Grade a sample class, and name the pages to open.", "term"),
        ),
        "Write lessons": (
            Verb("new-lesson", "Write a new lesson with one exercise, which you then replace.", "authoring"),
            Verb("build", "Build the notebooks with solutions, and their check data.", "authoring"),
            Verb("prove", "Prove the graders with right answers, known mistakes and mutants.", "authoring"),
            Verb("sync", "Update everything that is derived from source/ and grader_tests/.", "authoring"),
        ),
        "Release": (
            Verb("release", "Build and prove lessons, and make the notebooks for students.", "term", term=True),
            Verb("publish", "Write the students' repository from the released lessons.", "course", term=True),
        ),
        "Collect": (
            Verb("restore", "Bring back a submission that a newer one replaced, or list replaced submissions.", "term"),
        ),
        "Grade": (
            Verb("grade", "Grade new submissions.", "term", term=True),
            Verb(
                "report",
                "Show what needs a person, frequent mistakes, and the results of each lesson.",
                "term",
                term=True,
            ),
        ),
        "Give back": (
            Verb("feedback", "Write feedback pages for graded submissions.", "term", term=True),
            Verb("gradebook", "Write all students' points in all lessons to one CSV file.", "gradebook", term=True),
        ),
        "Change": (
            Verb("extend", "Give students more time for a lesson.", "changes"),
            Verb("excuse", "Leave a lesson out of students' grades.", "changes"),
            Verb("reopen", "Reopen a student's grade so that a person looks at it again.", "by_hand"),
            Verb(
                "regrade",
                "Regrade with the current graders, points and seed, and show the changes before they are written.",
                "changes",
            ),
            Verb("verify-grades", "Recompute grades with the seeds recorded for them, and compare.", "changes"),
            Verb("history", "Show earlier grades that were replaced.", "changes"),
        ),
        "Look after": (
            Verb("doctor", "Check whether this machine can run student code in the sandbox.", "course", term=True),
            Verb("completion", "Print the shell code that completes `grading` commands.", "completion"),
        ),
    }
)


def verbs_by_group() -> dict[str, list[Verb]]:
    """Every verb with the full name of its module, as `grading --help all` lists them."""
    found: dict[str, list[Verb]] = {}
    for package, plugin in (("grading.cli", CORE), *load_plugins().items()):
        for group, verbs in plugin.verbs.items():
            listed = found.setdefault(group, [])
            for verb in verbs:
                names = [known.name for known in listed]
                place = names.index(verb.before) if verb.before in names else len(names)
                module = f"{package}.{verb.module}"
                listed.insert(place, Verb(verb.name, verb.summary, module, verb.before, verb.term))
    return found
