"""Reading submitted code: what an answer reaches, and what it uses that is not allowed."""

from __future__ import annotations

import pytest

from grading.grader import cell_code, source_analysis
from grading.grader.source_analysis import NotebookSource
from grading.judge.kernel.dependencies import ExecutedCell, cells_needed, names_needed

FORBIDDEN = ("log_?softmax", "softmax", "matmul", "distributions")


def used(*cells, name="f", exercises=("g", "f", "later")):
    return NotebookSource(cells, exercises).not_allowed(name, FORBIDDEN)


@pytest.mark.parametrize(
    "code",
    [
        "def f(x): return torch.softmax(x, -1)",
        "def f(x): return x.softmax(-1)",
        "from torch.nn.functional import softmax as s\ndef f(x): return s(x, -1)",
        "def f(x):\n    from torch.nn.functional import softmax as s\n    return s(x, -1)",
        "from torch import softmax as s\ndef f(x, s=s): return s(x, -1)",
        "from torch import softmax as s\ndef f(x):\n    global s\n    s = s\n    return s(x, -1)",
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
        "f?\ndef f(x): return torch.softmax(x, -1)",
        "files = !ls\ndef f(x): return torch.softmax(x, -1)",
        "!pip install x\n%cd x\ndef f(x): return torch.softmax(x, -1)\nf??",
        "%%time\ndef f(x): return torch.softmax(x, -1)",
        "%%capture\n%%time\ndef f(x): return torch.softmax(x, -1)",
        "%time f = torch.softmax",
        "def later(x): return torch.softmax(x, -1)\ndef f(x): return later(x)",
        "time f = torch.softmax",
        "def f(x):\n    y = %time torch.softmax(x, -1)\n    return y",
        ">>> def f(x):\n...     return torch.softmax(x, -1)",
        "In [3]: f = torch.softmax",
        "try:\n    import absent\nexcept ImportError:\n    def f(x): return torch.softmax(x, -1)",
        "def f(x): return x" + ".softmax(-1)" * 500,
        "def f(x): return getattr(torch, 'xamtfos'[::-1])(x, -1)",
        "def f(x): return vars(torch)['soft' + 'max'](x, -1)",
        "def f(x): return torch.__dict__['soft' + 'max'](x, -1)",
        "def f(x):\n    with torch._C.DisableTorchFunction(): return x",
        "from torch._C import DisableTorchFunction as off\ndef f(x):\n    with off(): return x",
        "from importlib import import_module as take\ndef f(x): return take('to' + 'rch').x(x)",
        "def f(x): return __import__('to' + 'rch').x(x)",
        "import sys\ndef f(x): return sys.modules['to' + 'rch'].x(x)",
        "def f(x): return eval('x.soft' + 'max(-1)')",
        "def helper(x): pass\ndef f(x): return helper.__globals__['torch'].x(x)",
    ],
)
def test_a_forbidden_use_is_found(code):
    assert used("import torch\nfrom torch import nn", code)


@pytest.mark.parametrize(
    "code",
    [
        "def f(x): return x.exp()",
        "from torch import softmax as s\ndef f(x):\n    s = x.exp()\n    return s / s.sum()",
        "from torch import softmax as s\ndef f(x): return sum(s.exp() for s in x)",
        "def f(x): return x.__dict__, x.overrides",
        "def f(x):\n    '''like torch.softmax'''\n    # torch.softmax\n    return x.exp()",
        "def softmax(x): return x.exp()\ndef f(x): return softmax(x)",
        "def f(x): return x.exp()\nassert torch.softmax(x, 0)",
        "def g(x): return torch.softmax(x, -1)\ndef f(x): return g(x)",
        "class A:\n    def softmax(self, x): return x\n    def __call__(self, x): return self.softmax(x)\nf = A()",
        "def f(x): return x.matrix",
        "weights = torch.softmax(x, 0)\ndef f(x):\n    weights = x.exp()\n    return weights",
        "weights = torch.softmax(x, 0)\ndef f(weights): return weights.exp()",
        "torch.backends.cuda.matmul.allow_tf32 = False\ndef f(x): return torch.exp(x)",
        "def f(x, name='float32'): return x.to(getattr(torch, 'float64')) + getattr(x, name)",
        "class f(nn.Module):\n    def forward(self, x): return self.eval(), getattr(self, f'W_{x}'), self.__dict__",
        "import re, importlib\nwords = re.compile('a')\nm = importlib.import_module('math')\ndef f(x): return words, m",
        "@torch.compile\ndef f(x): return x.exp()",
        "torch.softmax = None\ndef f(x): return torch.exp(x)",
        "%%timeit\nf = torch.softmax",
        "%%writefile f.py\ndef f(x): return torch.softmax(x, -1)",
        "%%bash\nf = torch.softmax",
    ],
)
def test_what_is_allowed_is_left_alone(code):
    assert not used("import torch", code)


