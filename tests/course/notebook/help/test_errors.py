"""The errors that everybody meets are told with the learner's own lines, what stood in them, and a word of help."""

from __future__ import annotations

import linecache
import textwrap
from typing import Any

import pytest
import torch
from torch import nn

from course.harness.advice import HELP, help_with
from course.notebook.help.errors import explained
from course.report import CodeNote


def raised(code: str, **given: Any) -> CodeNote | None:
    """What is said of the exception that calling `f` in this code raises."""
    code = textwrap.dedent(code).strip() + "\n"
    name = f"<cell {abs(hash(code))}>"
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    names: dict[str, Any] = {"torch": torch, "nn": nn, "F": nn.functional, **given}
    exec(compile(code, name, "exec"), names)
    with pytest.raises(Exception) as caught:  # noqa: PT011 - whatever it is, it is explained
        names["f"]()
    return explained(caught.value.with_traceback(caught.tb.tb_next))  # without this function


A, B = "torch.ones(3, 4)", "torch.ones(5, 4)"
# what is written, and a word of what is said of it
COMMON = {
    "matrices": (f"{A} @ {B}", "in a matrix product"),
    "batches of matrices": ("torch.ones(2, 3, 4) @ torch.ones(2, 3, 4)", "in a matrix product"),
    "bmm": ("torch.bmm(torch.ones(2, 3, 4), torch.ones(2, 3, 4))", "in a matrix product"),
    "a linear layer": ("nn.Linear(3, 2)(torch.ones(5, 4))", "in a matrix product"),
    "vectors": ("torch.ones(3) @ torch.ones(4)", "in a matrix product"),
    "a matrix and a vector": ("torch.ones(3, 4) @ torch.ones(3)", "in a matrix product"),
    "dot of matrices": (f"torch.dot({A}, {A})", "in a matrix product"),
    "broadcasting": (f"{A} / {A}.sum(-1)", "keepdim=True"),
    "expand": ("torch.ones(3).expand(4)", "keepdim=True"),
    "a mask": (f"{A}.masked_fill(torch.ones(4, 3, dtype=torch.bool), 0)", "keepdim=True"),
    "view": (f"{A}.T.view(12)", "`.reshape(...)`"),
    "a shape": (f"{A}.view(5, 2)", "another number of entries"),
    "reshape": (f"{A}.reshape(5, -1)", "another number of entries"),
    "dtypes": (f"{A} @ torch.ones(4, 2).double()", "different dtypes"),
    "a dtype in place": ("torch.arange(3).mul_(0.5)", "different dtypes"),
    "a mean of integers": ("torch.arange(3).mean()", "floating point"),
    "softmax of integers": ("torch.softmax(torch.arange(3), 0)", "floating point"),
    "devices": (f"{A} + torch.ones(3, 4, device='meta')", "different devices"),
    "a leaf in place": ("torch.ones(3, requires_grad=True).add_(1)", "Create a new tensor"),
    "a leaf's element": ("torch.ones(3, requires_grad=True).__setitem__(0, 1.0)", "Create a new tensor"),
    "no graph": ("torch.ones(3).sum().backward()", "Autograd has not recorded"),
    "backward of several": ("torch.ones(3, requires_grad=True).backward()", "needs a single number"),
    "a tuple": ("0.5 * torch.ones(3).chunk(3)", "You use a tuple"),
    "a parameter of whole numbers": ("nn.Parameter(torch.tensor(0))", "holds integers"),
    "a parameter of a number": ("nn.Parameter(0.0)", "need a tensor"),
    "no forward": ("type('M', (nn.Module,), {})()(1)", "has no `forward`"),
    "a loop over a number": ("list(torch.tensor(1.0))", "You loop over"),
    "an if": (f"1 if {A} > 0 else 0", "as a condition"),
    "numpy": ("torch.ones(3, requires_grad=True).numpy()", "You convert a tensor to NumPy"),
    "a number": (f"float({A})", "plain Python numbers"),
    "a number by item": (f"{A}.item()", "plain Python numbers"),
    "dim": ("torch.ones(3).sum(1)", "fewer dimensions"),
    "indices": ("torch.ones(3)[torch.ones(2)]", "integers (int64)"),
    "an index": ("torch.ones(3)[3]", "0 to n - 1"),
    "too many indices": ("torch.ones(3)[0, 0]", "0 to n - 1"),
    "a row of a table": ("F.embedding(torch.tensor([7]), torch.ones(3, 4))", "0 to n - 1"),
    "indices of rows": ("F.embedding(torch.ones(2), torch.ones(3, 4))", "int64"),
    "cat": (f"torch.cat([{A}, torch.ones(3, 5)])", "torch.cat"),
    "stack": (f"torch.stack([{A}, {B}])", "torch.stack"),
    "a plain number": ("torch.exp(1.0)", "Python's `math`"),
    "None": ("None @ torch.ones(3)", "has no `return`"),
    "None's attribute": ("None.shape", "has no `return`"),
    "arguments": ("(lambda x: x)(1, 2)", "arguments that the function does not take"),
}


