"""Match file names to notebooks; make ids and lines from untrusted text."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

VERSION = re.compile(r"[-_ ]*\(?([0-9]{1,9})\)?\s*")  # after a notebook's own name: "-1", " (2)"
LESSON = re.compile(r"(?<!\d)\d\d[ _-][a-z]", re.IGNORECASE)
# "Copy of" as Colab, Drive and file managers write it, in the most frequent languages
COPY = re.compile(
    "copy( of)?|kopie( von| van)?|copie( de)?|c[oó]pia (de|di)|kopia( pliku| av)?|kopi (av|dari)|копия|копія|kopyası|"
    "のコピー|副本|的副本|사본|bản sao( của)?"
)
SHOWN = 120  # characters of a name in a message


class Meant(NamedTuple):
    """The meaning of a file name: notebook, whether it is named, copy count, version."""

    notebook: str
    by_name: bool
    copies: int
    version: int


def which_notebook(stem: str, notebooks: list[str]) -> Meant | None:
    """Interpret a name such as "Copy of 02_softmax (1)".

    Anything may precede the notebook's name (Colab writes "Copy of" in many languages). If the name contains no
    lesson's name, it means the only notebook, if there is just one. Returns None if it means no notebook of the lesson.
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
    """The letters of a file name without "Copy of" and the like.

    They may identify a person.
    """
    return "".join(c for c in COPY.sub("", unicodedata.normalize("NFC", name).lower()) if c.isalpha())


def slug(name: str) -> str:
    """Make a student id from a name: letters, digits, single underscores. May be ""."""
    return re.sub(r"[\W_]+", "_", unicodedata.normalize("NFC", name)).strip("_").lower()


def letters(name: str) -> str:
    """A name in Canvas's style: letters and digits only, without accents."""
    plain = unicodedata.normalize("NFKD", name)
    return "".join(c for c in plain if c.isalnum()).lower()


def printable(text: str) -> str:
    """Turn untrusted text into one short line that is safe in a terminal."""
    line = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[: SHOWN + 1])
    return line if len(line) <= SHOWN else line[: SHOWN - 1] + "…"