def test_what_comes_before_an_exercise_is_told_by_the_lesson_and_not_by_the_notebook():
    source = NotebookSource(["def later(x): return x", "def f(x): return x", "def g(x): return x"], ("g", "f", "later"))
    assert (source.earlier_exercises("g"), source.earlier_exercises("f"), source.earlier_exercises("later")) == (
        set(),
        {"g"},
        {"g", "f"},
    )


def test_the_last_definition_is_the_one_that_counts():
    assert not used("def f(x): return torch.softmax(x, 0)", "def f(x): return x.exp()")
    assert used("def f(x): return x.exp()", "def f(x): return torch.softmax(x, 0)")


def test_reachable_follows_calls_through_helpers():
    source = NotebookSource(
        ["def a(x): return x", "def b(x): return a(x)", "def f(x): return b(x)", "def other(x): return 1"]
    )
    assert source.reachable("f") == {"a", "b", "f"}


@pytest.mark.parametrize("line", ["a?", "?a", "files = !ls", "!ls", "%pip list", "took = %time a(1)", ",print a b"])
def test_reachable_is_told_in_a_cell_with_a_line_of_ipythons_own(line):
    assert NotebookSource([f"def a(x): return x\n{line}", f"{line}\ndef f(x): return a(x)"]).reachable("f") == {
        "a",
        "f",
    }


def test_of_a_cell_with_a_syntax_error_nothing_ran_and_nothing_counts():
    clean, forbidden = "def f(x): return x.exp()", "import torch\ndef f(x): return torch.softmax(x, 0)"
    assert used("def broken(:", forbidden)
    assert not used(clean, f"{forbidden}\ndef broken(:")
    assert used(forbidden, f"{clean}\ndef broken(:")


def test_a_strangers_code_is_read_within_bounds():
    nested = "if x:\n    f = 1\n" + "elif x:\n    f = f.exp()\n" * 800
    NotebookSource([nested]).not_allowed("f", FORBIDDEN)
    long = "def f(x): return torch.softmax(x, 0)  " + "#" * 150_000
    assert used("import torch", *[long + str(n) for n in range(9)])
    assert not used("#" * 3_000_000 + "\n" + long)


def test_a_notebooks_code_is_taken_apart_once_however_many_exercises_it_has(monkeypatch):
    """A cell of 3 MB was parsed for each exercise: 27 seconds and 1.7 GB every time."""
    asked = []
    symtables, parses = source_analysis.symtable.symtable, cell_code.ast.parse
    monkeypatch.setattr(
        source_analysis.symtable, "symtable", lambda *given: asked.append("symtable") or symtables(*given)
    )
    monkeypatch.setattr(cell_code.ast, "parse", lambda *given: asked.append("parse") or parses(*given))
    code = "".join(f"def f{i}(x):\n    return f{i + 1}(x)\n" for i in range(100)) + "def f100(x): return x"
    written = [ExecutedCell(code), ExecutedCell("import torch"), ExecutedCell("y = f3(1)")]
    for exercise in ("f0", "f1", "f2", "f3"):
        source = NotebookSource([cell.code for cell in written], ["f0", "f1", "f2", "f3"])
        source.not_allowed(exercise, FORBIDDEN)
        names_needed(source, exercise)
        for bare in (False, True):
            list(cells_needed(written, source, exercise, bare))
    assert asked.count("parse") <= len(written)
    assert asked.count("symtable") <= 103  # statements
