"""The notebooks of the lessons, the rules for AI assistants, and a learner's own folder with both.

An installed package has the notebooks in `course/lessons/`; a checkout has them in `release/`. Does not cover: opening
JupyterLab (`cli`), and packing a teacher's own notebooks (`grading publish`).
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from .models.write_file import write_file

INSTALLED = Path(__file__).parent / "lessons"
CHECKOUT = Path(__file__).parents[1] / "release"
NEW_FOLDER = "attention-lessons"
ENDING = ".ipynb"
RULES = Path(__file__).with_name("assistant_rules.md")


class UnusableFolder(Exception):
    """The notebooks cannot be put into a folder; the message says why and what to do."""


@dataclass
class FilledFolder:
    """A folder with the notebooks, and the file names of those that were added and of those that were there."""

    path: Path
    added: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)

    def to_text(self) -> str:
        """One line on the notebooks that were added, and one on those that were kept."""
        place = "this folder" if self.path == Path() else self.path
        verbs = ((self.added, "added to"), (self.kept, "kept unchanged in"))
        return "\n".join(
            f"{len(names)} notebook{'s' * (len(names) > 1)} {verb} {place}: {', '.join(names)}"
            for names, verb in verbs
            if names
        )


def lesson_notebooks() -> dict[str, Path]:
    """The notebooks by file name, in the order of the lessons. Raises UnusableFolder if this installation has none."""
    for place in (INSTALLED, CHECKOUT):
        if found := {path.name: path for path in sorted(place.glob(f"*/*{ENDING}")) if path.stem == path.parent.name}:
            return found
    raise UnusableFolder(
        "This installation of the course has no notebooks. Download them where you got the course, or install the "
        "course again."
    )


def assistant_files() -> dict[str, bytes]:
    """The files with the rules for AI assistants, by the names under which assistants look for them."""
    rules = RULES.read_bytes()
    # Jupyter's tutor hands its model the text of TUTOR.md and no other file
    return {"AGENTS.md": rules, "TUTOR.md": b"These are the rules of AGENTS.md, for Jupyter's tutor.\n\n" + rules}


def default_folder() -> Path:
    """The current folder if it has notebooks of the lessons, otherwise a folder in it."""
    has_some = any(Path(name).exists() for name in lesson_notebooks())
    return Path() if has_some else Path(NEW_FOLDER)


def fill_folder(folder: Path) -> FilledFolder:
    """Make the folder and add the notebooks and rules that it does not have. No file that is there is changed.

    Raises UnusableFolder.
    """
    filled = FilledFolder(folder)
    notebooks = {name: source.read_bytes() for name, source in lesson_notebooks().items()}
    for name, content in {**notebooks, **assistant_files()}.items():
        target = folder / name
        if os.path.lexists(target):
            filled.kept += [name] * (name in notebooks)
            continue
        try:
            write_file(target, content)  # an interrupted copy must not be kept as the learner's notebook
        except OSError as error:
            raise UnusableFolder(
                f"{target} cannot be written: {error.strerror}. Choose another folder: attention start FOLDER"
            ) from None
        filled.added += [name] * (name in notebooks)
    return filled
