"""Families: ideas that go wrong in many exercises, each described once.

A family has an id, a sentence, and, where any right answer can be turned into the mistake, the function that does it.
The ideas are in `grader_tests/shared/families/`; the functions here turn the text of one answer into another.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeGuard

from ..errors import EditError
from .answer_text import block

Make = Callable[[str, str], str]
"""The mistake's text, made of a right answer's text and the exercise's name."""


@dataclass(frozen=True, eq=False)
class Family:
    """One idea; `right.mistake(family, ...)` adds it to an exercise, and `family("a_name", what="x")` adapts it.

    id     what class reports count by, such as "gradient-cut"
    name   the mistake's name, where the exercise gives no other
    text   for the learner, as in `Mistake.feedback`; words in braces are those of `words`
    make   turns a right answer's text into the mistake's; None: the exercise supplies the edit
    see    heading of the lesson where to look, if not the exercise's
    words  what stands for the words in braces, unless the exercise gives others
    """

    id: str
    name: str
    text: str
    make: Make | None = None
    see: str = ""
    words: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, name: str = "", *, see: str = "", **words: str) -> Family:
        """The same idea under another name, with another heading or other words."""
        return replace(self, name=name or self.name, see=see or self.see, words={**self.words, **words})

    def made_by(self, make: Make) -> Family:
        """The same idea, made of any right answer by `make`."""
        return replace(self, make=make)

    @property
    def sentence(self) -> str:
        """The text with its words. Raises KeyError where a word in braces has none."""
        return self.text.format(**self.words)


def wrapped(body: str) -> Make:
    """A function of the exercise's name around the right one: `body` may call `right(*args, **kwargs)`."""

    def make(code: str, name: str) -> str:
        lines = "\n".join(f"    {line}" if line else "" for line in block(body).splitlines())
        return f"{code.rstrip()}\n\n\nright = {name}\n\n\ndef {name}(*args, **kwargs):\n{lines}\n"

    return make


def changed_checks(change: Callable[[str, str], str], about: str = "") -> Make:
    """The answer with every `if …: raise ValueError(…)` replaced by `change(condition, message)`; "" leaves it out.

    about  only those whose condition has this text. Raises EditError where there is none.
    """

    def make(code: str, name: str) -> str:
        lines = code.splitlines()
        found = [node for node in ast.walk(ast.parse(code)) if _is_check(node) and about in ast.unparse(node.test)]
        if not found:
            raise EditError(f"no check of {about or 'an argument'} raises ValueError in the text:\n{code}")
        for node in sorted(found, key=lambda node: -node.lineno):
            message = ast.unparse(node.body[0]).removeprefix("raise ValueError(").removesuffix(")")
            new = change(ast.unparse(node.test), message)
            lines[node.lineno - 1 : node.end_lineno] = [" " * node.col_offset + line for line in new.splitlines()]
        return "\n".join(lines)

    return make


def _is_check(node: ast.AST) -> TypeGuard[ast.If]:
    if not isinstance(node, ast.If) or node.orelse or len(node.body) != 1:
        return False
    return ast.unparse(node.body[0]).startswith("raise ValueError(")
