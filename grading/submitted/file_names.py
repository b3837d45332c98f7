"""Make ids and lines from untrusted names. Which notebook a name means is in `course.which_counts`."""

from __future__ import annotations

import re
import unicodedata

# "Copy of" as Colab, Drive and file managers write it, in the most frequent languages
COPY = re.compile(
    "copy( of)?|kopie( von| van)?|copie( de)?|c[oó]pia (de|di)|kopia( pliku| av)?|kopi (av|dari)|копия|копія|kopyası|"
    "のコピー|副本|的副本|사본|bản sao( của)?"
)
SHOWN = 120  # characters of a name in a message


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
