"""The verbs of `grading`: those of the core, in the order of a term, and those of plug-ins."""

from __future__ import annotations

from ..plugin import Verb, load_plugins

VERBS = (
    Verb(
        "init",
        "Make a course directory with settings, lessons and a secret seed.",
        "grading.cli.course",
        "Begin a course",
        term=True,
    ),
    Verb("settings", "Show the settings in force and the file that sets each.", "grading.cli.course", "Begin a course"),
    Verb("demo", "Grade a sample class, and name the pages to open.", "grading.cli.term", "Begin a course"),
    Verb(
        "new-lesson",
        "Write a new lesson with one exercise, which you then replace.",
        "grading.cli.authoring",
        "Write lessons",
    ),
    Verb(
        "build", "Build the notebooks with solutions, and their check data.", "grading.cli.authoring", "Write lessons"
    ),
    Verb(
        "prove",
        "Prove the graders with right answers, known mistakes and mutants.",
        "grading.cli.authoring",
        "Write lessons",
    ),
    Verb(
        "sync",
        "Update everything that is derived from source/ and grader_tests/.",
        "grading.cli.authoring",
        "Write lessons",
    ),
    Verb(
        "release",
        "Build and prove lessons, and make the notebooks for students.",
        "grading.cli.term",
        "Release",
        term=True,
    ),
    Verb(
        "publish",
        "Write the students' repository from the released lessons.",
        "grading.cli.course",
        "Release",
        term=True,
    ),
    Verb(
        "restore",
        "Bring back a submission that a newer one replaced, or list replaced submissions.",
        "grading.cli.term",
        "Collect",
    ),
    Verb("grade", "Grade new submissions.", "grading.cli.term", "Grade", term=True),
    Verb(
        "report",
        "Show what needs a person, frequent mistakes, and the results of each lesson.",
        "grading.cli.term",
        "Grade",
        term=True,
    ),
    Verb("feedback", "Write feedback pages for graded submissions.", "grading.cli.term", "Give back", term=True),
    Verb(
        "gradebook",
        "Write all students' points in all lessons to one CSV file.",
        "grading.cli.gradebook",
        "Give back",
        term=True,
    ),
    Verb("extend", "Give students more time for a lesson.", "grading.cli.changes", "Change"),
    Verb("excuse", "Leave a lesson out of students' grades.", "grading.cli.changes", "Change"),
    Verb("reopen", "Reopen a student's grade so that a person looks at it again.", "grading.cli.by_hand", "Change"),
    Verb(
        "regrade",
        "Regrade with the current graders, points and seed, and show the changes before they are written.",
        "grading.cli.changes",
        "Change",
    ),
    Verb(
        "verify-grades",
        "Recompute grades with the seeds recorded for them, and compare.",
        "grading.cli.changes",
        "Change",
    ),
    Verb("history", "Show earlier grades that were replaced.", "grading.cli.changes", "Change"),
    Verb(
        "doctor",
        "Check whether this machine can run student code in the sandbox.",
        "grading.cli.course",
        "Look after",
        term=True,
    ),
    Verb(
        "completion", "Print the shell code that completes `grading` commands.", "grading.cli.completion", "Look after"
    ),
)


def all_verbs() -> dict[str, Verb]:
    """Every verb by its name, in the order of `grading --help all`."""
    verbs = list(VERBS)
    for verb in (verb for plugin in load_plugins() for verb in plugin.verbs):
        names = [known.name for known in verbs]
        verbs.insert(names.index(verb.before) if verb.before in names else len(verbs), verb)
    groups = list(dict.fromkeys(verb.group for verb in verbs))
    return {verb.name: verb for verb in sorted(verbs, key=lambda verb: groups.index(verb.group))}
