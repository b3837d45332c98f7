"""An exception is told with the learner's own lines, and with what stood in the last of them."""

from __future__ import annotations

import linecache
import textwrap
from typing import Any

import pytest
import torch
from torch import nn

from course.notebook.raised_lines import describe_raise, shorten_description


def raised(code: str, **given: Any) -> str:
    """What is said of the exception that calling `f` in this code raises."""
    code = textwrap.dedent(code).strip() + "\n"
    name = f"<cell {abs(hash(code))}>"
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    names: dict[str, Any] = {"torch": torch, "nn": nn, "F": nn.functional, **given}
    exec(compile(code, name, "exec"), names)
    with pytest.raises(Exception) as caught:  # noqa: PT011 - whatever it is, it is explained
        names["f"]()
    return describe_raise(caught.value.with_traceback(caught.tb.tb_next))  # without this function


def test_the_line_that_raised_is_told():
    found = raised("def f():\n    x = 1\n    return torch.ones(3)[3]")
    assert found == "line 3 of f: return torch.ones(3)[3]"


def test_the_learners_own_lines_are_told_and_what_stands_in_the_last_of_them():
    found = raised("""
        class Attention(nn.Module):
            def __init__(self):
                super().__init__()
                self.W_q = nn.Linear(4, 2)

            def scores(self, x, key, scale=0.5):
                return self.W_q(x) @ key * scale

        def f():
            return Attention().scores(torch.ones(3, 4), torch.ones(5, 2).double())
    """)
    assert found.splitlines() == [
        "line 10 of f: return Attention().scores(torch.ones(3, 4), torch.ones(5, 2).double())",
        "line 7 of Attention.scores: return self.W_q(x) @ key * scale",
        "    self.W_q is a Linear from 4 to 2",
        "    x is (3, 4), float32",
        "    key is (5, 2), float64",
        "    scale is 0.5",
    ]


def test_in_brief_the_answers_own_line_comes_before_the_one_that_raised():
    found = raised("def g(a):\n    b = a + 1\n    return b[3]\ndef h(a): return g(a)\ndef f(): return h(torch.ones(2))")
    assert shorten_description(found).splitlines() == [
        "line 5 of f: def f(): return h(torch.ones(2))",
        "line 3 of g: return b[3]",
        "    b is (2,), float32",
    ]


def test_deep_recursion_is_told_by_its_last_lines():
    found = raised("def f(n=0):\n    return f(n + 1) if n < 50 else n.nothing")
    assert len(found.splitlines()) == 8
    assert found.startswith("…\n")
    assert found.endswith("n is 50")


@pytest.mark.parametrize("code", ["raise ValueError('d_k is 3')", "assert 1 == 2"])
def test_what_a_learner_raises_on_purpose_needs_no_explanation(code):
    assert raised(f"def f():\n    {code}") == ""


def test_no_code_of_the_learners_runs_while_an_error_is_explained():
    class Loud:
        def __getattr__(self, name: str) -> Any:
            raise AssertionError("was asked")

        def __repr__(self) -> str:
            raise AssertionError("was written")

    found = raised("def f():\n    return (loud, loud.x if 0 else 1) + torch.ones(3)[7]", loud=Loud())
    assert found.count("\n") == 0
