"""What names tell: whose a file is, by the name that a platform gave; which notebook, by the name that a person gave.

Names of Moodle (`Jane Smith_1234_assignsubmission_file_/02_softmax.ipynb`), Canvas
(`smithjane_late_12345_678_02_softmax-1.ipynb`) and Colab (`Copy of 02_softmax.ipynb`, `02_softmax (1).ipynb`) are
understood, and plain folders `<student>/<notebook>.ipynb`.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import NamedTuple

# Both begin with what the platform alone decides: Moodle takes underscores out of people's names, Canvas all but
# letters and digits. What a student called the file stands behind.
MOODLE = re.compile(
    r"(?P<name>[^_/\\]+)_(?P<number>[0-9]{1,20})_assignsubmission_(?:file|onlinetext)_?(?P<own>.*)", re.S
)
CANVAS = re.compile(
    r"(?P<name>[^\W_]+)(?:_late)?_(?P<number>[0-9]{1,20})_(?P<order>[0-9]{1,20})_(?P<own>.+)", re.I | re.S
)
VERSION = re.compile(r"[-_ ]*\(?([0-9]{1,9})\)?\s*")  # after a notebook's own name: "-1", " (2)"
LESSON = re.compile(r"(?<!\d)\d\d[ _-][a-z]", re.IGNORECASE)
SHOWN = 120  # characters of a name in a message


@dataclass(frozen=True)
class Owner:
    """Whom the outermost name of a file names; `number` is the platform's for the person, "" where there is none."""

    kind: str  # "moodle", "canvas" or "folder"
    name: str
    number: str = ""

    def __str__(self) -> str:
        return printable(self.name) + (f" ({self.number})" if self.number else "")


@dataclass(frozen=True)
class Outermost:
    """What an outermost name tells: the owner, which of the owner's is later, and the name that the owner gave."""

    owner: Owner
    order: int
    own: str


def outermost(name: str, folder: bool) -> Outermost | None:
    """What the name of a file or folder at the top of a download tells; None where it does not tell whose it is."""
    if told := by_platform(name):
        return told
    return Outermost(Owner("folder", name), 0, "") if folder else None


def by_platform(name: str) -> Outermost | None:
    """What a name as Moodle or Canvas gives it tells."""
    if told := MOODLE.fullmatch(name):
        return Outermost(Owner("moodle", told["name"], told["number"]), 0, told["own"])
    if told := CANVAS.fullmatch(name):
        return Outermost(Owner("canvas", told["name"], told["number"]), int(told["order"]), told["own"])
    return None


class Meant(NamedTuple):
    """The notebook that a file's name means; whether it says so, how often it was copied, and its version."""

    notebook: str
    by_name: bool
    copies: int
    version: int


def which_notebook(stem: str, notebooks: list[str]) -> Meant | None:
    """What a name such as "Copy of 02_softmax (1)" means; None for no notebook of the lesson.

    Anything may stand before the notebook's name (Colab writes "Copy of" in many languages). A name that tells no
    lesson's is taken for the one notebook that there is; another lesson's is not.
    """
    plain = re.sub(r"[ _-]+", "_", unicodedata.normalize("NFC", stem)).lower()
    for notebook in sorted(notebooks, key=len, reverse=True):
        wanted = re.sub(r"[ _-]+", "_", notebook).lower()
        place = plain.rfind(wanted)
        if place >= 0:
            before, after = plain[:place], plain[place + len(wanted) :]
            version = VERSION.fullmatch(after)
            copies = len(re.findall(r"[^\W\d_]+", before))
            return Meant(notebook, True, copies, int(version[1]) if version else bool(after))
    if len(notebooks) == 1 and not LESSON.search(stem):
        return Meant(notebooks[0], False, 0, 0)
    return None


def slug(name: str) -> str:
    """A student's id from a name: letters, digits and single underscores; "" where it has neither letter nor digit."""
    return re.sub(r"[\W_]+", "_", unicodedata.normalize("NFC", name)).strip("_").lower()


def letters(name: str) -> str:
    """A name as Canvas writes it: letters and digits only, without accents."""
    plain = unicodedata.normalize("NFKD", name)
    return "".join(c for c in plain if c.isalnum()).lower()


def printable(text: str) -> str:
    """A stranger's text as one short line that neither a terminal nor a reader takes for anything else."""
    line = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[: SHOWN + 1])
    return line if len(line) <= SHOWN else line[: SHOWN - 1] + "…"
