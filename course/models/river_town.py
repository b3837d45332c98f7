"""Stories of a river town: the text of the small language model.

Words and templates are in `text/river_town.toml`. People and things are drawn once per story and come back in it, so
that a model gains by looking back. The same seed always gives the same text.
"""

from __future__ import annotations

import random
import re
import tomllib
from functools import cache
from importlib.resources import files

INNERMOST = re.compile(r"\[([^\[\]]*)\]")
SLOT = re.compile(r"\{(?:@(?P<one_of>[\w,]+)|(?P<slot>\w+)(?::(?P<kind>\w+))?(?:\.(?P<field>\w+))?)\}|<(?P<fresh>\w+)>")
DECLARED = re.compile(r"\{(\w+):(\w+)")
SAYING = "asked|called|cried|said|laughed|whispered|counted"
SENTENCE = re.compile(rf'(^"?|\. "?|[!?] "?|[.!?]" ?"?(?!(?:\w+ ){{0,2}}(?:{SAYING})\b)|: ")([a-z])')
OPTIONAL = "? "


def generate_stories(words: int, seed: int = 0) -> str:
    """Generate whole stories, a paragraph each, of at least this many words in all.

    A longer text with the same seed begins with the shorter one.
    """
    draw, stories, length = random.Random(seed), list[str](), 0
    while length < words:
        stories.append(_story(draw))
        length += stories[-1].count(" ") + 1
    return "\n".join(stories)


def double_meanings() -> dict[str, dict[tuple[str, ...], list[str]]]:
    """Words with two meanings: for each meaning, what may follow the word, and the clues that decide for it."""
    found: dict[str, dict[tuple[str, ...], list[str]]] = {}
    for clue in _entries("clue"):
        follow = clue["did"], clue["did2"], clue["did3"]
        found.setdefault(clue["word"], {}).setdefault(follow, []).append(clue["name"])
    return found


def _story(draw: random.Random) -> str:
    template = draw.choice(_town()["text"]["stories"])
    kinds = dict(DECLARED.findall(template))
    lines = template.strip().splitlines()
    kept = [line.removeprefix(OPTIONAL) for line in lines if not line.startswith(OPTIONAL) or draw.random() < 0.6]
    text = " ".join(kept)
    while INNERMOST.search(text):
        text = INNERMOST.sub(lambda match: draw.choice(match[1].split("|")), text)
    bound: dict[str, dict[str, str]] = {}

    def fill(match: re.Match[str]) -> str:
        if match["fresh"]:
            return draw.choice(_entries(match["fresh"]))["name"]
        if match["one_of"]:
            return bound[draw.choice(match["one_of"].split(","))]["name"]
        slot, taken = match["slot"], [entry["name"] for entry in bound.values()]
        if slot not in bound:
            bound[slot] = draw.choice([e for e in _entries(match["kind"] or kinds[slot]) if e["name"] not in taken])
        return bound[slot][match["field"] or "name"]

    return _tidied(SLOT.sub(fill, text))


def capitalized(text: str) -> str:
    """A text with capitals where sentences begin, but not in "asked Tom" after a question."""
    return SENTENCE.sub(lambda match: match[1] + match[2].upper(), text)


def _tidied(text: str) -> str:
    """A story with single spaces, "an" before vowels, and capitals where sentences begin."""
    text = re.sub(r"\b([Aa])(?= [aeiou])", r"\1n", " ".join(text.split()))
    return capitalized(re.sub(r" ([.,!?:])", r"\1", text))


@cache
def _entries(kind: str) -> list[dict[str, str]]:
    names = ["name", *_town()["fields"].get(kind, [])]
    return [dict(zip(names, entry.split("/"), strict=True)) for entry in _town()["kinds"][kind]]


@cache
def _town() -> dict[str, dict[str, list[str]]]:
    return tomllib.loads(files("course").joinpath("text/river_town.toml").read_text(encoding="utf-8"))
