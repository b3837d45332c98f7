"""Sentences of a report: general ones for each stage of the comparison, and taking texts apart.

Reports of `check` and of a grade use the same sentences.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

GENERAL = {
    "message": "the error message does not name the wrong argument and its value or shape",
    "structure": "the result does not have the structure that the exercise asks for",
    "type": "the result has the wrong type",
    "shape": "the result has the wrong shape",
    "dtype": "the result has the wrong dtype",
    "device": "the result is on the wrong device",
    "finite": "the result has NaN or infinite values",
    "values": "the result has wrong values",
    "gradient": "a gradient is missing or wrong",
    "unchanged": "the call changed an argument in place",
}
STEP_STAYS = "The grade puts nothing in place of an exercise without points."
PHRASES = ("structure", "type", "shape", "dtype")  # their findings say "expected …, got …" and are no sentences


def general(stage: str) -> str:
    """The sentence of a stage, without capital and period."""
    return GENERAL.get(stage, "the result is wrong")


def as_sentence(text: str) -> str:
    """Begin with a capital and end with a period."""
    return f"{text[:1].upper()}{text[1:]}{'' if text[-1:] in '.!?' else '.'}"


def split_sentence(text: str) -> tuple[str, str]:
    """The first sentence of a text, and the rest of it."""
    for end in re.finditer(r"[.!?][)”\"]?\s+(?=[A-Z`(“\"*])", text):
        first = text[: end.end()].rstrip()
        if first.count("`") % 2 == 0 and not re.search(r"\b(e\.g|i\.e|vs|cf)\.$", first):
            return first, text[end.end() :]
    return text, ""


def does_not_allow(names: Sequence[str]) -> str:
    """The sentence on forbidden functions. names: those that may be shown."""
    used = listed(names) if names else "a function that your code calls"
    return f"This exercise does not allow {used}. Write it yourself."


def listed(names: Sequence[str]) -> str:
    """The names, at least one, as a list in a sentence: "`a`, `b` and `c`"."""
    *first, last = (f"`{name}`" for name in names)
    return f"{', '.join(first)} and {last}" if first else last


def possibly(text: str) -> str:
    """A sentence that may be true."""
    return _after("Possibly", text)


def also(text: str) -> str:
    """A sentence that is true, but about a part of what is wrong."""
    return _after("Also", text)


def _after(word: str, text: str) -> str:
    small = re.match(r"(?:You|Your|The|A|An|No|It|Its|This|That|Each|Every|In|With|Without)\b", text)
    return f"{word}: {text[:1].lower() if small else text[:1]}{text[1:]}"


def fill_groups(text: str, found: re.Match[str]) -> str:
    """The text with the groups of a match in place of {1}, {2}; after a bar comes what to say of an empty group.

    Names in quotation marks become code.
    """

    def group(part: re.Match[str]) -> str:
        return re.sub(r"""["'](\w+)["']""", r"`\1`", found[int(part[1])] or part[2])

    return re.sub(r"\{(\d)(?:\|([^}]*))?\}", group, text)


def numbered(texts: Sequence[str], form: str = "({}) ") -> str:
    """Texts in a row, with numbers; empty ones are left out."""
    return " ".join(f"{form.format(number)}{text}" for number, text in enumerate(texts, 1) if text)
