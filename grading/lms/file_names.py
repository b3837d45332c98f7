"""What names that people gave tell: which notebook a file is; and ids and lines that are made of a stranger's text."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

VERSION = re.compile(r"[-_ ]*\(?([0-9]{1,9})\)?\s*")  # after a notebook's own name: "-1", " (2)"
LESSON = re.compile(r"(?<!\d)\d\d[ _-][a-z]", re.IGNORECASE)
# As Colab, Drive and file managers write it, in the languages that they are used in most
COPY = re.compile(
    "copy( of)?|kopie( von| van)?|copie( de)?|c[oó]pia (de|di)|kopia( pliku| av)?|kopi (av|dari)|копия|копія|kopyası|"
    "のコピー|副本|的副本|사본|bản sao( của)?"
)
SHOWN = 120  # characters of a name in a message


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


def without_copies(name: str) -> str:
    """The letters of a file's name that are left without "Copy of" and its like, by which a person may be told."""
    return "".join(c for c in COPY.sub("", unicodedata.normalize("NFC", name).lower()) if c.isalpha())


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
