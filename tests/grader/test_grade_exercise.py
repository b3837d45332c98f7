"""Verdicts on one exercise: points by criterion, diagnosis, follow-through, and what is not the learner's fault."""

from __future__ import annotations

import textwrap

import pytest

from course.check_data import CaseResults
from course.harness.runner import observe
from course.report_html import to_html
from grading.errors import ExerciseError, NoAnswer
from grading.exercises.lesson import load_lesson
from grading.grader.grade_exercise import grade_exercise
from grading.grader.verdict import ExerciseVerdict
from grading.grader.verdict_report import to_report
from grading.proof.practice import Notebook

from ..support.small_lesson import DOUBLE, MISTAKES, judged, written


@pytest.fixture(scope="module")
def lesson(tmp_path_factory):
    return load_lesson(written(tmp_path_factory.mktemp("grader_tests")))


def judged_function(code):
    names = {}
    exec(code, names)
    return names["double"]


def test_a_right_answer_earns_all(lesson):
    verdict = judged(lesson, "double", "def double(x): return x + x")
    assert (verdict.earned, verdict.status) == (2, "right")


def test_partly_right_work_earns_its_criteria(lesson):
    verdict = judged(lesson, "double", "def double(x): return 2 * x.detach()")
    assert (verdict.earned, verdict.status, verdict.mistake) == (1, "partly right", "cuts_the_gradient")
    assert verdict.explanation == "You cut the gradient."


ARGUMENTS = """
@double.criterion("arguments stay as they were", points=1)
def _(draw):
    yield call(draw.normal(4)).does_not_mutate()
"""


@pytest.mark.parametrize("change", ["x.data.zero_()", "x.requires_grad_()"])
def test_an_argument_that_is_changed_in_any_case_costs_the_criterion_about_that(tmp_path, change):
    contract = DOUBLE + ARGUMENTS
    small = load_lesson(written(tmp_path, contract=contract))
    code = f"def double(x):\n    y = x + x\n    if x.ndim == 3: {change}\n    return y"
    verdict = judged(small, "double", code)
    assert [(c.name, c.earned) for c in verdict.criteria] == [
        ("values", 1),
        ("gradients", 1),
        ("arguments stay as they were", 0),
    ]
    assert verdict.criteria[2].stage == "unchanged"
    notebook = Notebook(small.exercises["double"])
    asked = CaseResults()
    asked.run_cases(notebook.practice.cases, {"double": judged_function(code)})
    assert [bool(asked.wrong(g)) for g in notebook.practice.groups(0, asked.findings)] == [False, False, True]


def test_what_the_case_itself_changes_is_no_change(tmp_path):
    changing = """
@double.criterion("twice", points=1)
def _(draw):
    s = Script(x=draw.normal(4))
    s.call(EXERCISE, s.x)
    s.call(method(s.x, "neg_"))
    s.call(EXERCISE, s.x)
    yield s.case()
"""
    contract = DOUBLE.replace("import call", "import EXERCISE, Script, call, method")
    small = load_lesson(written(tmp_path, contract=contract + changing))
    assert judged(small, "double", "def double(x): return x + x").status == "right"


TWO_AT_ONCE = """
    def double(x):
        return x + 2 if len(x) != 3 or x.ndim > 1 else 2 * x.detach()
"""


def test_two_known_mistakes_at_once_are_both_said(lesson):
    verdict = judged(lesson, "double", textwrap.dedent(TWO_AT_ONCE))
    assert (verdict.mistake, verdict.second_mistake, verdict.certain) == ("adds_two", "cuts_the_gradient", True)
    assert verdict.mistake_names == "adds_two + cuts_the_gradient"
    assert verdict.explanation == "(1) You add 2. (2) You cut the gradient."
    assert [c.mistake for c in verdict.criteria] == ["adds_two", "cuts_the_gradient"]
    assert ExerciseVerdict.from_json(verdict.to_json()) == verdict


@pytest.mark.parametrize(
    ("stored", "headline", "advice"),
    [
        ("You add 2. Multiply instead.", "You add 2.", "Multiply instead."),
        ("(1) You add 2. (2) You cut.", "(1) You add 2. (2) You cut.", ""),
    ],
)
def test_an_explanation_without_advice_ends_its_headline_after_a_sentence(stored, headline, advice):
    report = to_report(ExerciseVerdict("double", 2, 0, "wrong", explanation=stored))
    assert (report.headline, report.advice) == (headline, advice)


def test_a_mistake_that_would_lose_more_is_hedged(tmp_path):
    """Known as a mistake that loses both criteria; here one of them is earned."""
    mistakes = (
        MISTAKES
        + '''
double.mistake("adds_three", loses=("values", "gradients")).full_code("""
def double(x):
    return x.detach() + 3
""").feedback("You add 3.")
'''
    )
    lesson = load_lesson(written(tmp_path, mistakes=mistakes))
    verdict = judged(lesson, "double", "def double(x): return x + 3 if x.shape != (3,) else 2 * x")
    assert (verdict.mistake, verdict.certain, verdict.mistake_names) == ("adds_three", False, "adds_three?")
    assert verdict.explanation == "Possibly: you add 3."
    shown = to_report(verdict)
    assert "Possibly: you add 3." in shown.to_text()
    assert "Possibly: you add 3." in to_html(shown)


