"""What a learner meets: `begin`, `check`, `hint`, `use` and `progress`, in a plain process and in a real kernel."""

from __future__ import annotations

import functools
import random
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from course import checking, specimens
from course.checking import lessons
from course.report import MARKS
from grading.export import practice_cases
from grading.judge.lesson import load_lesson

from .kernels import Kernel, a_running_kernel

ROOT = Path(__file__).parents[2]
RIGHT = """
def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
"""
BEGIN = "import torch\nfrom course import begin, check, hint, progress, use\nbegin('02_softmax')\n"


class Learner:
    """A plain Python process as far as `course` can tell: code runs in a namespace of its own."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys
        self.names: dict[str, Any] = {"__name__": "__main__"}

    def run(self, code: str) -> str:
        """Run code; returns what it printed."""
        self.capsys.readouterr()
        exec(compile(textwrap.dedent(code), "<learner>", "exec"), self.names)
        return self.capsys.readouterr().out

    def check(self, name: str, answer: Any = None) -> str:
        """The report on an exercise; `answer`, if given, is bound to its name first."""
        if answer is not None:
            self.names[name] = answer
        return self.run(f"points = check({name})")


@pytest.fixture
def learner(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Learner:
    """Nothing has begun."""
    monkeypatch.setattr(checking, "notebook", checking.Notebook())
    made = Learner(capsys)
    made.run("from course import begin, check, hint, progress, use\nimport torch")
    return made


@pytest.fixture
def softmax_lesson(learner: Learner) -> Learner:
    learner.run("begin('02_softmax')")
    return learner


@pytest.fixture(scope="module")
def a_kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    with a_running_kernel(tmp_path_factory.mktemp("kernel")) as started:
        yield started


@pytest.fixture
def kernel(a_kernel: Kernel) -> Kernel:
    """The kernel at the start of lesson 02, with nothing written."""
    names = "softmax log_softmax softmax_with_temperature entropy"
    a_kernel.run(f"for name in '{names}'.split(): globals().pop(name, None)")
    a_kernel.run("import course.checking as c; c.notebook = c.Notebook(); del c")
    a_kernel.run(BEGIN)
    return a_kernel


def head(status: str) -> str:
    mark, word, _ = MARKS[status]
    return f"{mark} {word}: "


# -------------------------------------------------------------------------------------------------- begin, lessons


def test_begin_gives_every_exercise_a_placeholder_and_leaves_what_is_there(learner):
    learner.run("def entropy(p, dim=-1): return 7\nbegin('02_softmax')")
    assert learner.names["entropy"](None) == 7
    for name in ("softmax", "log_softmax", "softmax_with_temperature"):
        with pytest.raises(NotImplementedError, match=f"{name} is not written yet"):
            learner.names[name](torch.zeros(3))


def test_begin_leaves_torch_on_one_thread_unless_told_otherwise(learner, monkeypatch):
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        monkeypatch.setenv("OMP_NUM_THREADS", "2")
        learner.run("begin('02_softmax')")
        assert torch.get_num_threads() == 2
        monkeypatch.delenv("OMP_NUM_THREADS")
        learner.run("begin('02_softmax')")
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)


def test_begin_names_the_lessons_that_there_are(learner):
    with pytest.raises(ValueError, match=r"'03_softmax'.*01_dot_products, 02_softmax"):
        learner.run("begin('03_softmax')")


def test_every_lesson_begins_and_its_exercises_are_those_of_the_grader(learner):
    for lesson in lessons():
        learner.run(f"begin({lesson!r})")
        exercises = load_lesson(ROOT / "grader_tests" / lesson).exercises
        assert list(checking.exercises_of(lesson)) == list(exercises)
        assert set(exercises) <= set(learner.names)
        assert sum(e.points for e in exercises.values()) == 20


def test_missing_examples_are_told_of(learner, monkeypatch, tmp_path):
    learner.run(RIGHT)
    monkeypatch.setattr(checking, "EXAMPLES", tmp_path)
    with pytest.raises(FileNotFoundError, match=r"missing from .*install the course again"):
        learner.run("begin('02_softmax')")
    assert "install the course again" in learner.run("points = check(softmax)")
    assert float(learner.names["points"]) == 0.0
    assert "install the course again" in learner.run("hint(softmax)")


def test_damaged_examples_are_told_of(learner, monkeypatch, tmp_path):
    path = tmp_path / "02_softmax.examples"
    path.write_bytes((checking.EXAMPLES / path.name).read_bytes()[:-100])
    monkeypatch.setattr(checking, "EXAMPLES", tmp_path)
    monkeypatch.setattr(checking, "exercises_of", functools.cache(checking.exercises_of.__wrapped__))
    with pytest.raises(ValueError, match=r"02_softmax\.examples cannot be read .*install the course again"):
        learner.run("begin('02_softmax')")


# ------------------------------------------------------------------------------------------------- check: the states


def states(run: Callable[[str], str]) -> dict[str, str]:
    """The report on one exercise in each state."""
    answers = {
        "not started": "",
        "wrong": "def softmax(x, dim=-1): return x.sum()",
        "partly right": "def softmax(x, dim=-1):\n    e = (x - x.max()).exp()\n    return e / e.sum(-1, keepdim=True)",
        "not allowed": "def softmax(x, dim=-1): return torch.nn.Softmax(dim)(x)",
        "passes": RIGHT,
    }
    return {status: run(f"{code}\ncheck(softmax)") for status, code in answers.items()}


def test_in_a_plain_process_every_state_is_told_by_a_mark_and_a_word(softmax_lesson):
    for status, text in states(softmax_lesson.run).items():
        assert text.startswith(head(status) + "softmax, ")
        assert not re.search(r"[<>]|\x1b", text.splitlines()[0])


def test_in_a_notebook_every_state_is_html_and_told_without_colour(kernel):
    for status, html in states(lambda code: kernel.run(code).html).items():
        mark, word, _ = MARKS[status]
        plain = re.sub(r"\s+", " ", re.sub(r"<[^>]*>|&nbsp;", " ", html)).strip()
        assert plain.startswith(f"{mark} {word} softmax")


def test_a_right_answer_earns_all_points_and_is_told_what_it_passes(softmax_lesson):
    text = softmax_lesson.run(f"{RIGHT}\npoints = check(softmax)")
    exercise = load_lesson(ROOT / "grader_tests" / "02_softmax").exercises["softmax"]
    practised = len(practice_cases(exercise))
    assert practised > len(exercise.criteria)
    assert text.startswith(
        f"✓ passes: softmax, 7 of 7 points\n  It passes the examples and {practised} practice cases.\n"
    )
    assert text.rstrip().endswith("The grade draws other numbers.")
    assert text.count("  ✓ ") == len(exercise.examples) + len(exercise.criteria)
    for criterion in exercise.criteria:
        assert f"  ✓ {criterion.name} ({criterion.points:g} of {criterion.points:g})\n" in text
    assert softmax_lesson.names["points"] == 7.0


def test_an_untouched_exercise_is_told_where_to_write_and_shows_no_error(softmax_lesson):
    text = softmax_lesson.run("points = check(softmax)")
    assert "Write it in the cell above" in text
    assert "Error" not in text
    assert softmax_lesson.names["points"] == 0.0


@pytest.mark.parametrize("stub", ["raise NotImplementedError()", "raise NotImplementedError", ""])
def test_a_stub_is_not_started_and_a_gap_in_torch_is_an_error(kernel, stub):
    shown = kernel.run(f"def softmax(x, dim=-1):\n    {stub or 'return (x > 0).softmax(dim)'}\n\ncheck(softmax)")
    assert (MARKS["not started"][1] in shown.html) == bool(stub)
    if not stub:  # the other NotImplementedError: a dtype that torch's function does not take
        assert "not implemented for" in shown.html


def test_what_is_not_allowed_is_named_in_any_spelling(softmax_lesson):
    for spelling in ("torch.softmax(x, dim)", "x.softmax(dim)", "torch.nn.functional.softmax(x, dim)"):
        text = softmax_lesson.run(f"def softmax(x, dim=-1): return {spelling}\npoints = check(softmax)")
        assert text.startswith(head("not allowed"))
        assert re.search(r"Not allowed in this exercise: .*softmax\. Write it yourself\.", text)
        assert softmax_lesson.names["points"] == 0.0


# ------------------------------------------------------------------------------------------------- check: wrong answers

E = "e = (x - x.amax(dim, keepdim=True)).exp()\n    p = e / e.sum(dim, keepdim=True)\n    return "


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("x.exp()", r"the result is None, and must be a tensor; is the `return` missing\?"),
        (E + "p.tolist()", r"the result is a list of 3, and must be a tensor"),
        (E + "(p, p)", r"the result is a tuple of 2, and must be a tensor"),
        (E + "p.sum(dim, keepdim=True)", r"the result has shape \(1,\), and must have \(3,\)"),
        (E + "p.double()", r"the result has dtype float64, and must have float32"),
        (E + "p / 0 * 0", r"the result: 3 / 3 \(100\.0%\) are NaN, first at \(0,\)"),
        (
            E + "p + 0.25",
            r"mismatched elements 3 / 3 \(100\.0%\); greatest difference 0\.25 at \(\d,\) \(allowed \de-0\d\)",
        ),
        (E + "p.detach()", r"no gradient flows through the result: it was detached"),
        (E + "p[7]", r"it raised IndexError: index 7 is out of bounds .*, at the line `return p\[7\]`"),
        # several rungs missed: the first is told
        (E + "p.double()[..., :1] + 1", r"the result has shape"),
        (E + "p.double() + 1", r"mismatched elements"),  # the dtype is told in the example that is about it
        (E + "p.detach() + 1", r"mismatched elements"),
    ],
)
def test_a_wrong_answer_is_told_by_the_first_rung_that_it_misses(kernel, body, told):
    shown = kernel.run(f"def softmax(x, dim=-1):\n    {body}\n\ncheck(softmax)")
    details = re.findall(r"<pre[^>]*>(.*?)</pre>", shown.html, re.S)
    assert re.search(told, details[0].replace("&#x27;", "'"))


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (
            "def softmax(x): return x",
            "The signature of `softmax` is another than the text's: got an unexpected keyword",
        ),
        ("def softmax(): return 1", "The signature of `softmax` is another than the text's: takes 0 positional"),
        ("def softmax(x, dim=-1): return exponentials / 2", "`exponentials` is used and has no value yet"),
        ("def softmax(x, dim=-1): return x.detach().exp().numpy()", "You answer with a NumPy array"),
    ],
)
def test_a_slip_that_any_exercise_knows_is_told_once_above_all_rows(softmax_lesson, code, told):
    text = softmax_lesson.run(f"{code}\ncheck(softmax)")
    assert text.splitlines()[1].strip().startswith(told)
    assert text.count(told) == 1


def test_a_module_that_does_not_begin_with_its_parents_init_is_told_so(learner):
    learner.run("begin('04_scaling')")
    text = learner.run("""
        class ScaledDotProductAttention(torch.nn.Module):
            def __init__(self, dropout=0.0):
                self.dropout = torch.nn.Dropout(dropout)
        check(ScaledDotProductAttention)
    """)
    assert "`__init__`?" in text.splitlines()[1]
    learner.run("begin('02_softmax')")
    learner.run("class softmax(torch.nn.Module):\n    def __init__(self, x, dim=-1): self.x = torch.nn.Linear(1, 1)")
    assert "`__init__` has to begin with `super().__init__()`" in learner.run("check(softmax)").splitlines()[1]


def test_examples_of_one_name_are_one_row(learner):
    learner.run("begin('08_training')")
    text = learner.check("learning_rate", lambda step, warmup, total, peak, floor=0.0: 7.0)
    exercise = load_lesson(ROOT / "grader_tests" / "08_training").exercises["learning_rate"]
    names = [example.name for example in exercise.examples]
    assert len(names) < len(list(exercise.visible()))
    assert [text.count(f"  ✗ {name}") for name in names] == [1] * len(names)


def test_small_numbers_are_shown_beside_what_was_expected(softmax_lesson):
    text = softmax_lesson.run("def softmax(x, dim=-1): return torch.ones_like(x) / x.shape[dim]\ncheck(softmax)")
    assert "      softmax(torch.tensor([0.0, 0.6931472, 1.609438]))\n" in text
    assert "      expected [0.125, 0.25, 0.625]\n           got [0.3333, 0.3333, 0.3333]\n" in text


def test_the_same_words_are_said_once(softmax_lesson):
    text = softmax_lesson.run("def softmax(x, dim=-1): return 'x' * 100_000\ncheck(softmax)")
    assert text.count("the result is a str, and must be a tensor") == 1
    assert text.count("as above") >= text.count("  ✗ ") - 2 > 8
    assert len(text) < 3_000


def test_a_call_in_a_report_can_be_typed():
    """As a learner would, with torch and the course's specimens at hand; sizes stand for what is too large to type."""
    typed = 0
    for lesson in lessons():
        for name, data in checking.exercises_of(lesson).items():
            for case in data["cases"]:
                inputs = list(case["program"]["inputs"].values())
                plain = all(isinstance(value, torch.Tensor) for value in inputs)
                if len(case["program"]["steps"]) > 1 or not plain or not re.match(rf"{name}\([^<]*$", case["text"]):
                    continue
                given: list[Any] = []
                names = {name: lambda *args, given=given, **named: given.extend([*args, *named.values()])}
                exec(case["text"], {**names, "torch": torch, "specimens": specimens})
                made = [value for value in given if isinstance(value, torch.Tensor)]
                torch.testing.assert_close(made, inputs, rtol=1e-6, atol=0)
                typed += 1
    assert typed > 60


