"""The folder `hand-ins/`: sources of submissions, and replaced files.

    hand-ins/origins/STUDENT/LESSON.json          what a command wrote into submitted/, with digests
    hand-ins/replaced/STUDENT/LESSON/TIME/        files that a newer submission replaced
    hand-ins/which-counts.csv                     questions for the teacher (`choices`)

It is not inside submitted/, because nbgrader copies a student's folder there completely. Its own `.gitignore` keeps it
out of repositories.
"""

from __future__ import annotations

from pathlib import Path

NAME = "hand-ins"
ORIGINS, REPLACED = "origins", "replaced"
CHOICES = "which-counts.csv"


def hand_ins_folder(root: Path) -> Path:
    """Return the folder; create it if it is missing."""
    folder = root / NAME
    folder.mkdir(exist_ok=True)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", encoding="utf-8")
    return folder


def origin_file(root: Path, student: str, lesson: str) -> Path:
    return root / NAME / ORIGINS / student / f"{lesson}.json"


def replaced_folder(root: Path, student: str, lesson: str) -> Path:
    return root / NAME / REPLACED / student / lesson
