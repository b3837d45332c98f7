"""The pieces that the course must contain: `must_contain.toml` names the places of the lessons that show them."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

from grading.authoring.effort import EXTRA, EXTRA_FOLD, FENCED, HEADING
from grading.authoring.lesson_text import read_lesson

from ..support.repository import LESSONS, ROOT

PIECES = tomllib.loads(Path(__file__).with_name("must_contain.toml").read_text(encoding="utf-8"))
SOLUTION = re.compile(r"### BEGIN SOLUTION\n.*?### END SOLUTION", re.DOTALL)


@cache
def parts(number: str) -> list[tuple[list[str], str]]:
    """The parts of a lesson's text and code, each after the headings that it is under; `EXTRA` is that of a fold."""
    (lesson,) = (name for name in LESSONS if name.startswith(f"{number}_"))
    above = dict[int, str]()  # by level
    found = list[tuple[list[str], str]]()
    for cell in read_lesson(ROOT / "source" / f"{lesson}.py").cells:
        if cell.cell_type == "code":
            found.append(([*above.values()], SOLUTION.sub("", cell.source)))
            continue
        source = FENCED.sub(lambda code: re.sub("^#", " ", code[0], flags=re.MULTILINE), cell.source)
        first, *rest = HEADING.split(source)
        for marks, title, text in [("", "", first), *zip(rest[::3], rest[1::3], rest[2::3])]:
            if marks:
                above = {level: of for level, of in above.items() if level < len(marks)} | {len(marks): title}
            found.append(([*above.values()], EXTRA_FOLD.sub("", text)))
            found += [([*above.values(), EXTRA], fold) for fold in EXTRA_FOLD.findall(text)]
    return [(headings, " ".join(text.split())) for headings, text in found]


def lacking(lessons: list[str], shows: str, heading: str | None = None, core: bool = True) -> list[str]:
    """Which of the lessons do not show this under the heading, in their core if `core`, in sentences."""

    def counts(above: list[str]) -> bool:
        return heading in (None, *above) and not (core and any(title.endswith(EXTRA) for title in above))

    return [
        f"lesson {number} does not show {shows!r} under {heading or 'any heading'!r}{' in its core' * core}"
        for number in lessons
        if not any(counts(above) and shows in text for above, text in parts(number))
    ]


@pytest.mark.parametrize("piece", PIECES)
def test_the_lessons_show_each_piece(piece):
    missing = [sentence for place in PIECES[piece] for sentence in lacking(**place)]
    assert not missing, "\n".join([piece, *missing])