@pytest.mark.parametrize("lesson", lessons())
def test_right_answers_of_every_style_pass_and_a_known_mistake_is_named(learner, lesson):
    """Of the mistakes one of each exercise, drawn for each run of the tests: tests/test_graders.py has all."""
    learner.run(f"begin({lesson!r})")
    for exercise in load_lesson(ROOT / "grader_tests" / lesson).exercises.values():
        for alternative in exercise.alternatives:
            report = learner.check(exercise.name, alternative.made())
            assert report.startswith(head("passes") + exercise.name), report
        mistake = random.choice(exercise.mistakes)
        report = learner.check(exercise.name, mistake.made())
        assert "Not allowed" in report or f"\n  {mistake.text}\n" in report, f"{mistake.name}: {report}"


def test_a_criterion_that_fails_costs_its_points_and_tells_what_is_wrong_in_it(softmax_lesson):
    """All examples pass: what is wrong shows on numbers of another size only."""
    text = softmax_lesson.run(f"""{RIGHT}
small = softmax
def softmax(x, dim=-1): return small(x, dim) if x.numel() < 24 else x
points = check(softmax)""")
    first, later = text.split("  ✗ ", 1)
    exercise = load_lesson(ROOT / "grader_tests" / "02_softmax").exercises["softmax"]
    assert first.count("  ✓ ") == len(exercise.examples)
    assert 0 < softmax_lesson.names["points"] < 7
    assert re.match(r"positive .* \(0 of 1\.5\)\n      softmax\(\(.*\n      .*mismatched elements", later)


