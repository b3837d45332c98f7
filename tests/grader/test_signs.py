"""Signs of a table or a spy: found in such answers, and in no right one."""

from __future__ import annotations

import pytest

from grading.exercises.lesson import load_lesson
from grading.grader.signs import signs_of
from grading.grader.source_analysis import NotebookSource
from grading.grader.verdict import LITERALS, SPY

from ..support.repository import LESSONS, ROOT


@pytest.mark.parametrize(
    ("code", "signs"),
    [
        ("SEEN = []\ndef f(x):\n    SEEN.append(x)\n    return x", [SPY]),
        ("SEEN = {}\ndef f(x):\n    SEEN[x.sum()] = x\n    return x", [SPY]),
        ("def keep(x):\n    open('loot', 'w').write(str(x))\ndef f(x):\n    keep(x)\n    return x", [SPY]),
        ("class Box: pass\nbox = Box()\ndef f(x):\n    box.last = x\n    return x", [SPY]),
        (f"TABLE = {list(range(400))}\ndef f(x):\n    return TABLE[x]", [LITERALS]),
        (f"DATA = {'a' * 4000!r}\ndef f(x):\n    return DATA", [LITERALS]),
        ("SCALE = [2]\ndef f(x):\n    kept = []\n    kept.append(x * SCALE[0])\n    return kept[0]", []),
    ],
)
def test_an_answer_that_keeps_or_looks_up_its_cases_has_a_sign(code, signs):
    assert signs_of(NotebookSource([code]), "f") == signs


@pytest.mark.parametrize("lesson", LESSONS)
def test_no_right_answer_has_a_sign(lesson):
    for exercise in load_lesson(ROOT / "grader_tests" / lesson).exercises.values():
        for answer in exercise.alternatives:
            assert not signs_of(NotebookSource([answer.code]), exercise.name), answer.name
