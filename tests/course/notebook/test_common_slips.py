"""What a learner does by mistake in a notebook is told: what happened, and what to do. In a real kernel."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

import pytest

from course.notebook.catalog import lessons

from ...support.learner_kernel import Kernel, running_kernel
from ...support.repository import ROOT

BEGIN = "import course\nfrom course import begin, check, figures, hint, progress, sliders\nbegin('02_softmax')"
RIGHT = """
def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
"""
WRONG = RIGHT.replace("amax(dim", "amax(0").replace("sum(dim", "sum(0")


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    with running_kernel(tmp_path_factory.mktemp("kernel")) as kernel:
        yield kernel


@pytest.fixture
def kernel(started: Kernel) -> Kernel:
    """A kernel as after a restart and the first cell of lesson 02."""
    started.run("""
        import torch, course.notebook.session
        course.notebook.session.renew()
        for name in "softmax log_softmax softmax_with_temperature entropy sofmax Softmax".split():
            globals().pop(name, None)
    """)
    started.run(f"get_ipython().history_manager.input_hist_raw[:] = ['']\n{BEGIN}")
    return started


def said(kernel: Kernel, code: str) -> str:
    """The words of the report that a cell shows."""
    shown = kernel.run(code)
    assert shown.error is None
    plain = re.sub(r"<style>.*?</style>|<[^>]*>", "", shown.html + shown.markdown, flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(plain))


# ------------------------------------------------------------------------------------------- what ran, and what did not


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (RIGHT.replace("-1):", "-1)"), "Python cannot read its line 2 (expected ':')"),
        (RIGHT.replace("    return", "return"), "Python cannot read its line 4 ('return' outside function)"),
    ],
)
def test_a_cell_that_python_could_not_read_is_told_of(kernel, broken, why):
    kernel.run(WRONG)
    assert kernel.run(broken).error
    text = said(kernel, "check(softmax)")
    assert f"The cell with softmax did not run: {why}. Fix it and run it again. This check is of your" in text
    kernel.run(RIGHT)
    assert "did not run" not in said(kernel, "check(softmax)")


def test_a_cell_that_failed_before_it_came_to_the_function_is_told_of(kernel):
    kernel.run(RIGHT)
    assert kernel.run(f"import nunpy\n{WRONG}").error
    text = said(kernel, "check(softmax)")
    assert text.startswith("☑ softmax: ")
    assert "The last cell with softmax stopped with an error before it defined softmax. Run it again and read" in text


def test_an_answer_that_never_ran_is_told_so_and_not_that_nothing_was_written(kernel):
    assert kernel.run(RIGHT.replace("-1):", "-1)")).error
    text = said(kernel, "check(softmax)")
    assert "did not run" in text
    assert "Nothing was checked." in text
    assert "Write it in the cell above" not in text


@pytest.mark.parametrize(
    "code",
    [
        RIGHT,
        f"%time 1\n{RIGHT}",
        "import functools\ndef keep(f):\n    @functools.wraps(f)\n    def g(*a, **k): return f(*a, **k)\n"
        f"    return g\n@keep{RIGHT}",
        RIGHT.replace("softmax", "mine") + "\nsoftmax = mine",
        "class Softmax:\n    def __call__(self, x, dim=-1):\n        e = (x - x.amax(dim, keepdim=True)).exp()\n"
        "        return e / e.sum(dim, keepdim=True)\nsoftmax = Softmax()",
    ],
)
def test_of_what_ran_nothing_is_said(kernel, code):
    kernel.run(WRONG)
    assert kernel.run(code).error is None
    text = said(kernel, "check(softmax)")
    assert text.startswith("☑ softmax: ")
    assert "cell with" not in text


def test_a_slip_in_a_part_of_what_is_wrong_comes_after_the_wrong_result(kernel):
    kernel.run("begin('14_tokens_and_choices')\ndef min_p(logits, p): return logits @ logits.T")
    headline, _, rest = said(kernel, "check(min_p)").partition(" Also: ")
    assert "ValueError" not in headline
    assert rest.startswith("you do not raise ValueError for every argument that the exercise rules out.")


# -------------------------------------------------------------------------------------------------- what check is given


def test_the_result_of_a_call_is_told_from_the_function(kernel):
    kernel.run(RIGHT)
    text = said(kernel, "check(softmax(torch.zeros(3)))")
    assert "check got the result of softmax, a Tensor, but it calls the function itself. Write check(softmax)." in text


def test_what_is_no_function_is_told_of(kernel):
    assert "check expected a function, as in check(softmax), but got an int." in said(kernel, "check(3)")
    assert "'rope' is not an exercise of lesson 02_softmax" in said(kernel, "check('rope')")


def test_a_name_in_quotation_marks_is_checked_and_told_of(kernel):
    kernel.run(RIGHT)
    text = said(kernel, "check('softmax')")
    assert text.startswith("☑ softmax: ")
    assert "write check(softmax), without quotation marks" in text


def test_a_function_with_a_slip_in_its_name_is_found(kernel):
    kernel.run(RIGHT.replace("softmax", "sofmax"))
    assert "You have defined sofmax, but the exercise is called softmax. Rename it" in said(kernel, "check(softmax)")
    assert "There is no exercise sofmax. If you mean softmax, rename it" in said(kernel, "check(sofmax)")


def test_a_name_that_was_given_away_is_told_of(kernel):
    text = said(kernel, "entropy = 3.5\ncheck(entropy)")
    assert "entropy is now a float, not a function: another cell has assigned to its name." in text


@pytest.mark.parametrize(
    "slip", ["check = 1", "figures = []", "sliders = 1", "from math import exp as begin", "def hint(f): pass"]
)
def test_a_name_of_the_courses_that_is_given_away_comes_back_and_is_told_of(kernel, slip):
    name = re.search(r"check|figures|sliders|begin|hint", slip)[0]
    text = said(kernel, slip)
    assert text.startswith(f"**`{name}` belongs to the lesson.** This cell replaced it with a value of type ")
    assert kernel.run(f"{name} is course.{name}").value == "True"
    assert said(kernel, "1") == ""


# --------------------------------------------------------------------------------------------------------- a restart


@pytest.mark.parametrize("lesson", lessons())
def test_a_lesson_says_at_its_first_check_what_to_do_about_a_name_error(lesson):
    text = (ROOT / "source" / f"{lesson}.py").read_text(encoding="utf-8")
    before, first = re.split(r"^check\((.*)$", text, maxsplit=1, flags=re.MULTILINE)[:2]
    assert re.search(r"NameError\b.*\b[Rr]un the (notebook's )?first cell", before + first)