def test_a_practice_case_shows_no_expected_value(learner):
    """Nor that of any other, since some of the grade's are the same."""
    learner.run("begin('04_scaling')")
    text = learner.check("score_std", lambda query, key: torch.ones(()))
    examples, practice = text.split("  ✗ one set of queries and keys (0 of 1)\n")
    assert "expected " in examples
    assert "expected " not in practice
    assert "the result is far too large" in practice


def test_missing_practice_is_told_of(softmax_lesson, monkeypatch, tmp_path):
    (tmp_path / "02_softmax.examples").write_bytes((checking.EXAMPLES / "02_softmax.examples").read_bytes())
    monkeypatch.setattr(checking, "EXAMPLES", tmp_path)
    for damage in (None, b"damaged"):
        if damage:
            (tmp_path / "02_softmax").mkdir()
            (tmp_path / "02_softmax" / "softmax.practice").write_bytes(damage)
        text = softmax_lesson.run(f"{RIGHT}\npoints = check(softmax)")
        assert "softmax.practice cannot be read" in text
        assert "install the course again" in text


def test_a_mistake_that_explains_most_is_named_where_none_explains_all(softmax_lesson):
    """An answer with a known mistake, and another of its own in one example."""
    text = softmax_lesson.run("""
        def softmax(x, dim=-1):
            if x.dtype == torch.float64:
                return x.float()
            e = (x - x.amax(0, keepdim=True)).exp()
            return e / e.sum(0, keepdim=True)
        check(softmax)
    """)
    exercise = load_lesson(ROOT / "grader_tests" / "02_softmax").exercises["softmax"]
    known = next(m for m in exercise.mistakes if m.name == "normalises_the_first_dimension")
    assert f"\n  {known.text}\n" in text
    assert "dtype" in text