def test_one_name_covers_the_values_of_its_constant(tmp_path):
    mistakes = """
from .contract import double

right = double.reference_answer('''
def double(x):
    return 2 * x
''')
right.mistake("adds", {"2 * x": "x + NUMBER"}, loses="values").for_each(NUMBER=(2, 5.0, "x * x")).feedback("You add.")
"""
    lesson = load_lesson(written(tmp_path, mistakes=mistakes))
    for number in ("2", "5.0", "x * x"):
        assert judged(lesson, "double", f"def double(x): return x + {number}").mistake_names == "adds"
    assert judged(lesson, "double", "def double(x): return x + 4").mistake_names == ""
    (adds,) = lesson.exercises["double"].mistakes
    assert [one.name for one in adds.all_forms] == ["adds", "adds (NUMBER=5.0)", "adds (NUMBER=x * x)"]


def test_a_judge_tags_what_it_finds(tmp_path):
    """No two runs are alike, and the mistake is named all the same."""
    contract = DOUBLE.replace("import call, exercise", "import call, exercise, tagged").replace(
        "yield call(draw.normal(5))",
        """
    def judge(seen, exact):
        found = seen.values["result"]
        if (found - exact.values["result"]).abs().max() < 1e-3:
            return None
        return tagged("between 0 and 1" if 0 <= found.min() <= found.max() <= 1 else "", "not twice x")

    yield call(draw.normal(5)).check_with(judge)
""",
    )
    mistakes = (
        MISTAKES
        + """
right.mistake("guesses", {"2 * x": "torch.rand_like(x)"}, loses="values", when="between 0 and 1").feedback("You guess.")
"""
    )
    lesson = load_lesson(written(tmp_path, contract=contract, mistakes=mistakes))
    guess = "import torch\ndef double(x): torch.rand(7); return torch.rand(x.shape) + 0 * x"
    assert judged(lesson, "double", guess).mistake_names == "guesses"
    assert judged(lesson, "double", guess.replace("+ 0", "+ 3 + 0")).mistake_names == ""


def test_an_unknown_mistake_is_not_named(lesson):
    verdict = judged(lesson, "double", "def double(x): return 3 * x")
    assert (verdict.status, verdict.mistake) == ("wrong", "")
    assert verdict.section == "Doubling"


def test_a_result_that_cannot_be_sent_is_not_an_answer(lesson):
    code = """
        kind = ValueError
        for _ in range(1100):
            kind = type("Deeper", (kind,), {})

        def double(x):
            raise kind("more bases than an observation may have")
    """
    verdict = judged(lesson, "double", textwrap.dedent(code))
    assert verdict.earned == 0
    assert verdict.criteria[0].finding == "the kernel gave no readable answer"


def test_a_missing_name_and_a_stub_are_not_started(lesson):
    assert judged(lesson, "double", "").status == "not started"
    assert judged(lesson, "double", "def double(x): raise NotImplementedError").status == "not started"


def test_forbidden_functions_cost_all_points(lesson):
    verdict = judged(lesson, "quadruple", "import torch\ndef quadruple(x): return torch.mul(x, 4)")
    assert (verdict.earned, verdict.status) == (0, "not allowed")


def test_one_call_without_an_answer_costs_its_criterion_only(lesson):
    names = {"double": lambda x: x + x}

    def ask(programs):
        for program, _ in programs:
            yield NoAnswer("took longer than 5 seconds") if program.inputs["x"].ndim == 3 else observe(program, names)

    verdict = grade_exercise(lesson.exercises["double"], ask)
    assert verdict.earned == 1
    assert "longer than 5 seconds" in verdict.criteria[0].finding


def test_after_too_many_calls_without_an_answer_the_rest_is_not_run(lesson):
    asked = []

    def ask(programs):
        for program, _ in programs:
            asked.append(program)
            yield NoAnswer("died")

    verdict = grade_exercise(lesson.exercises["double"], ask)
    assert verdict.earned == 0
    assert len(asked) == 3


def test_the_seed_changes_the_cases_and_the_same_seed_gives_the_same(lesson):
    def inputs(seed):
        seen = []

        def ask(programs):
            seen.extend(program.inputs["x"].tolist() for program, _ in programs)
            return (observe(program, {}) for program, _ in programs)

        grade_exercise(lesson.exercises["double"], ask, seed=seed)
        return seen

    assert inputs(1) == inputs(1) != inputs(2)


def test_a_verdict_survives_json(lesson):
    verdict = judged(lesson, "double", "def double(x): return x + 2")
    assert ExerciseVerdict.from_json(verdict.to_json()) == verdict


