"""Why an answer is not there under its name: what cannot be read is told with its line, other names are found."""

from __future__ import annotations

import sys

import pytest

from grading.grader.shown_cases import hide_cases, wants_practice
from grading.grader.verdict import CriterionVerdict, ExerciseVerdict
from grading.grader.verdict_report import to_report
from grading.judge.kernel.outputs import Stop
from grading.judge.missing_answer import (
    explain_newer_syntax,
    explain_stop,
    explain_syntax_error,
    find_misnamed_answer,
    unreadable_verdict,
)

RIGHT = "def softmax(x):\n    return x"


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("def softmax(x:\n    return x", "Line 1, `def softmax(x:`: '(' was never closed."),
        ("import torch\n%matplotlib inline\ndef softmax(x):\n    return x +", "Line 4, `return x +`: invalid syntax."),
        ("def softmax(x):\n    y = x\n\treturn y", "Line 3, `return y`: inconsistent use of tabs and spaces"),
        ("def softmax(x):\n    return\u00a0x", "Line 2, `return\ufffdx`: invalid non-printable character U+00A0 ("),
        ("def softmax(x):\n    return \u200bx", "invalid non-printable character U+200B (a character of a web page"),
        ("print(\u201chi\u201d)\n" + RIGHT, "(U+201C) (a character of a web page"),
        ("1 def softmax(x):\n2     return x", "Line 1, `1 def softmax(x):`"),
        ("\u00a0def softmax(x):\n    return x", "Line 1"),
        ("def softmax(x):\n<<<<<<< a\n    return x\n=======\n    return -x\n>>>>>>> b", "Line 2 has the mark of"),
        ("def softmax(x):\n    return x +  # `" + "y" * 200, "yyy…`: invalid syntax."),
        ("def softmax(x):\n    return " + "(" * 900, "so nothing in it ran."),
    ],
)  # fmt: skip
def test_an_unreadable_cell_is_reported_with_its_line(cell: str, said: str) -> None:
    why = explain_syntax_error([RIGHT, cell, "print(1)"], "softmax")
    assert why.startswith("Python cannot read the cell with `softmax`, so nothing in it ran.") and said in why
    assert why.count("`") % 2 == 0 and why.isprintable()
    assert not explain_syntax_error([cell.replace("softmax", "softmin")], "softmax")


def test_readable_cells_are_not_reported() -> None:
    assert explain_syntax_error(["def softmax(x", RIGHT], "softmax") == ""
    assert explain_syntax_error([], "softmax") == ""


@pytest.mark.parametrize(
    ("cell", "other"),
    [
        ("def Softmax(x): ...", "Softmax"),
        ("class soft_max: ...", "soft_max"),
        ("SOFTMAX = print", ""),
        ("from torch.nn import Softmax", ""),
        ("def softmax2(x): ...", ""),
        ("def Softmax(x): ...\ndef soft_max(x): ...", ""),
        ("def Softmax(x", ""),
        ("def f():\n    def Softmax(): ...", ""),
    ],
)
def test_another_name_is_found_where_it_is_certain(cell: str, other: str) -> None:
    assert find_misnamed_answer([cell, RIGHT], "softmax", ["softmax", "entropy"]) == other


def test_the_name_of_another_exercise_is_not_a_misspelt_name() -> None:
    assert find_misnamed_answer(["class ScaledAttention: ..."], "scaled_attention", ["ScaledAttention"]) == ""


def test_the_report_on_an_unreadable_answer_gives_only_the_reason() -> None:
    criterion = CriterionVerdict("values", 2, 0, "wrong", "softmax(x)", "raised", "it raises NotImplementedError")
    verdict = ExerciseVerdict("softmax", 2, 0, "not started", [criterion])
    hide_cases(verdict, [])
    unreadable_verdict(verdict, "Line 3 is it.")
    said = to_report(verdict).to_text()
    assert not wants_practice(verdict)
    assert verdict.status == "wrong" and "Line 3 is it." in said and "NotImplemented" not in said


NEWER = {
    "type Pair = tuple": (3, 12),
    "def softmax[T](x): ...": (3, 12),
    "x = f'{y['a']}'": (3, 12),
    "x = f'{\n    y}'": (3, 12),
    "try: ...\nexcept A, B: ...": (3, 14),
    "x = t'{y}'": (3, 14),
    "x = rt'{y}'": (3, 14),
    "lazy import math": (3, 15),
}
HERE = sys.version_info[:2]


@pytest.mark.parametrize(("line", "since"), NEWER.items())
def test_syntax_of_a_newer_python_is_left_to_a_person(line: str, since: tuple[int, int]) -> None:
    said = explain_newer_syntax([f"{RIGHT}\n{line}"], "softmax")
    written, here = (".".join(map(str, number)) for number in (since, HERE))
    assert (f"looks like syntax of Python {written}; the grader runs Python {here}" in said) == (since > HERE)
    assert bool(said) == (since > HERE)


def test_a_mistake_is_not_taken_for_newer_syntax() -> None:
    mistakes = ["def softmax(x:\n    return x", "def softmax(x):\n    type = = x"]
    if HERE >= (3, 12):  # before, they read like an f-string that this Python does
        mistakes += [f"{RIGHT}\nx = f'{{y'", f"{RIGHT}\ntype Pair = = tuple"]
    for cell in mistakes:
        assert explain_newer_syntax([cell], "softmax") == ""


def test_a_line_that_stopped_is_shown_with_the_reason() -> None:
    code = "import torch\nfrom google.colab import drive\ndef softmax(x): ..."
    said = explain_stop("softmax", code, Stop(2, "ModuleNotFoundError: No module named 'google'"))
    assert "its line 2, `from google.colab import drive`: ModuleNotFoundError: No module named 'google'." in said
    paged = "a = 1 \f# \u2028\r\nassert a\n"
    assert "at its line 2, `assert a`: " in explain_stop("f", paged, Stop(2, "AssertionError"))
    assert "at its line 1, `import torch`: AssertionError. Only" in explain_stop("f", code, Stop(1, "AssertionError: "))
    assert "stopped in the grader: stopped after 30 seconds." in explain_stop(
        "f", code, Stop(0, "stopped after 30 seconds")
    )