# --------------------------------------------------------------------------------------------------- check: anything

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
def test_check_and_use_never_raise_whatever_they_are_given(kernel, code):
    shown = kernel.run(f"{textwrap.dedent(code)}\ncheck(softmax)")
    assert shown.error is None
    assert shown.value == "0.0"
    assert shown.text == ""
    assert any(f"{mark} {word}" in shown.html for mark, word, _ in MARKS.values())
    assert "softmax</code>" in shown.html, "the exercise is told by the name it is bound to"
    used = kernel.run("mine = use(softmax, torch.softmax)\nprint(mine(torch.zeros(2), -1), mine.whose)\nhint(softmax)")
    assert used.error is None
    assert used.text == "tensor([0.5000, 0.5000]) torch.softmax, until your softmax passes\n"
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
    shown = kernel.run(f"{textwrap.dedent(code)}\ncheck(softmax)")
    assert "softmax</code>" in shown.html
    if "lambda" in code:
        assert "not allowed" in shown.html
        assert shown.value == "0.0"
    else:
        assert shown.value == "7.0"


def test_a_function_that_is_bound_to_another_exercise_answers_that_one(softmax_lesson):
    softmax_lesson.run(RIGHT)
    text = softmax_lesson.run("log_softmax = torch.softmax\ncheck(log_softmax)")
    assert text.startswith("⊘ not allowed: log_softmax")
    assert softmax_lesson.run("check(softmax)").startswith("✓ passes: softmax")


