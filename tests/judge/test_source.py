"""Reading submitted code: what an answer reaches, and what it uses that is not allowed."""

from __future__ import annotations

import pytest

from grading.judge.source import Source

FORBIDDEN = ("log_?softmax", "softmax", "matmul", "distributions")


def used(*cells, name="f", exercises=("f", "g")):
    return Source(cells, exercises).not_allowed(name, FORBIDDEN)


@pytest.mark.parametrize(
    "code",
    [
        "def f(x): return torch.softmax(x, -1)",
        "def f(x): return x.softmax(-1)",
        "from torch.nn.functional import softmax as s\ndef f(x): return s(x, -1)",
        "import torch.nn.functional as F\nf = lambda x: F.softmax(x, -1)",
        "from torch import softmax\nf = softmax",
        "def f(x): return x @ x",
        "def f(x):\n    x @= x\n    return x",
        "def f(x): return getattr(torch, 'softmax')(x)",
        "class f(nn.Module):\n    def forward(self, x): return nn.LogSoftmax(-1)(x)",
        "def helper(x): return torch.softmax(x, -1)\ndef f(x): return helper(x)",
        "from torch.distributions import Categorical\ndef f(x): return Categorical(logits=x).probs",
        "import torch as t\ndef f(x): return t.distributions.Categorical(logits=x).probs",
        "%matplotlib inline\ndef f(x): return torch.softmax(x, -1)",
        "def f(x): return torch.softmax(x, -1)\nf = torch.jit.script(f)",
        "class f(nn.Module): pass\nf.forward = lambda self, x: torch.softmax(x, -1)",
        "soft = torch.softmax\ndef f(x): return soft(x, -1)",
    ],
)
def test_a_forbidden_use_is_found(code):
    assert used("import torch\nfrom torch import nn", code)


@pytest.mark.parametrize(
    "code",
    [
        "def f(x): return x.exp()",
        "def f(x):\n    '''like torch.softmax'''\n    # torch.softmax\n    return x.exp()",
        "def softmax(x): return x.exp()\ndef f(x): return softmax(x)",
        "def f(x): return x.exp()\nassert torch.softmax(x, 0)",
        "def g(x): return torch.softmax(x, -1)\ndef f(x): return g(x)",
        "class A:\n    def softmax(self, x): return x\n    def __call__(self, x): return self.softmax(x)\nf = A()",
        "def f(x): return x.matrix",
        "weights = torch.softmax(x, 0)\ndef f(x):\n    weights = x.exp()\n    return weights",
        "weights = torch.softmax(x, 0)\ndef f(weights): return weights.exp()",
        "torch.backends.cuda.matmul.allow_tf32 = False\ndef f(x): return torch.exp(x)",
        "torch.softmax = None\ndef f(x): return torch.exp(x)",
    ],
)
def test_what_is_allowed_is_left_alone(code):
    assert not used("import torch", code)


def test_the_last_definition_is_the_one_that_counts():
    assert not used("def f(x): return torch.softmax(x, 0)", "def f(x): return x.exp()")
    assert used("def f(x): return x.exp()", "def f(x): return torch.softmax(x, 0)")


def test_reachable_follows_calls_through_helpers():
    source = Source(["def a(x): return x", "def b(x): return a(x)", "def f(x): return b(x)", "def other(x): return 1"])
    assert source.reachable("f") == {"a", "b", "f"}


def test_a_cell_that_cannot_be_parsed_hides_nothing_of_the_others():
    assert used("def broken(:", "import torch\ndef f(x): return torch.softmax(x, 0)")
