"""What `check` says, state by state and mistake by mistake, and what it leaves alone."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from course import sample_models
from course.harness.sentences import split_sentence
from course.notebook import catalog
from course.notebook.catalog import lessons
from course.report import MARKS
from grading.authoring.check_data import export_lesson
from grading.exercises.answer_text import GIVEN
from grading.exercises.lesson import load_lesson
from grading.grader.references import practice_cases

from ...support.course_builder import write_grader_tests
from ...support.learner import RIGHT, ROOT, status_line
from ...support.two_exercise_course import GRADER_TESTS


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


@pytest.mark.full
def test_in_a_plain_process_every_state_is_told_by_a_mark_and_a_word(softmax_lesson):
    for status, text in states(softmax_lesson.run).items():
        assert text.startswith(status_line(status))
        assert not re.search(r"[<>]|\x1b", text.splitlines()[0])


def test_in_a_notebook_every_state_is_html_and_told_without_colour(kernel):
    for status, html in states(lambda code: kernel.run(code).html).items():
        mark, word, _ = MARKS[status]
        plain = re.sub(r"<[^>]*>", "", re.sub(r"<style>.*?</style>", "", html, flags=re.S)).strip()
        assert plain.startswith(f"{mark} softmax: ")
        assert f'aria-label="softmax: {word}"' in html


@pytest.mark.full
def test_a_right_answer_earns_all_points_and_is_told_what_it_passes(softmax_lesson):
    text = softmax_lesson.run(f"{RIGHT}\npoints = check(softmax)")
    exercise = load_lesson(ROOT / "grader_tests" / "02_softmax").exercises["softmax"]
    practised = len(practice_cases(exercise))
    assert practised > len(exercise.criteria)
    assert text == f"☑ softmax: 7 of 7 points. 9 examples and {practised} practice cases pass.\n"
    text = softmax_lesson.run("check(softmax, full=True)")
    assert "The grade draws other numbers." in text
    assert text.count("  ✓ ") == len({example.name for example in exercise.examples}) + len(exercise.criteria)
    for criterion in exercise.criteria:
        assert f"  ✓ {criterion.name} ({criterion.points:g} of {criterion.points:g})\n" in text
    assert softmax_lesson.names["points"] == 7.0


def test_an_untouched_exercise_is_told_where_to_write_and_shows_no_error(softmax_lesson):
    text = softmax_lesson.run("points = check(softmax)")
    assert text == "○ softmax: not started. Write it in the cell above, then run this one.\n"
    assert softmax_lesson.names["points"] == 0.0


@pytest.mark.parametrize("stub", ["raise NotImplementedError()", "raise NotImplementedError", ""])
def test_a_stub_is_not_started_and_a_gap_in_torch_is_an_error(kernel, stub):
    shown = kernel.run(f"def softmax(x, dim=-1):\n    {stub or 'return torch.dot(x > 0, x > 0)'}\n\ncheck(softmax)")
    assert (MARKS["not started"][1] in shown.html) == bool(stub)
    if not stub:  # the other NotImplementedError: a dtype that torch's function does not take
        assert "not implemented for" in shown.html


def test_criteria_that_only_the_grade_asks_are_named(learner, tmp_path, monkeypatch):
    contract = GRADER_TESTS["double"][0].replace(
        '"gradients", points=1', '"gradients", points=1, graded_only="a surprise"'
    )
    tests = write_grader_tests(tmp_path / "grader_tests" / "91_kept", {"double": (contract,)})
    for name, data in export_lesson(tests).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    monkeypatch.chdir(tmp_path)
    text = learner.run("begin('91_kept')\ndef double(x):\n    return (2 * x).detach()\ncheck(double, full=True)")
    assert text.startswith(status_line("passes", "double"))
    assert "The grade has further cases of: `gradients`." in text
    assert "further cases" not in learner.run(f"begin('02_softmax')\n{RIGHT}\ncheck(softmax, full=True)")


def test_what_is_not_allowed_is_named_in_any_spelling(softmax_lesson):
    for spelling in ("torch.softmax(x, dim)", "x.softmax(dim)", "torch.nn.functional.softmax(x, dim)"):
        text = softmax_lesson.run(f"def softmax(x, dim=-1): return {spelling}\npoints = check(softmax)")
        assert text.startswith(status_line("not allowed"))
        assert re.search(r"This exercise does not allow `.*softmax`\. Write it yourself\.", text)
        assert softmax_lesson.names["points"] == 0.0


E = "e = (x - x.amax(dim, keepdim=True)).exp()\n    p = e / e.sum(dim, keepdim=True)\n    return "


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("x.exp()", r"expected a tensor, got None$"),
        (E + "p.tolist()", r"expected a tensor, got a list of 3"),
        (E + "(p, p)", r"expected a tensor, got a tuple of 2"),
        (E + "p.sum(dim, keepdim=True)", r"expected shape \(3,\), got \(1,\)"),
        (E + "p.double()", r"expected dtype float32, got float64"),
        (E + "p / 0 * 0", r"expected \[0\.125, 0\.25, 0\.625\]\n +got \[ +nan, +nan, +nan\]"),
        (E + "p + 0.25", r"expected \[0\.125, 0\.25, 0\.625\]\n +got \[0\.375,  0\.5, 0\.875\]"),
        (E + "p.detach()", r"no gradient flows through the result: it was detached"),
        (E + "p[7]", r"your code raised IndexError: index 7 is out of bounds .*\n +line 4 of softmax: return p\[7\]"),
        # several stages missed: the first is shown
        (E + "p.double()[..., :1] + 1", r"expected shape \(3,\), got \(1,\)"),
        (E + "p.detach() + 1", r"expected \[0\.125, 0\.25, 0\.625\]\n"),
    ],
)
def test_a_wrong_answer_is_told_by_the_first_stage_that_it_misses(kernel, body, told):
    shown = kernel.run(f"def softmax(x, dim=-1):\n    {body}\n\ncheck(softmax)")
    details = re.findall(r"<pre>(.*?)</pre>", shown.html, re.S)
    assert re.search(told, re.sub(r"</?mark>", "", details[0]).replace("&#x27;", "'"))


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (
            "def softmax(x): return x",
            "`softmax` has the wrong signature.",
        ),
        ("def softmax(): return 1", "`softmax` has the wrong signature."),
        ("def softmax(x, dim=-1): return exponentials / 2", "`exponentials` is not defined."),
        (
            "def softmax(x, dim=-1): return x.detach().exp().numpy()",
            "You return a NumPy array, but the exercise asks for a tensor.",
        ),
    ],
)
def test_a_slip_that_any_exercise_knows_is_told_once_above_all_rows(softmax_lesson, code, told):
    text = softmax_lesson.run(f"{code}\ncheck(softmax)")
    assert told in text.splitlines()[1]
    assert text.count(told) == 1


@pytest.mark.full
def test_a_module_that_does_not_begin_with_its_parents_init_is_told_so(learner):
    learner.run("begin('04_scaling')")
    text = learner.run("""
        class ScaledDotProductAttention(torch.nn.Module):
            def __init__(self, dropout=0.0):
                self.dropout = torch.nn.Dropout(dropout)
        check(ScaledDotProductAttention)
    """)
    assert "an `nn.Module` must be initialised" in text.splitlines()[1]
    learner.run("begin('02_softmax')")
    learner.run("class softmax(torch.nn.Module):\n    def __init__(self, x, dim=-1): self.x = torch.nn.Linear(1, 1)")
    assert "`super().__init__()`" in learner.run("check(softmax)")


def test_a_slip_that_its_headline_tells_is_not_told_again_beside_its_lines(kernel):
    code = "class softmax(torch.nn.Module):\n    def __init__(self, x, dim=-1): self.x = torch.nn.Linear(1, 1)"
    html = kernel.run(f"{code}\n\ncheck(softmax)").html
    assert html.count("super().__init__()") == 1
    assert "line 2 of softmax.__init__: def __init__" in html


@pytest.mark.full
def test_the_parts_of_a_result_have_the_names_that_the_contract_gives_them(learner):
    learner.run("begin('03_queries_keys_values')")
    right = load_lesson(ROOT / "grader_tests" / "03_queries_keys_values").exercises["attention"].answer
    wrong = {
        "`weights`:\n": lambda *given: (right(*given)[0], 2 * right(*given)[1]),
        "`output`: expected shape": lambda *given: (right(*given)[0][..., :1], right(*given)[1]),
        "`output`: expected a tensor, got None": lambda *given: (None, None),
        "expected a tuple of 2 (`output`, `weights`), got a tensor": lambda *given: right(*given)[0],
        "expected 2 items (`output`, `weights`), got 3 items": lambda *given: (*right(*given), 0),
    }
    for told, answer in wrong.items():
        text = learner.check("attention", answer)
        assert told in text
        assert "result[" not in text


@pytest.mark.full
def test_examples_of_one_name_are_one_row(learner):
    learner.run("begin('08_training')")
    learner.names["learning_rate"] = lambda step, warmup, total, peak, floor=0.0: 7.0
    text = learner.run("check(learning_rate, full=True)")
    exercise = load_lesson(ROOT / "grader_tests" / "08_training").steps["learning_rate"]
    names = [example.name for example in exercise.examples]
    assert len(names) < len(list(exercise.visible()))
    assert [text.count(f"  ✗ {name}") for name in names] == [1] * len(names)


def test_small_numbers_are_shown_beside_what_was_expected(softmax_lesson):
    text = softmax_lesson.run(
        "def softmax(x, dim=-1):\n    e = (x / 2).exp() if x.shape != (3,) else torch.tensor([3.0, 3.0, 4.0]).to(x)\n"
        "    return e / e.sum(dim, keepdim=True)\n"
        "check(softmax)"
    )
    assert "  softmax(torch.tensor([0.0, 0.6931472, 1.609438]))\n" in text
    assert "      expected [0.125, 0.25, 0.625]\n           got [  0.3,  0.3,   0.4]\n" in text


def test_a_result_of_any_length_fits_into_the_report(softmax_lesson):
    text = softmax_lesson.run("def softmax(x, dim=-1): return 'x' * 100_000\npoints = check(softmax, full=True)")
    assert text.splitlines()[1] == "  The result is a str instead of a tensor."
    assert text.splitlines()[3] == "      expected a tensor, got a str"
    assert len(text) < 10_000


def test_a_call_in_a_report_can_be_typed():
    """As a learner would, with torch and the sample models at hand; sizes stand for what is too large to type."""
    typed = 0
    for lesson in lessons():
        for name, data in catalog.exercises_of(lesson).items():
            for case in data["cases"]:
                inputs = list(case["program"]["inputs"].values())
                plain = all(isinstance(value, torch.Tensor) for value in inputs)
                if len(case["program"]["steps"]) > 1 or not plain or not re.match(rf"{name}\([^<]*$", case["text"]):
                    continue
                given: list[Any] = []
                names = {name: lambda *args, given=given, **named: given.extend([*args, *named.values()])}
                exec(case["text"], {**names, "torch": torch, "sample_models": sample_models})
                made = [value for value in given if isinstance(value, torch.Tensor)]
                torch.testing.assert_close(made, inputs, rtol=1e-6, atol=0)
                typed += 1
    assert typed > 60


@pytest.mark.full
@pytest.mark.parametrize("lesson", lessons())
def test_right_answers_of_every_style_pass_and_a_known_mistake_is_named(learner, lesson):
    """Of the mistakes one of each exercise, always the same: tests/proof/test_graders.py has all."""
    learner.run(f"begin({lesson!r})")
    for exercise in load_lesson(ROOT / "grader_tests" / lesson).exercises.values():
        for alternative in exercise.alternatives:
            answer = alternative.exec_in(GIVEN | learner.names)[exercise.name]  # it may call the exercises before it
            report = learner.check(exercise.name, answer)
            assert report.startswith(status_line("passes", exercise.name)), report
        mistake = random.Random(exercise.name).choice(exercise.mistakes)
        report = learner.check(exercise.name, mistake.load())
        said = " ".join(report.split())
        assert "not allowed" in report or split_sentence(mistake.text)[0] in said, f"{mistake.name}: {report}"
        learner.names[exercise.name] = exercise.alternatives[0].load()  # for the exercises that call it


def test_a_criterion_that_fails_costs_its_points_and_shows_what_is_wrong_in_it(softmax_lesson):
    """All examples pass: what is wrong shows on numbers of another size only."""
    text = softmax_lesson.run(f"""{RIGHT}