def test_what_is_no_exercise_is_told_so(softmax_lesson):
    text = softmax_lesson.run("def rope(x): return x\npoints = check(rope)")
    assert "'rope' is not an exercise of lesson 02_softmax" in text
    assert softmax_lesson.names["points"] == 0.0


def test_check_works_before_begin(learner):
    assert learner.run(f"{RIGHT}\ncheck(softmax)").startswith("✓ passes: softmax, 7 of 7 points")


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


# --------------------------------------------------------------------------------------------- what check leaves alone


def test_check_leaves_the_learners_world_as_it_was(softmax_lesson):
    softmax_lesson.run("""
        import sys
        calls = []
        def softmax(x, dim=-1):
            print("loud", file=sys.stderr)
            print("loud")
            calls.append((x.dtype, torch.is_grad_enabled(), torch.rand(3)))
            torch.set_default_dtype(torch.float16)
            torch.set_grad_enabled(False)
            return x
        torch.manual_seed(123)
        torch.set_default_dtype(torch.float64)
        torch.set_grad_enabled(False)
    """)
    try:
        before, state = dict(softmax_lesson.names), torch.get_rng_state()
        for call in ("check(softmax)", "use(softmax, torch.softmax)", "hint(softmax)", "progress()"):
            assert ("loud" in softmax_lesson.run(call)) == call.startswith("check"), "which shows what was printed"
            assert torch.equal(torch.get_rng_state(), state)
            assert torch.get_default_dtype() == torch.float64
            assert not torch.is_grad_enabled()
        assert softmax_lesson.names.keys() == before.keys()
        assert all(softmax_lesson.names[name] is value for name, value in before.items())
        dtype, grad, _ = softmax_lesson.names["calls"][0]
        assert (dtype, grad) == (torch.float32, True)
    finally:
        torch.set_default_dtype(torch.float32)
        torch.set_grad_enabled(True)


def test_an_answer_that_changes_its_argument_spoils_no_later_check(softmax_lesson):
    spoil = "def softmax(x, dim=-1): return x.fill_(7.0)\ncheck(softmax)"
    first = softmax_lesson.run(spoil)
    assert softmax_lesson.run(spoil) == first
    assert softmax_lesson.run(f"{RIGHT}\ncheck(softmax)").startswith("✓ passes")


# --------------------------------------------------------------------------------------------- hint, progress, use


@pytest.mark.parametrize("lesson", lessons())
def test_hints_come_in_three_stages_and_the_last_stays(learner, lesson):
    learner.run(f"begin({lesson!r})")
    for name, data in checking.exercises_of(lesson).items():
        shown = [learner.run(f"hint({name})") for _ in range(4)]
        assert len(data["hints"]) == len(set(data["hints"])) == 3
        for stage, (text, hint) in enumerate(zip(shown, data["hints"], strict=False), 1):
            last = " (the last one)" if stage == 3 else ""
            assert text == f"Hint {stage} of 3{last}. {hint}\n".replace("**", "")
        assert shown[3] == shown[2]


def test_a_hint_in_a_notebook_is_formatted(kernel):
    shown = kernel.run("hint(softmax)")
    assert shown.markdown.startswith("**Hint 1 of 3.** ")
    assert shown.text == ""


def test_hints_of_what_is_no_exercise_are_not_to_be_had(softmax_lesson):
    assert "'print' is not an exercise of lesson 02_softmax" in softmax_lesson.run("hint(print)")


