"""Answers that the kernel does not have under their name: code that cannot be read, and names written otherwise.

Such an exercise would seem not to be started. What stands here reads the student's cells, runs nothing, and says why.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Collection, Iterable

from grading.grader.cell_code import MAX_PARSED, defines, parse
from grading.grader.source_analysis import DEFINITIONS
from grading.grader.verdict import ExerciseVerdict

from ..notebooks.submitted_file import one_line

MERGE = re.compile(r"(?:<{7}|={7}|>{7})(?: |$)")
MAGIC = re.compile(r"^[%!].*$", re.MULTILINE)
SHOWN = 80  # characters of a line


def explain_syntax_error(cells: Iterable[str], name: str) -> str:
    """Why nothing of the last cell that would define `name` ran, with the line, in words; "" where it can be read."""
    cell = next((cell for cell in reversed(list(cells)) if defines(cell, name)), "")
    if not cell or parse(cell) is not None:
        return ""
    why = f"Python cannot read the cell with `{name}`, so nothing in it ran."
    error = _syntax_error(cell)
    if error is None or not error.lineno:
        return why
    lines = cell.splitlines()
    line = lines[error.lineno - 1].strip() if error.lineno <= len(lines) else ""
    marked = next((line for line in lines if MERGE.match(line)), "")
    if marked:
        number = lines.index(marked) + 1
        return (
            f"{why} Line {number} has the mark of an unresolved merge (`{marked[:7]}`): keep one of the two versions."
        )
    said = one_line(error.msg or "invalid syntax")
    if "U+00A0" in said:
        said += " (a non-breaking space, as pages have it from which code is copied: type the spaces of this line anew)"
    return f"{why} Line {error.lineno}, `{_shown(line)}`: {said}."


def _shown(line: str) -> str:
    line = one_line(line).replace("`", "'")
    return line if len(line) <= SHOWN else line[: SHOWN - 1] + "…"


def _syntax_error(cell: str) -> SyntaxError | None:
    if len(cell) > MAX_PARSED:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(MAGIC.sub("pass", cell))
    except SyntaxError as error:
        return error
    except Exception:  # nested too deeply, most likely: there is no line to tell
        return None
    return None


def find_misnamed_answer(cells: Iterable[str], name: str, others: Collection[str]) -> str:
    """The one function or class that is defined under `name` but for capitals and underscores; "" where none is.

    others: names that are taken, those of the other exercises. What is imported is nobody's answer.
    """
    statements = (statement for tree in filter(None, map(parse, cells)) for statement in tree.body)
    defined = {statement.name for statement in statements if isinstance(statement, DEFINITIONS)}
    alike = {own for own in defined if _bare(own) == _bare(name)} - {name, *others}
    return alike.pop() if len(alike) == 1 else ""


def _bare(name: str) -> str:
    return name.replace("_", "").lower()


def unreadable_verdict(verdict: ExerciseVerdict, why: str) -> ExerciseVerdict:
    """The verdict on an answer that could not be read."""
    verdict.status, verdict.explanation = "wrong", why
    for criterion in verdict.criteria:
        criterion.status, criterion.case, criterion.finding = "not reached", "", ""
    return verdict
