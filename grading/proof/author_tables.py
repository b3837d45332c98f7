"""Generated parts of pages: the names that authors use, and the minutes of the lessons.

A part is between `<!-- generated: NAME -->` and `<!-- end -->`. Names have their arguments and the first paragraphs of
their docstrings; minutes are those that each lesson states.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from pathlib import Path

from course.checkers import CHECKERS
from course.harness.helpers import HELPERS
from course.outline import counts

from ..authoring.build import assignment
from ..authoring.effort import Effort, effort_of
from ..course_dir.lessons import list_lessons
from ..exercises import exercise

REFERENCE, ROAD, README = Path("docs") / "exercise-reference.md", Path("docs") / "course.md", Path("README.md")
CORE = ("00", "08")  # the first and the last lesson of the core


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


def generated(root: Path) -> dict[Path, dict[str, str]]:
    """The generated parts of each page, in a checkout; a course of one's own has none."""
    pages = {REFERENCE: tables()} if (root / REFERENCE).is_file() else {}
    if (root / ROAD).is_file():
        efforts = {name: effort_of(assignment(root, name)) for name in list_lessons(root)}
        pages |= {ROAD: {"minutes": minutes(efforts)}, README: {"hours": hours(efforts)}}
    return pages


def stale(root: Path) -> list[str]:
    """The generated parts that do not match the code or the lessons, one line per part."""
    wrong = []
    for page, parts in generated(root).items():
        text = (root / page).read_text(encoding="utf-8")
        wrong += [(page, name) for name, part in parts.items() if filled_in(text, {name: part}) != text]
    return [f"{page.as_posix()}: out of date: {name!r}. Run `grading sync`." for page, name in wrong]


def write(root: Path) -> None:
    """Write the generated parts into their pages."""
    for page, parts in generated(root).items():
        text = (root / page).read_text(encoding="utf-8")
        if (new := filled_in(text, parts)) != text:
            (root / page).write_text(new, encoding="utf-8")


def minutes(efforts: Mapping[str, Effort]) -> str:
    """The minutes of each lesson as a table, and the hours of the core."""
    rows = [f"| {name[:2]} | {one.core_minutes} | {one.all_minutes} |" for name, one in efforts.items()]
    core = [one for name, one in efforts.items() if CORE[0] <= name[:2] <= CORE[1]]
    short, long = (_hours(sum(each)) for each in ([e.core_minutes for e in core], [e.all_minutes for e in core]))
    total = f"| {CORE[0]} to {CORE[1]} together | {short} | {long} |"
    return "\n".join(["| lesson | minutes | with the parts marked *extra* |", "|---|--:|--:|", *rows, total])


def hours(efforts: Mapping[str, Effort]) -> str:
    """The hours and minutes that lessons take, in one sentence."""
    core = sum(one.core_minutes for name, one in efforts.items() if CORE[0] <= name[:2] <= CORE[1])
    others = [one.core_minutes for name, one in efforts.items() if name[:2] > CORE[1] and counts(name)]
    return (
        f"Lessons {CORE[0]} to {CORE[1]} take about {_hours(core)}, and each later one {min(others)} to {max(others)} "
        "minutes, without the parts marked *extra*."
    )


def _hours(minutes: int) -> str:
    return f"{round(minutes / 60)} hours"


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