def test_progress_follows_the_checks(softmax_lesson):
    assert softmax_lesson.run("progress()").startswith("○ not started: 02_softmax, 0 of 20 points\n  0 of 4 exercises")
    softmax_lesson.run("def entropy(p, dim=-1): return None\ncheck(entropy)")
    assert softmax_lesson.run("progress()").startswith("✗ not right yet: 02_softmax, 0 of 20 points")
    softmax_lesson.run(f"{RIGHT}\ncheck(softmax)")
    text = softmax_lesson.run("progress()")
    assert text.startswith("◐ partly right: 02_softmax, 7 of 20 points\n  1 of 4 exercises pass.")
    assert [line.split(" (")[0] for line in text.splitlines()[2:]] == [
        "  ✓ `softmax`",
        "  ○ `log_softmax`",
        "  ○ `softmax_with_temperature`",
        "  ✗ `entropy`",
        "  ○ Challenge `top_p`",
    ]


def test_progress_is_complete_when_all_exercises_are(learner):
    exercises = load_lesson(ROOT / "grader_tests" / "01_dot_products").exercises
    learner.run("begin('01_dot_products')")
    for exercise in exercises.values():
        learner.check(exercise.name, exercise.alternatives[0].made())
    assert learner.run("progress()").startswith("✓ passes: 01_dot_products, 20 of 20 points\n  4 of 4 exercises pass")


def test_progress_before_begin_says_what_to_do(learner):
    assert 'call begin("02_softmax") first' in learner.run("progress()")


def test_use_gives_the_learners_own_once_it_passes(softmax_lesson):
    softmax_lesson.run("mine = use(softmax, torch.softmax)")
    assert softmax_lesson.names["mine"].whose == "torch.softmax, until your softmax passes"
    softmax_lesson.run(f"{RIGHT}\nmine = use(softmax, lambda x, dim: 1 / 0)")
    mine = softmax_lesson.names["mine"]
    assert mine.whose == "your softmax"
    assert torch.equal(mine(torch.zeros(2), dim=-1), torch.tensor([0.5, 0.5]))


def test_what_is_used_cannot_switch_gradients_off_for_good(softmax_lesson):
    softmax_lesson.run("""
        def softmax(x, dim=-1):
            if x.numel() == 5:
                torch.set_grad_enabled(False)
            e = (x - x.amax(dim, keepdim=True)).exp()
            return e / e.sum(dim, keepdim=True)
        mine = use(softmax, torch.softmax)
    """)
    softmax_lesson.names["mine"](torch.zeros(5), dim=-1)
    assert torch.is_grad_enabled()
    with torch.no_grad():
        softmax_lesson.names["mine"](torch.zeros(2), dim=-1)
        assert not torch.is_grad_enabled()


def test_use_falls_back_where_the_learners_own_fails_later(softmax_lesson):
    for failure in ("raise IndexError", "return None"):
        softmax_lesson.run(f"""
            def softmax(x, dim=-1):
                if x.numel() == 5:
                    {failure}
                e = (x - x.amax(dim, keepdim=True)).exp()
                return e / e.sum(dim, keepdim=True)
            mine = use(softmax, torch.softmax)
        """)
        mine = softmax_lesson.names["mine"]
        assert mine.passes
        assert torch.equal(mine(torch.zeros(5), dim=-1), torch.full((5,), 0.2))
        assert mine.whose == "torch.softmax, until your softmax passes"


def test_use_tells_of_a_stand_in_without_a_name(softmax_lesson):
    softmax_lesson.run("mine = use(softmax, lambda x, dim: x)")
    assert softmax_lesson.names["mine"].whose == "a ready-made function, until your softmax passes"


# --------------------------------------------------------------------------------------------------------- importing


def test_importing_course_brings_little_beyond_torch_and_later_matplotlib():
    steps = ("torch, safetensors.torch", "course", "matplotlib.pyplot", "course.figures, course.interactive")
    code = "import sys\n" + "\n".join(f"import {step}\nprint(*sys.modules)" for step in steps)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd="/")
    stages = [{name.split(".")[0] for name in line.split()} for line in done.stdout.splitlines()]
    needed, course, plain, drawing = stages
    ours = {"course", *sys.stdlib_module_names}
    assert course - needed <= ours, "figures and widgets wait until they are asked for"
    assert drawing - plain <= ours, "widgets wait until there is a kernel"


def test_a_plain_process_gets_the_report_as_text():
    code = f"{BEGIN}{RIGHT}\nprint(check(softmax))\nprogress()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd="/")
    assert done.stdout.startswith("✓ passes: softmax, 7 of 7 points\n")
    assert "\n7.0\n◐ partly right: 02_softmax, 7 of 20 points\n" in done.stdout
    assert done.stderr == ""
