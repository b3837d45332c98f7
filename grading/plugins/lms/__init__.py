"""Learning management systems: collect submissions, return feedback and points (docs/collecting.md).

    submitted/<student>/<lesson>/    <lesson>.ipynb, and timestamp.txt if the download has the time of submission
    student-ids.csv                  file name -> student if the name is not enough: asked once, then remembered
    hand-ins/                        where submissions came from, what was replaced, and which of two files counts

`platforms` parses the names that a platform gives to files, `metadata` reads the files that it adds. `roster` finds
the student's id, using the answers in `identities`. `downloads` finds the submissions in folders and archives,
`lessons` their lessons. `selection` chooses which of a submission's files counts, `collection` runs all of this,
`outcome_table` shows the result. `gradebook_csv` and `return_feedback` return points and feedback. `grading/submitted/`
lists archives within a budget, asks which of two files counts, and writes and keeps what is handed in.

Two rules hold for any archive. **Identity** comes only from the outermost name, at the top of the download, and from
the platform's own files there. A student wrote everything below that, so it only decides which of that student's files
counts. **No name that a student chose becomes a path**: archives are read, never unpacked, and all names of written
files are made here.
"""

from __future__ import annotations

from grading.plugin import Plugin, Verb

PLUGIN = Plugin(
    verbs={
        "Collect": (
            Verb(
                "collect",
                "Sort an LMS download into submitted/ and record submission times.",
                before="restore",
                term=True,
            ),
        ),
        "Give back": (
            Verb(
                "feedback-zip", "Pack feedback pages into a zip that Canvas or Moodle can import.", before="gradebook"
            ),
            Verb("fill-gradebook", "Fill lessons' columns in a gradebook file that your LMS exported."),
        ),
    },
    settings=f"{__name__}.settings",
)
