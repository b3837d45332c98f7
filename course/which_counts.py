"""Which file of a submission counts, and which version of an answer in a notebook.

The commands that collect and grade use these rules, and so do `progress` and `hand_in`, so that a learner hears before
handing in what the grade will take. Does not cover: reading files.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

ENDINGS = (".ipynb", ".ipynb.txt", ".ipynb.json", ".py", ".md")  # of files that may be notebooks; the first ones win
VERSION = re.compile(r"[-_ ]*\(?([0-9]{1,9})\)?\s*")  # after a notebook's own name: "-1", " (2)"
LESSON = re.compile(r"(?<!\d)\d\d[ _-][a-z]", re.IGNORECASE)
STILL_RAISES = "`{0}` still raises NotImplementedError. Delete that line, and what you wrote is judged."
NOT_DEFINED = "Your cell for `{0}` does not define `{0}`. Keep the first line of the lesson's cell."
Names = tuple[str, ...]  # a path, as the names of its folders and of the file


class Meant(NamedTuple):
    """The meaning of a file name: notebook, whether it is named, copy count, version."""

    notebook: str
    by_name: bool
    copies: int
    version: int


class Rank(NamedTuple):
    """How likely a file is the one that counts; the greatest does.

    The order: right name, notebook before Python file, latest in a platform's order, closest to the top, last version.
    """

    by_name: bool
    form: int
    order: int
    height: int
    copies: int
    version: int

    @property
    def ending(self) -> str:
        return ENDINGS[-self.form]


class Unclear(Exception):
    """Two files have an equal claim; `best` and `other` are their paths."""

    def __init__(self, best: Names, other: Names) -> None:
        self.best, self.other = best, other
        super().__init__(f"{'/'.join(best)} and {'/'.join(other)}")


def which_notebook(stem: str, notebooks: Iterable[str]) -> Meant | None:
    """Interpret a name such as "Copy of 02_softmax (1)".

    Anything may precede the notebook's name (Colab writes "Copy of" in many languages). If the name contains no
    lesson's name, it means the only notebook, if there is just one. Returns None if it means no notebook of the lesson.
    """
    plain, known = re.sub(r"[ _-]+", "_", unicodedata.normalize("NFC", stem)).lower(), list(notebooks)
    for notebook in sorted(known, key=len, reverse=True):
        wanted = re.sub(r"[ _-]+", "_", notebook).lower()
        place = plain.rfind(wanted)
        if place >= 0:
            before, after = plain[:place], plain[place + len(wanted) :]
            version = VERSION.fullmatch(after)
            copies = len(re.findall(r"[^\W\d_]+", before))
            return Meant(notebook, True, copies, int(version[1]) if version else bool(after))
    if len(known) == 1 and not LESSON.search(stem):
        return Meant(known[0], False, 0, 0)
    return None


def rank(path: Names, notebooks: Iterable[str], name: str = "", order: int = 0) -> tuple[str, Rank] | None:
    """The notebook that a file could count as, and its rank; None if it cannot.

    name   its own name, if a platform has added to the one in its path
    order  a platform's number, higher for later files
    """
    name = name or path[-1]
    ending = next((ending for ending in ENDINGS if name.lower().endswith(ending)), "")
    meant = which_notebook(name[: -len(ending)], notebooks) if ending else None
    if meant is None or (ending == ".md" and not meant.by_name):  # most Markdown files are no notebooks
        return None
    form = -ENDINGS.index(ending)
    return meant.notebook, Rank(meant.by_name, form, order, -len(path), meant.copies, meant.version)


def are_rivals(one: Names, of_one: Rank, other: Names, of_other: Rank) -> bool:
    """Whether it is unclear which of two files with different contents counts.

    It is if they have equal rank, and are in two folders or have names of equal rank.
    """
    same = of_one[:4] == of_other[:4]  # all but copies and version
    return same and (one[:-1] != other[:-1] or of_one == of_other)


def is_nameless_script(found: Rank) -> bool:
    """Whether it is a Python file without the lesson's name, which counts only if it is the only file."""
    return found.ending == ".py" and not found.by_name


def choose(
    paths: Iterable[Names], lesson: str, digest: Callable[[Names], str], handed_out: Collection[str] = ()
) -> Names | None:
    """The file of a folder that counts as the lesson's notebook; None if there is none. Raises Unclear.

    digest      of a file's content
    handed_out  digests of the lesson's own notebook: such a file counts only if there is no other
    """
    found = {path: ranked[1] for path in paths if (ranked := rank(path, [lesson]))}
    scripts = [path for path, ranked in found.items() if is_nameless_script(ranked)]
    if len(scripts) < len(found) or len(scripts) > 1:
        found = {path: ranked for path, ranked in found.items() if path not in scripts}
    if len(found) > 1 and handed_out:
        found = {path: ranked for path, ranked in found.items() if digest(path) not in handed_out} or found
    if not found:
        return None
    best = max(sorted(found), key=found.__getitem__)
    for other in sorted(found):
        if other != best and are_rivals(best, found[best], other, found[other]) and digest(other) != digest(best):
            raise Unclear(best, other)
    return best


def answer_ends(versions: Iterable[int], own: int | None) -> int | None:
    """The cell below which the check of an exercise belongs; None if nothing defines the answer.

    versions  the cells that define the answer, by their numbers in the notebook
    own       the exercise's own cell, if it defines the answer and is not the stub
    """
    return max(versions, default=None) if own is None else own


def which_version(versions: Sequence[int], own: int | None, check: int | None) -> int | None:
    """The cell whose version of an answer the grade takes: the last one above the check, which grading puts in place.

    check: the number of its cell; None if it is missing. The other arguments and None are as in `answer_ends`.
    """
    end = answer_ends(versions, own)
    return max(
        (n for n in versions if end is not None and n <= max(end, end if check is None else check)), default=None
    )