def test_no_report_tells_a_hidden_value(lesson):
    seen = []

    def ask(programs):
        seen.extend(program for program, _ in programs)
        return (observe(program, {"double": lambda x: x * 0}) for program, _ in programs)

    verdict = grade_exercise(lesson.exercises["double"], ask)
    numbers = {f"{abs(2 * v):.4f}" for p in seen for v in p.inputs["x"].flatten().tolist()}
    assert not any(number in str(verdict.to_json()) for number in numbers)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"contract": DOUBLE.replace(", points=1", "")}, "the criteria of double have no points"),
        ({"contract": DOUBLE.replace("@double.oracle\n", "")}, "no oracle"),
        (
            {"contract": DOUBLE.replace('exercise("double"', 'exercise("twice"')},
            "expected one exercise named double, got 0",
        ),
        ({"mistakes": MISTAKES.replace('loses="gradients"', 'loses="speed"')}, "begins with 'speed', got 0"),
        ({"mistakes": MISTAKES.replace('"cuts_the_gradient"', '"adds_two"')}, "two mistakes are called adds_two"),
        ({"mistakes": MISTAKES.replace('2 * x": "x', '3 * x": "x')}, "got it 0 times"),
        ({"mistakes": MISTAKES.replace('feedback("You add 2.")', 'feedback("")')}, "adds_two has no sentence"),
        ({"mistakes": MISTAKES.replace('"2 * x": "x + 2"', "")}, "equals a right answer"),
    ],
)
def test_an_authors_fault_is_reported(tmp_path, change, message):
    with pytest.raises(ExerciseError, match=message):
        load_lesson(written(tmp_path, **change))


WITH_FORM = """
@double.criterion("float32 stays float32", points=1, check_types=True)
def _(draw):
    yield call(draw.normal(3))
    yield call(draw.normal(3).double())

def is_dense(seen, exact):
    return None if seen.values["result"].dtype == exact.values["result"].float().dtype else "it is not dense"

@double.criterion("a judge of its own", points=1)
def _(draw):
    yield call(draw.normal(3)).check_with(is_dense)

double.example("values", call(__import__("torch").tensor([1.0])))
double.example("form", call(__import__("torch").tensor([1.0])), check_types=True)
"""


def test_a_slip_of_form_costs_the_criterion_of_form_and_nothing_else(tmp_path):
    lesson = load_lesson(written(tmp_path, contract=DOUBLE + WITH_FORM))
    assert judged(lesson, "double", "def double(x): return x + x").earned == 4
    slip = judged(lesson, "double", "def double(x): return 2 * x.double()")
    assert [c.earned for c in slip.criteria] == [1, 1, 0, 1]
    assert slip.criteria[2].finding == "expected dtype float32, got float64"
    assert judged(lesson, "double", "def double(x): return 3 * x.double()").earned == 1
    assert [case.options.check_types for _, case in lesson.exercises["double"].visible()] == [False, True]


def test_form_is_judged_everywhere_where_no_criterion_judges_it(lesson):
    assert judged(lesson, "double", "def double(x): return 2 * x.double()").earned == 0


def test_two_courses_with_a_lesson_of_one_name_do_not_get_each_others_answers(tmp_path):
    one = load_lesson(written(tmp_path / "one"))
    other = load_lesson(written(tmp_path / "other", contract=DOUBLE.replace("return 2 * x", "return x * 2")))
    assert "return 2 * x" in one.exercises["double"].stand_in
    assert "return x * 2" in other.exercises["double"].stand_in


SIZES = """
@double.sizes(points=1, n=(1, 3, 300), scale=(0.5, 1.0, 2.0))
def _(draw, n, scale):
    return call(draw.normal(n, scale=scale))
"""


@pytest.mark.parametrize(
    ("code", "earned", "mistake"),
    [
        ("x + x if len(x) < 300 else x", [1, 1, 0], ""),
        ("x + x if len(x) > 1 else x", [1, 1, 0], ""),
        ("x + 2", [0, 0, 0], "adds_two"),
        ("2 * x.detach() if len(x) < 300 else x", [1, 0, 0], "cuts_the_gradient"),
    ],
)
def test_sizes_cost_their_criterion_and_name_no_mistake(tmp_path, code, earned, mistake):
    small = load_lesson(written(tmp_path, contract=DOUBLE + SIZES))
    code = f"def double(x): return {code}"
    verdict = judged(small, "double", code)
    assert [c.earned for c in verdict.criteria] == earned and verdict.mistake_names == mistake
    notebook = Notebook(small.exercises["double"])
    assert notebook.says({"double": judged_function(code)}) == (f"fails: {mistake}" if mistake else "fails")


def test_the_ladder_has_each_size_at_its_ends(tmp_path):
    small = load_lesson(written(tmp_path, contract=DOUBLE + SIZES))
    (*_, (criterion, cases)) = small.exercises["double"].cases(0)
    assert criterion.name == "the smallest and large sizes, and the ends of each range"
    assert [len(case.inputs["x"]) for case in cases] == [1, 1, 300, 3, 3]


def test_what_is_wrong_in_sizes_alone_may_show_a_slip(tmp_path):
    small = load_lesson(written(tmp_path, contract=DOUBLE + SIZES))
    verdict = judged(small, "double", "def double(x):\n    if len(x) < 300: return x + x")
    assert verdict.explanation.startswith("Your function returns None")
