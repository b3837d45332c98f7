"""Families: mistakes that many exercises share, each described once.

A family has an id, a sentence and, if any correct answer can be turned into the mistake, the function that does so.
The families are in `grader_tests/shared/families/`; the functions here turn the text of one answer into another.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeGuard

from ..errors import EditError
from .answer_text import block

Make = Callable[[str, str], str]
"""Makes the mistake's text from a correct answer's text and the exercise's name."""


@dataclass(frozen=True, eq=False)
class Family:
    """One mistake that many exercises share.

    `right.mistake(family, ...)` adds it to an exercise; `family("a_name", what="x")` adapts it first.

    id     its key in class reports, such as "gradient-cut"
    name   the mistake's name, unless the exercise sets another
    text   for the learner, as in `Mistake.feedback`, with placeholders in braces
    make   turns a correct answer's text into the mistake's; None: the exercise supplies the edit
    see    heading of the lesson to read, if not the exercise's
    words  values of the placeholders, unless the exercise sets others
    """

    id: str
    name: str
    text: str
    make: Make | None = None
    see: str = ""
    words: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, name: str = "", *, see: str = "", **words: str) -> Family:
        """The same family with another name, heading or placeholder values."""
        return replace(self, name=name or self.name, see=see or self.see, words={**self.words, **words})

    def made_by(self, make: Make) -> Family:
        """The same family, derived from any correct answer by `make`."""
        return replace(self, make=make)

    @property
    def sentence(self) -> str:
        """The text with its placeholders filled in. Raises KeyError if one has no value."""
        return self.text.format(**self.words)


def wrapped(body: str) -> Make:
    """Wrap the correct answer in a function whose body may call `right(*args, **kwargs)`."""

    def make(code: str, name: str) -> str:
        lines = "\n".join(f"    {line}" if line else "" for line in block(body).splitlines())
        return f"{code.rstrip()}\n\n\nright = {name}\n\n\ndef {name}(*args, **kwargs):\n{lines}\n"

    return make


def changed_checks(change: Callable[[str, str], str], about: str = "") -> Make:
    """Replace every `if …: raise ValueError(…)` by `change(condition, message)`.

    An empty replacement removes the check. about: only checks whose condition contains this text.
    Raises EditError if there is none.
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