@pytest.mark.parametrize(("code", "word"), COMMON.values(), ids=COMMON)
def test_an_error_that_everybody_meets_is_told_with_its_line_and_a_word_of_help(code, word):
    found = raised(f"def f():\n    x = 1\n    return {code}")
    assert found is not None
    assert word in found.title
    assert found.text.startswith(f"line 3 of f: return {code}")


LONGER = {
    "unpacking": ("def f():\n    B, T, D = torch.ones(3, 4).shape", "Count the dimensions"),
    "changed after use": (
        "def f():\n    x = torch.ones(3, requires_grad=True)\n    y = x.exp()\n    y += 1\n    y.sum().backward()",
        "the backward pass needs",
    ),
    "twice": (
        "def f():\n    y = torch.ones(3, requires_grad=True).exp().sum()\n    y.backward()\n    y.backward()",
        "twice on the same",
    ),
    "no super().__init__()": (
        "class M(nn.Module):\n    def __init__(self):\n        self.W_q = nn.Linear(3, 3)\ndef f(): M()",
        "super().__init__()",
    ),
    "a parameter before it": (
        "class M(nn.Module):\n    def __init__(self):\n        self.w = nn.Parameter(torch.ones(3))\ndef f(): M()",
        "super().__init__()",
    ),
    "called without it": (
        "class M(nn.Module):\n    def __init__(self): pass\n    def forward(self): return self.W_q\ndef f(): M()()",
        "super().__init__()",
    ),
}


@pytest.mark.parametrize(("code", "word"), LONGER.values(), ids=LONGER)
def test_an_error_of_several_lines_has_its_word_of_help_too(code, word):
    found = raised(code)
    assert found is not None
    assert word in found.title


def test_every_word_of_help_is_said_for_something():
    said = {found.title for code, _ in COMMON.values() if (found := raised(f"def f(): return {code}"))}
    said |= {found.title for code, _ in LONGER.values() if (found := raised(code))}
    assert set(HELP) <= said
    assert help_with("a thing of my own") == ""


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
    assert found is not None
    assert found.text.splitlines() == [
        "line 10 of f: return Attention().scores(torch.ones(3, 4), torch.ones(5, 2).double())",
        "line 7 of Attention.scores: return self.W_q(x) @ key * scale",
        "    self.W_q is a Linear from 4 to 2",
        "    x is (3, 4), float32",
        "    key is (5, 2), float64",
        "    scale is 0.5",
    ]


def test_deep_recursion_is_told_by_its_last_lines():
    found = raised("def f(n=0):\n    return f(n + 1) if n < 50 else n.nothing")
    assert found is not None
    assert len(found.text.splitlines()) == 8
    assert found.text.startswith("…\n")
    assert found.text.endswith("n is 50")


@pytest.mark.parametrize("code", ["raise ValueError('d_k is 3')", "assert 1 == 2"])
def test_what_a_learner_raises_on_purpose_needs_no_explanation(code):
    assert raised(f"def f():\n    {code}") is None


def test_no_code_of_the_learners_runs_while_an_error_is_explained():
    class Loud:
        def __getattr__(self, name: str) -> Any:
            raise AssertionError("was asked")

        def __repr__(self) -> str:
            raise AssertionError("was written")

    found = raised("def f():\n    return (loud, loud.x if 0 else 1) + torch.ones(3)[7]", loud=Loud())
    assert found is not None
    assert found.text.count("\n") == 0
