"""Which answers say the same, so that a person grades them once.

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
# not in 1.5, x[1:2], A.T, n!; a run is tried once, at its start, so that it costs its length and not the square
SENTENCE_MARKS = re.compile(r"(?<![.,;:?…!])(?:[.,;:?…]|(?<=[^\W\d_]{2})!)[.,;:?…!]*+(?=\s|[)\]]|$)")
DASHES = str.maketrans("‐‑‒–—−", "------")
SPACE = re.compile(r"\s+")


def normalised(text: str, *, code: bool = False) -> str:
    """The text without what does not count; "" if nothing is left. Linear in its length.

    code  only spaces at ends of lines and empty lines do not count
    """
    if code:
        return "\n".join(line.rstrip() for line in text.splitlines() if line.strip())
    text = LINE_MARKS.sub("", unicodedata.normalize("NFC", text).translate(DASHES))  # NFKC would make x² and x2 one
    for pattern in (EMPHASIS, QUOTES, SENTENCE_MARKS):
        text = pattern.sub("", text)
    return SPACE.sub(" ", text).strip().casefold()
