"""Decide which answers are equivalent, so that a person grades them once.

Answers are alike if their texts are equal but for case, spaces, marks of Markdown, and punctuation that ends or
separates sentences. Anything that may carry meaning stays: brackets, operators, signs, a point between digits. A missed
likeness costs a key; a false one would give one student the points of another.
"""

from __future__ import annotations

import re
import unicodedata

LINE_MARKS = re.compile(r"^[ \t]*(?:#{1,6}|[-*+])[ \t]+(?=[^\W\d_]{2})", re.MULTILINE)  # "- x" may be a minus
EMPHASIS = re.compile(r"(?<!\w)(?:\*{1,3}|~~)(?=\w)|(?<=\w)(?:\*{1,3}|~~)(?!\w)|`+")
QUOTES = re.compile(r"[\"“”„‟«»‹›‘‚]|['’](?=\w)")  # not the prime of f'
# Not in 1.5, x[1:2], A.T, n!. Tries each run only at its start, so that the time is linear in its length
SENTENCE_MARKS = re.compile(r"(?<![.,;:?…!])(?:[.,;:?…]|(?<=[^\W\d_]{2})!)[.,;:?…!]*+(?=\s|[)\]]|$)")
DASHES = str.maketrans("‐‑‒–—−", "------")
SPACE = re.compile(r"\s+")


def normalised(text: str, *, code: bool = False) -> str:
    """Remove everything that does not count from a text; "" if nothing is left.

    `code`: ignore only spaces at line ends and empty lines. Takes time linear in the length.
    """
    if code:
        return "\n".join(line.rstrip() for line in text.splitlines() if line.strip())
    text = LINE_MARKS.sub("", unicodedata.normalize("NFC", text).translate(DASHES))  # NFKC would make x² equal to x2
    for pattern in (EMPHASIS, QUOTES, SENTENCE_MARKS):
        text = pattern.sub("", text)
    return SPACE.sub(" ", text).strip().casefold()
