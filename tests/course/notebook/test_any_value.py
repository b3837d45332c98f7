"""Whatever a learner binds to an exercise's name, `check` tells it, and never raises."""

from __future__ import annotations

import textwrap

import pytest

from course.report import MARKS

from ...support.learner import RIGHT

WHATEVER = {
    "None": "softmax = None",
    "a string": "softmax = 'softmax'",
    "a number": "softmax = 3",
    "a tensor": "softmax = torch.ones(3)",
    "a class": "class softmax:\n    pass",
    "an instance": "class softmax:\n    pass\nsoftmax = softmax()",
    "a module instance": "softmax = torch.nn.Linear(3, 3)",
    "a module": "import math as softmax",
    "a type": "softmax = type",
    "a function without arguments": "def softmax(): return 1",
    "a generator": "def softmax(x, dim=-1):\n    yield x",
    "a coroutine": "async def softmax(x, dim=-1):\n    return x",
    "a lambda": "softmax = lambda x, dim=-1: x",
    "a partial function": "import functools\nsoftmax = functools.partial(torch.add, 1)",
    "an object whose repr raises": """
        class Sulky:
            def __repr__(self): raise RuntimeError("no repr")
            __str__ = __repr__
            def __call__(self, x, dim=-1): return self
        softmax = Sulky()
    """,
    "an object without a name": """
        class Nameless:
            @property
            def __name__(self): raise RuntimeError("no name")
            __module__ = None
            def __eq__(self, other): raise RuntimeError("no equality")
            __hash__ = None
        softmax = Nameless()
    """,
    "an object that has everything": """
        class Yes:
            def __getattr__(self, name): return self
            def __call__(self, *args, **kwargs): return self
        softmax = Yes()
    """,
    "an error without words": """
        class Mute(Exception):
            def __str__(self): raise RuntimeError("no words")
        def softmax(x, dim=-1): raise Mute
    """,
    "an error that no file can hold": "def softmax(x, dim=-1): raise ValueError('\\ud800')",
    "an endless list": "def softmax(x, dim=-1):\n    a = []\n    a.append(a)\n    return a",
    "endless recursion": "def softmax(x, dim=-1): return softmax(x, dim)",
    "a huge integer": "def softmax(x, dim=-1): return 10 ** 5000",
    "odd keys": "def softmax(x, dim=-1): return {None: x, (1, 2): [x], x: 3}",
    "a complex tensor": "def softmax(x, dim=-1): return x * 1j",
    "a sparse tensor": "def softmax(x, dim=-1): return x.to_sparse()",
    "a meta tensor": "def softmax(x, dim=-1): return torch.empty_like(x, device='meta')",
    "a tensor of its own kind": """
        class Mine(torch.Tensor): pass
        def softmax(x, dim=-1): return (x + 1).as_subclass(Mine)
    """,
    "an interrupt": "def softmax(x, dim=-1): raise KeyboardInterrupt",
    "an exit of the system": "import sys\ndef softmax(x, dim=-1): sys.exit(3)",
}


@pytest.mark.parametrize("code", WHATEVER.values(), ids=WHATEVER)
def test_check_and_stand_ins_never_raise_whatever_they_are_given(kernel, code):
    shown = kernel.run(f"{textwrap.dedent(code)}\nfloat(check(softmax))")
    assert shown.error is None
    assert shown.value == "0.0"
    assert shown.text == ""
    assert any(f'title="{word}">{mark}</span>' in shown.html for mark, word, _ in MARKS.values())
    assert "softmax</code>" in shown.html, "the exercise is told by the name it is bound to"
    used = kernel.run_given("print(softmax(torch.zeros(2), -1))\nhint(softmax)")
    assert used.error is None
    assert used.text == "tensor([0.5000, 0.5000])\nWith the course's `softmax`, until yours passes."
    assert "Hint 1 of 3" in used.markdown


@pytest.mark.parametrize(
    "code",
    [
        "softmax = lambda x, dim=-1: (x - x.logcumsumexp(dim).max()).exp()",
        "del softmax\n" + RIGHT + "solution = softmax\ndel softmax\nsoftmax = solution\ndel solution",
        """
        def traced(f):
            def wrapper(*args, **kwargs):
                return f(*args, **kwargs)
            return wrapper
        @traced
        def softmax(x, dim=-1):
            e = (x - x.amax(dim, keepdim=True)).exp()
            return e / e.sum(dim, keepdim=True)
        """,
        """
        import functools
        def my_answer(scale, x, dim=-1):
            e = (scale * x - (scale * x).amax(dim, keepdim=True)).exp()
            return e / e.sum(dim, keepdim=True)
        softmax = functools.partial(my_answer, 1.0)
        """,
        """
        class Softmax(torch.nn.Module):
            def forward(self, x, dim=-1):
                e = (x - x.amax(dim, keepdim=True)).exp()
                return e / e.sum(dim, keepdim=True)
        softmax = Softmax()
        """,
    ],
    ids=["lambda", "deleted and bound again", "decorated", "partial", "module"],
)
def test_an_answer_is_known_by_the_name_it_is_bound_to(kernel, code):
    shown = kernel.run(f"{textwrap.dedent(code)}\nfloat(check(softmax))")
    assert "softmax</code>" in shown.html
    if "lambda" in code:
        assert "not allowed" in shown.html
        assert shown.value == "0.0"
    else:
        assert shown.value == "7.0"


def test_a_function_that_is_bound_to_another_exercise_answers_that_one(softmax_lesson):
    softmax_lesson.run(RIGHT)
    text = softmax_lesson.run("log_softmax = torch.softmax\ncheck(log_softmax)")
    assert text.startswith("⊘ log_softmax: not allowed")
    assert softmax_lesson.run("check(softmax)").startswith("☑ softmax")


def test_what_is_no_exercise_is_told_so(softmax_lesson):
    text = softmax_lesson.run("def rope(x): return x\npoints = check(rope)")
    assert "'rope' is not an exercise of lesson 02_softmax" in text
    assert softmax_lesson.names["points"] == 0.0


def test_check_works_before_begin(learner):
    assert learner.run(f"{RIGHT}\ncheck(softmax)").startswith("☑ softmax: 7 of 7 points")


def test_an_interrupt_ends_a_check_that_would_not_end(softmax_lesson):
    softmax_lesson.run("""
        calls = 0
        def softmax(x, dim=-1):
            global calls
            calls += 1
            raise KeyboardInterrupt
        check(softmax)
    """)
    assert softmax_lesson.names["calls"] == 1
