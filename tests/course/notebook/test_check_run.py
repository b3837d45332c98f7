"""What an answer prints while it is checked is shown, in part, with the call that printed it; the rest is kept."""

from __future__ import annotations

import re
from typing import Any

import pytest

from course import check, printed
from course.notebook import session
from course.notebook.check_run import CALLS, KEPT, LINES, WIDTH, CappedStream, CapturedOutput

SOFTMAX = """
import sys, torch
def softmax(x, dim=-1):
    {printing}
    e = (x - x.amax({dim}, keepdim=True)).exp()
    return e / e.sum({dim}, keepdim=True)
"""


@pytest.fixture
def checked(monkeypatch, capsys):
    """checked(printing, dim) is the report on a softmax that prints, and the function itself."""
    session.renew(lesson="02_softmax")

    def report(printing: str, dim: str = "dim") -> tuple[str, Any]:
        names: dict[str, Any] = {}
        exec(SOFTMAX.format(printing=printing, dim=dim), names)
        check(names["softmax"], full=True)
        return capsys.readouterr().out, names["softmax"]

    return report


def test_what_an_answer_prints_is_shown_with_the_call_that_printed_it(checked):
    text, _ = checked("print('the shape is', tuple(x.shape)); print('and', x.dtype, file=sys.stderr)")
    assert text.startswith("☑ softmax")
    assert (
        "\n  Printed by `softmax(torch.tensor([0.0, 0.6931472, 1.609438]))`:\n"
        "      the shape is (3,)\n      and torch.float32\n" in text
    )
    assert text.count("Printed by") == CALLS


def test_the_one_line_of_a_right_answer_says_that_something_was_printed(checked):
    first = checked("print('a', 'b', sep='\\n')")[0].splitlines()[0]
    assert (found := re.search(r" pass\. It printed (\d+) lines: `course\.printed\(softmax\)`\.$", first)), first
    assert int(found[1]) > 2 * CALLS
    assert "printed" not in checked("pass")[0].splitlines()[0]


def test_of_many_calls_those_that_failed_are_shown(checked):
    text, _ = checked("print('sizes', tuple(x.shape), dim)", dim="0")
    assert text.startswith("◐ softmax: ")
    call = text.splitlines()[2].strip()
    assert text.index(call) < text.index("      printed:\n        sizes (2, 3) -1\n") < text.index("Look at:")
    assert f"Printed by `{call}" not in text, "it is shown with the case"


def test_what_is_not_shown_can_be_had(checked, capsys):
    text, softmax = checked("print(*range(100), sep='\\n')")
    assert text.count("… 92 more lines") == CALLS
    calls = int(re.search(r"All that was printed \((\d+) calls\):\s+course.printed\(softmax\)", text)[1])
    assert calls > CALLS
    printed(softmax)
    told = capsys.readouterr().out
    assert sum(line.startswith("--- ") for line in told.splitlines()) == calls
    assert told.count("\n99\n") >= calls  # what is asked may call it twice
    assert told.startswith("--- softmax(torch.tensor([0.0")


def test_who_printed_nothing_is_told_nothing(checked, capsys):
    text, softmax = checked("print(); print(end='')")
    assert "Printed" not in text
    printed(softmax)
    assert capsys.readouterr().out == "softmax printed nothing in its last check.\n"


def test_floods_are_cut():
    kept = CappedStream()
    for _ in range(1000):
        print("x" * 1000, file=kept)
    assert len(kept.text) < KEPT + 100
    assert kept.text.endswith(f"… and {1_001_000 - KEPT} characters more, which were not kept")
    prints = CapturedOutput()
    prints.add("softmax(x)", kept.text)
    note, _ = prints.as_notes("softmax")
    assert len(note.text) < (LINES + 3) * (WIDTH + 10)
