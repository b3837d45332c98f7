"""Answers missing from the kernel: syntax errors and misspelled names.

Such an exercise would look unstarted. These functions find the reason in the student's cells without running them.
"""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Collection, Iterable

from course.which_counts import NOT_DEFINED, STILL_RAISES
from grading.grader.cell_code import MAX_PARSED, defines, parse, same_code
from grading.grader.source_analysis import DEFINITIONS
from grading.grader.verdict import ExerciseVerdict
from grading.safe_text import one_line

from .kernel.outputs import Stop, code_lines

MERGE = re.compile(r"(?:<{7}|={7}|>{7})(?: |$)")
MAGIC = re.compile(r"^[%!].*$", re.MULTILINE)
MAX_REASON = 200  # characters of an exception's text
SHOWN = 80  # characters of a quoted line
# Syntax, and the Python that first has it: PEP 695, 701 (a replacement field over several lines), 758, 750 and 810
NEWER = {
    re.compile(r"^[ \t]*type [^\W\d]\w*[ \t]*[\[=]"): (3, 12),
    re.compile(r"^[ \t]*(?:async def|def|class) [^\W\d]\w*[ \t]*\["): (3, 12),
    re.compile(r"\b[rR]?[fF][rR]?[\"'][^\"'{]*\{[^}\"']*$"): (3, 12),
    re.compile(r"^[ \t]*except\*? [^\s,()]+,"): (3, 14),
    re.compile(r"(?<![\w\"'])(?:[tT][rR]?|[rR][tT])[\"']"): (3, 14),
    re.compile(r"^lazy (?:import|from) "): (3, 15),
}


def explain_syntax_error(cells: Iterable[str], name: str) -> str:
    """Why the last cell that defines `name` did not run; "" if it can be parsed."""
    cell = next((cell for cell in reversed(list(cells)) if defines(cell, name)), "")
    if not cell or parse(cell) is not None:
        return ""
    why = f"Python cannot read the cell with `{name}`, so nothing in it ran."
    error = _syntax_error(cell)
    if error is None or not error.lineno:
        return why
    lines = code_lines(cell)
    line = lines[error.lineno - 1].strip() if error.lineno <= len(lines) else ""
    mark = next((line for line in lines if MERGE.match(line)), "")
    if mark:
        number = lines.index(mark) + 1
        return f"{why} Line {number} has the mark of an unresolved merge (`{mark[:7]}`): keep one of the two versions."
    text = one_line(error.msg or "invalid syntax")
    if "(U+" in text or " U+" in text:
        text += " (a character of a web page or a word processor: delete it and type the character that was meant)"
    return f"{why} Line {error.lineno}, `{_quote(line)}`: {text}."


def explain_full_cell(cell: str, stub: str, name: str) -> str:
    """Why nothing in an answer's cell is judged although something was written there; "" for an unchanged one."""
    tree = parse(cell)
    if (tree is not None and not tree.body) or same_code(cell, stub):
        return ""
    return (STILL_RAISES if defines(cell, name) else NOT_DEFINED).format(name)


def explain_newer_syntax(cells: Iterable[str], name: str) -> str:
    """Say which newer Python the cell that defines `name` seems to need; "" if none.

    A person has to look, because this Python cannot distinguish newer syntax from a mistake.
    """
    cell = next((cell for cell in reversed(list(cells)) if defines(cell, name)), "")
    error = _syntax_error(cell) if cell and parse(cell) is None else None
    lines = code_lines(cell)
    if error is None or not 1 <= (error.lineno or 0) <= len(lines):
        return ""
    line = lines[(error.lineno or 1) - 1]
    version = (3, 12) if (error.msg or "").startswith("f-string") else (0, 0)
    version = max([version, *(since for pattern, since in NEWER.items() if pattern.search(line))])
    if version <= sys.version_info[:2]:
        return ""
    written, here = (".".join(map(str, number)) for number in (version, sys.version_info[:2]))
    return (
        f"line {error.lineno} of the cell with `{name}`, `{_quote(line)}`, looks like syntax of Python {written}; "
        f"the grader runs Python {here}, which cannot read it"
    )


def explain_stop(name: str, code: str, stop: Stop) -> str:
    """Say at which line a cell that the answer needs stopped in the grader, and why."""
    lines = code_lines(code)
    line = lines[stop.line - 1].strip() if 0 < stop.line <= len(lines) else ""
    where = f"stopped in the grader at its line {stop.line}, `{_quote(line)}`" if line else "stopped in the grader"
    why = one_line(stop.why)[:MAX_REASON].rstrip(". :")  # `AssertionError: ` has no text
    return f"A cell that `{name}` needs {where}: {why}. Only its imports and definitions were used."


def _quote(line: str) -> str:
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
    except Exception:  # most likely nested too deeply: there is no line to quote
        return None
    return None


def find_misnamed_answer(cells: Iterable[str], name: str, others: Collection[str]) -> str:
    """The only definition that equals `name` but for case and underscores, or "".

    others: names of the other exercises, which are taken. Imports do not count.
    """
    statements = (statement for tree in filter(None, map(parse, cells)) for statement in tree.body)
    defined = {statement.name for statement in statements if isinstance(statement, DEFINITIONS)}
    matches = {own for own in defined if _normalize(own) == _normalize(name)} - {name, *others}
    return matches.pop() if len(matches) == 1 else ""


def _normalize(name: str) -> str:
    return name.replace("_", "").lower()


def unreadable_verdict(verdict: ExerciseVerdict, why: str) -> ExerciseVerdict:
    """Set the verdict on an answer that could not be parsed."""
    verdict.status, verdict.explanation = "wrong", why
    for criterion in verdict.criteria:
        criterion.status = criterion.stage = "not reached"
        criterion.case = criterion.finding = ""
    return verdict
