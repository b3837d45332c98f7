"""The regular expressions of a package, how each is used, and texts that take them longest."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from re import _constants as codes  # type: ignore[attr-defined]  # there is no public parser of patterns
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

from .repository import ROOT

METHODS = ("search", "match", "fullmatch", "sub", "split", "findall", "finditer")
WHOLE = {"match", "fullmatch"}  # begin at one place only
ENDS = ("", "\x01", "\nx")


def patterns_of(package: str) -> Iterator[tuple[str, re.Pattern[str], set[str]]]:
    """Name, pattern and methods of each constant pattern, and of each call of `re` with a literal one."""
    for file in sorted((ROOT / package).rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        place = str(file.relative_to(ROOT))
        module = importlib.import_module(place.removesuffix(".py").replace("/", "."))
        used = _methods_of_names(tree)
        by_others = set().union(*(methods for name, methods in used.items() if name.islower() and name != "re"))
        for name, value in vars(module).items():
            if isinstance(value, re.Pattern) and isinstance(value.pattern, str) and name in _assigned(tree):
                yield f"{place}:{name}", value, used.get(name) or by_others or set(METHODS)
        for call in ast.walk(tree):
            match call:
                case ast.Call(ast.Attribute(ast.Name("re"), method), [ast.Constant(str(text)), *_]) if (
                    method in METHODS
                ):
                    flags = re.MULTILINE if "re.M" in ast.unparse(call) else 0
                    yield f"{place}:{call.lineno}", re.compile(text, flags), {method}


def _methods_of_names(tree: ast.Module) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in METHODS:
            found.setdefault(node.value.id, set()).add(node.attr)
    return found


def _assigned(tree: ast.Module) -> set[str]:
    targets = (target for node in tree.body if isinstance(node, ast.Assign) for target in node.targets)
    return {target.id for target in targets if isinstance(target, ast.Name)}


def longest_texts(pattern: re.Pattern[str], length: int) -> Iterator[str]:
    """Texts of about this length: what the pattern looks for, repeated, behind a beginning and before a wrong end."""
    characters, words = _literals(pattern)
    units = sorted(characters | words | {" ", "\n", "a", "0"}, key=len)[:14]
    for begin in ["", *sorted(words)[:4]]:
        for unit in units:
            for end in ENDS:
                yield begin + unit * (length // len(unit)) + end
    for first in units[:7]:
        for second in units[:7]:
            if first != second:
                yield (first + second) * (length // len(first + second)) + "\x01"


def _literals(pattern: re.Pattern[str]) -> tuple[set[str], set[str]]:
    """Single characters, and words, in a pattern."""
    characters: set[str] = set()
    words: set[str] = set()

    def look(part: Any) -> None:
        word = ""
        for code, value in part:
            if code in (codes.LITERAL, codes.NOT_LITERAL):
                characters.add(chr(value))
                word += chr(value)
                continue
            words.update([word] if word else [])
            word = ""
            if code is codes.IN:
                characters.update(chr(v) for c, v in value if c is codes.LITERAL)
                characters.update(chr(v[0]) for c, v in value if c is codes.RANGE)
            elif code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
                look(value[2])
            elif code is codes.SUBPATTERN:
                look(value[3])
            elif code is codes.BRANCH:
                for branch in value[1]:
                    look(branch)
            elif code in (codes.ASSERT, codes.ASSERT_NOT):
                look(value[1])
        words.update([word] if word else [])

    look(parser.parse(pattern.pattern, pattern.flags))
    return characters, words