small = softmax
def softmax(x, dim=-1): return small(x, dim) if x.numel() < 24 else x
points = check(softmax, full=True)""")
    first, later = text.split("  ✗ ", 1)
    exercise = load_lesson(ROOT / "grader_tests" / "02_softmax").exercises["softmax"]
    assert first.count("  ✓ ") == len({example.name for example in exercise.examples})
    assert 0 < softmax_lesson.names["points"] < 7
    assert re.match(r"positive .* \(0 of 1\.5\)\n      softmax\(\(", later)


@pytest.mark.full
def test_a_case_that_the_grade_asks_unchanged_shows_no_expected_value(softmax_lesson, monkeypatch):
    """One could write its result down. Where the grade draws other numbers, the expected value helps and tells none."""
    practice = catalog.practice_of("02_softmax", "softmax")
    wrong = "def softmax(x, dim=-1): return right(x, dim) if x.numel() < 24 else x"
    softmax_lesson.run(f"{RIGHT}\nright = softmax\n{wrong}")
    for drawn in (True, False):
        cases = [replace(case, drawn=drawn) for case in practice.cases]
        monkeypatch.setattr(catalog, "practice_of", lambda *_, cases=cases: replace(practice, cases=cases))
        text = softmax_lesson.run("check(softmax, full=True)")
        assert ("expected " in text) == drawn
        assert ("entries wrong" in text) != drawn


def test_missing_practice_is_told_of(softmax_lesson, monkeypatch, tmp_path):
    whole = (catalog.EXAMPLES / "02_softmax" / "softmax.practice").read_bytes()
    (tmp_path / "02_softmax.examples").write_bytes((catalog.EXAMPLES / "02_softmax.examples").read_bytes())
    monkeypatch.setattr(catalog, "EXAMPLES", tmp_path)
    (tmp_path / "02_softmax").mkdir()
    for damage in (None, b"", b"damaged", whole[:-20], whole[: len(whole) // 3], whole + b"more"):
        if damage is not None:
            (tmp_path / "02_softmax" / "softmax.practice").write_bytes(damage)
        text = softmax_lesson.run(f"{RIGHT}\npoints = check(softmax)")
        said = " ".join(text.split())
        assert "softmax.practice cannot be read" in said
        assert "install the course again" in said


@pytest.mark.full
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
    assert split_sentence(known.text)[0] in " ".join(text.split())
    assert "dtype" in softmax_lesson.run("check(softmax, full=True)")


@pytest.mark.full
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
        for call in ("check(softmax)", "hint(softmax)", "progress()"):
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


@pytest.mark.full
def test_an_answer_that_changes_its_argument_spoils_no_later_check(softmax_lesson):
    spoil = "def softmax(x, dim=-1): return x.fill_(7.0)\ncheck(softmax)"
    first = softmax_lesson.run(spoil)
    assert softmax_lesson.run(spoil) == first
    assert softmax_lesson.run(f"{RIGHT}\ncheck(softmax)").startswith("☑ softmax: ")
