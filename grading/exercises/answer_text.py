"""Answers to an exercise as source text, and edits that turn one into another.

Does not cover: what an answer must do (`exercise.py`), how an answer is graded (`grading/grader/grade_exercise.py`).
"""

from __future__ import annotations

import linecache
import math
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch

from ..errors import EditError

CELL = re.compile(r"^# %% (.+)$", re.MULTILINE)
# Modules that every answer may use without importing them
GIVEN = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "math": math}
IMPORTS = {
    "torch": "import torch",
    "nn": "from torch import nn",
    "F": "import torch.nn.functional as F",
    "math": "import math",
}


@dataclass(eq=False)
class Answer:
    """One answer.

    exercise_name  the exercise's name, which the text must define
    name           what authors and reports call the answer
    code           the whole text; it imports everything itself except torch, nn, F and math
    """

    exercise_name: str
    name: str
    code: str

    def load(self) -> Any:
        """Run the text and return the function or class it defines, a new one each time.

        Raises ValueError if the text does not define it.
        """
        names = self.exec_in(dict(GIVEN))
        if self.exercise_name not in names:
            raise ValueError(f"answer {self.name} does not define {self.exercise_name}")
        return names[self.exercise_name]

    @property
    def cell(self) -> str:
        """The text as a student hands it in, with the imports that answers may omit."""
        used = [line for name, line in IMPORTS.items() if re.search(rf"\b{name}\b", self.code)]
        return "\n".join([*used, "", self.code]) if used else self.code

    def exec_in(self, names: dict[str, Any]) -> dict[str, Any]:
        """Run the text in `names`, as a notebook runs a cell; returns `names`."""
        file = f"<{self.exercise_name}: {self.name}>"
        # Tracebacks show the line that raised, as they do in a notebook
        linecache.cache[file] = (len(self.code), None, self.code.splitlines(keepends=True), file)
        names.setdefault("__name__", "answer")
        exec(compile(self.code, file, "exec", dont_inherit=True), names)  # noqa: S102 - the course's own text
        return names


def read_cells(path: Path) -> dict[str, str]:
    """Read the cells of a py:percent file (`# %% title`, then code), by title."""
    parts = CELL.split(path.read_text(encoding="utf-8"))
    return {title.strip(): code.strip("\n") for title, code in zip(parts[1::2], parts[2::2], strict=True)}


def apply_edits(code: str, edit: Mapping[str, str]) -> str:
    """`code` with every key of `edit` replaced by its value; each key must be in `code` exactly once.

    Raises EditError.
    """
    spans = []
    for old, new in edit.items():
        if not old or (count := code.count(old)) != 1:
            raise EditError(f"expected {old!r} once in the text, got it {(count if old else 0)} times:\n{code}")
        spans.append((code.index(old), code.index(old) + len(old), new))
    return _replaced(code, spans)


def apply_patch(code: str, patch: str) -> str:
    """Apply a patch of whole lines to `code`.

    What is gone and kept in a hunk must be in `code` together exactly once, in any indentation; new lines get that
    indentation. Raises EditError.
    """
    spans = []
    for hunk in re.split(r"^@@\n", patch.strip("\n") + "\n", flags=re.MULTILINE):
        lines = hunk.splitlines()
        if wrong := [line for line in lines if line and line[:2].rstrip() not in ("-", "+", "")]:
            raise EditError(f"a line of a patch must begin with '- ', '+ ' or two spaces, got {wrong[0]!r}")
        old, new = ([line[2:] for line in lines if line[:1] != other] for other in "+-")
        if not old:
            raise EditError(f"a hunk with only new lines has no position; add an unchanged line beside them: {new}")
        spans.append(_line_span(code, old, new))
    return _replaced(code, spans)


def fill_placeholder(code: str, word: str, value: object) -> str:
    """Replace the placeholder `word` in `code`: by `value` if it is text, else by its repr.

    Raises EditError if the placeholder does not occur, or is not in capitals.
    """
    places = re.compile(rf"\b{re.escape(word)}\b")
    if not word.isupper() or not places.search(code):
        raise EditError(f"expected a word in capitals that is in the text, got {word!r}:\n{code}")
    return places.sub(lambda _: value if isinstance(value, str) else repr(value), code)


def _line_span(code: str, old: list[str], new: list[str]) -> tuple[int, int, str]:
    lines, found = code.splitlines(keepends=True), []
    for first in range(len(lines) - len(old) + 1):
        here = [line.rstrip("\n") for line in lines[first : first + len(old)]]
        indent = here[0][: len(here[0]) - len(here[0].lstrip())]
        if here == _indented(old, indent):
            found.append((first, indent))
    if len(found) != 1:
        text = "\n".join(old)
        raise EditError(f"expected these lines once in the text, got them {len(found)} times:\n{text}\n--\n{code}")
    first, indent = found[0]
    start = sum(map(len, lines[:first]))
    end = start + sum(map(len, lines[first : first + len(old)]))
    written = "".join(f"{line}\n" for line in _indented(new, indent))
    return start, end, written if code[end - 1] == "\n" else written.removesuffix("\n")


def _indented(lines: list[str], indent: str) -> list[str]:
    return [indent + line if line.strip() else "" for line in lines]


def _replaced(code: str, spans: list[tuple[int, int, str]]) -> str:
    spans = sorted(spans)
    for (_, end, _), (start, _, _) in pairwise(spans):
        if start < end:
            raise EditError(f"two edits overlap at {code[start:end]!r}")
    for start, end, text in reversed(spans):
        code = code[:start] + text + code[end:]
    return code


def block(text: str) -> str:
    """Strip indentation and surrounding empty lines from a text in triple quotes."""
    return textwrap.dedent(text).strip("\n")
