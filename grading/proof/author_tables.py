"""The tables in docs/exercise-reference.md: names that authors use, arguments, first paragraphs of docstrings.

A table is between `<!-- generated: NAME -->` and `<!-- end -->`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from pathlib import Path

from course.checkers import CHECKERS
from course.harness.helpers import HELPERS

from ..exercises import exercise

PAGE = Path("docs") / "exercise-reference.md"


def tables() -> dict[str, str]:
    """All tables by name, as Markdown."""
    public = {name: getattr(exercise, name) for name in exercise.__all__ if name != "EXERCISE"}
    return {
        "case": _table(_methods(exercise.Case)),
        "draw": _table(_methods(exercise.Draw)),
        "exercise": _table(public),
        "helpers": _table(HELPERS),
        "properties": _table(CHECKERS),
    }


def filled_in(text: str, generated: Mapping[str, str]) -> str:
    """Fill the generated tables into a page. Raises LookupError if one has no markers."""
    for name, content in generated.items():
        marked = re.compile(rf"(<!-- generated: {re.escape(name)} -->\n).*?(<!-- end -->)", re.DOTALL)
        if not marked.search(text):
            raise LookupError(f"no `<!-- generated: {name} -->` with an `<!-- end -->`")
        text = marked.sub(lambda found, content=content: f"{found[1]}{content}\n{found[2]}", text)  # type: ignore[misc]
    return text


def stale(root: Path) -> list[str]:
    """The tables that do not match the code, one line per table."""
    path = root / PAGE
    if not path.is_file():
        return []
    text = path.read_text(encoding="utf-8")
    wrong = [name for name, table in tables().items() if filled_in(text, {name: table}) != text]
    return [f"{PAGE.as_posix()}: out of date: the table {name!r}. Run `grading sync`." for name in wrong]


def write(root: Path) -> None:
    """Write the tables into the course's page for authors, if it has one."""
    path = root / PAGE
    if path.is_file() and stale(root):
        path.write_text(filled_in(path.read_text(encoding="utf-8"), tables()), encoding="utf-8")


def _methods(kind: type) -> dict[str, object]:
    return {name: value for name, value in vars(kind).items() if inspect.isfunction(value) and name[0] != "_"}


def _table(named: Mapping[str, object]) -> str:
    rows = ["| | |", "|---|---|"]
    for name, value in named.items():
        text = " ".join((inspect.getdoc(value) or "").partition("\n\n")[0].split())
        rows.append(f"| `{name}{'' if inspect.isclass(value) else _arguments(value)}` | {text} |")
    return "\n".join(rows)


def _arguments(function: object) -> str:
    """A signature without annotations, `self` and the arguments of every checker."""
    assert callable(function)
    signature = inspect.signature(function)
    kept = [
        p.replace(annotation=p.empty) for p in signature.parameters.values() if p.name not in ("self", "seen", "exact")
    ]
    text = str(signature.replace(parameters=kept, return_annotation=signature.empty))
    return text.replace("torch.float32", "float32")
