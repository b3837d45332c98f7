"""What the package ships for notebooks that are not solved yet answers no exercise, however it is taken."""

from __future__ import annotations

import functools
import pkgutil
import threading
from importlib import import_module

import pytest
from torch import nn

import course
from course.harness.forbidden_calls import PACKAGE
from course.harness.runner import observe
from course.models.right_functions import lesson_03, lesson_05, lesson_09, lesson_11, lesson_12
from course.shipped import answers_an_exercise
from grading.exercises.lesson import load_lesson
from grading.grader.local import grade_in_process
from grading.grader.references import judge_case, prepare
from grading.grader.source_analysis import NotebookSource

from ..support.repository import LESSONS, ROOT, of_this_week


def public_names():
    """Every public function and class of the package, as (module, name, value), once."""
    found = {}
    for module in pkgutil.walk_packages(course.__path__, f"{PACKAGE}."):
        for name, value in vars(import_module(module.name)).items():
            ours = str(getattr(value, "__module__", "")).startswith(f"{PACKAGE}.")
            if ours and callable(value) and not name.startswith("_"):
                found.setdefault(id(value), (module.name, name, value))
    return list(found.values())


def test_every_public_name_of_the_package_is_refused_or_answers_nothing_by_its_name():
    refused = 0
    for module, name, _ in public_names():
        harmless = not answers_an_exercise([*module.split(".")[1:], name])
        for code in (
            f"from {module} import {name} as f",
            f"import {module}\nf = {module}.{name}",
            f"import {module} as m\ndef f(*given): return m.{name}(*given)",
        ):
            assert harmless or NotebookSource([code]).not_allowed("f", [PACKAGE]), code
        refused += not harmless
    assert refused > 100


@pytest.mark.full("tries every name of the package in the exercises of a lesson")
@pytest.mark.parametrize("lesson", of_this_week(LESSONS, 2))
def test_no_public_name_of_the_package_earns_a_point(lesson):
    """While it runs, for the source could be hidden; and what may be named in an answer earns none at all."""
    for exercise in load_lesson(ROOT / "grader_tests" / lesson).all_exercises.values():
        cases = prepare(exercise, 3)
        for module, name, value in public_names():
            earned = set(range(len(exercise.criteria)))
            for prepared in cases:
                if prepared.criterion in earned:
                    seen = observe(prepared.program(exercise.forbidden), {exercise.name: value})
                    if seen.used or (seen.raised and "argument" in seen.raised["message"]):
                        break  # all points are lost, or it takes other arguments
                    if judge_case(prepared, seen):
                        earned.remove(prepared.criterion)
            else:
                assert not earned, (exercise.name, module, name)


class Subclass(lesson_12.CrossAttention):
    pass


class Inside(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.inner = lesson_12.CrossAttention(d_model, n_heads)
        for letter in "qkvo":
            self.add_module(f"W_{letter}", self.inner.get_submodule(f"W_{letter}"))

    def forward(self, *given, **named):
        return self.inner(*given, **named)


def in_a_thread(function):
    def answer(*given, **named):
        found = []
        thread = threading.Thread(target=lambda: found.append(function(*given, **named)))
        thread.start()
        thread.join()
        return found[0]

    return answer


def rewrapped(function):
    """The function behind another one that takes its name."""
    return functools.wraps(function)(lambda *given, **named: function(*given, **named))


MASK = lesson_05.causal_mask
TAKEN = {
    "embed: the function": lesson_03.embed,
    "attention: the function": lesson_03.attention,
    "attention: a call of it": lambda *given: lesson_03.attention(*given),
    "attention: in a thread": in_a_thread(lesson_03.attention),
    "attention: wrapped": rewrapped(lesson_03.attention),
    "attention: a part of it": functools.partial(lesson_03.attention),
    "causal_mask: the function": MASK,
    "causal_mask: a step more": lambda *given, **named: MASK(*given, **named) & True,
    "cache_bytes: no tensor in sight": lesson_09.cache_bytes,
    "qk_circuit: renamed": rewrapped(lesson_11.qk_circuit),
    "CrossAttention: the class": lesson_12.CrossAttention,
    "CrossAttention: a subclass": Subclass,
    "CrossAttention: a part of a module": Inside,
    "CrossAttention: made by a function": lambda *given: lesson_12.CrossAttention(*given),
}


@pytest.mark.quick_cases("causal_mask: the function")
@pytest.mark.parametrize("taken", TAKEN)
def test_what_is_taken_is_seen_while_it_runs(taken):
    name = taken.partition(":")[0]
    lesson = next(lesson for lesson in LESSONS if (ROOT / "grader_tests" / lesson / name).is_dir())
    exercise = load_lesson(ROOT / "grader_tests" / lesson).exercises[name]
    verdict = grade_in_process(exercise, {name: TAKEN[taken]}, seed=2)
    assert (verdict.status, verdict.earned) == ("not allowed", 0)
    assert all(used.startswith("course.models.right_functions.") for used in verdict.not_allowed)


@pytest.mark.parametrize(
    "code",
    [
        "from course.models.right_functions.lesson_03 import attention",
        "from course.models.right_functions.lesson_03 import *",
        "from course.models.right_functions import lesson_03 as t\ndef attention(q, k, v): return t.attention(q, k, v)",
        "import course.models as m\ndef attention(q): return m.right_functions.right_function('03', 'attention')(q)",
        "import course\ndef attention(q, k, v): return getattr(course, 'gpt').masked_attention(q, k, v)",
        "from course.notebook.session import current\ndef attention(q): return current().stand_ins.given(q)",
        "from course.models.right_functions.lesson_03 import attention as t\nf = t\ndef attention(q): return f(q, q)",
        "import importlib\nm = importlib.import_module('course.models.gpt')\nattention = m.masked_attention",
        "m = __import__('course' + '.models.gpt')\nattention = m.models.gpt.masked_attention",
        "import sys\ndef attention(q, k, v): return sys.modules['course.models.gpt'].masked_attention(q, k, v)",
        "def attention(q, k, v):\n    from course.checkers import values\n    return values.anything(q)",
        "def attention(q, k, v): return check.__globals__['right_function_for'](q)",
        "from course import gpt\nclass attention(gpt.Heads): pass",
        "def attention(q, k, v): return q\nfrom course.models.right_functions.lesson_03 import attention",
    ],
)
def test_what_is_taken_is_read_in_the_source(code):
    assert NotebookSource([code], ["embed", "attention"]).not_allowed("attention", [PACKAGE])


@pytest.mark.parametrize(
    "code",
    [
        "from course import gpt\ndef f(m: gpt.GPT) -> gpt.GPT:\n    assert isinstance(m, gpt.GPT)\n    return m",
        "from course import gpt\ncheckpoint, sizes, letters = gpt.load_bundled_model()\ndef f(x): return sizes.n_heads",
        "from course import figures\ndef f(x):\n    figures.show(x)\n    return x",
        "from course.models.right_functions.lesson_03 import attention\nshown = attention(1, 2, 3)\ndef f(x): return x",
        "from course import check\ndef f(x): return x\npoints = check(f)",
        "import torch\ndef f(x):\n    '''As course.models.gpt does.'''\n    return x.to(getattr(torch, 'float32'))",
        "def f(x): return getattr(x, 'real' if x.is_complex() else 'data')",
    ],
)
def test_what_an_answer_may_name_of_the_package_is_left_alone(code):
    assert not NotebookSource([code], ["g", "f"]).not_allowed("f", [PACKAGE, "softmax"])


@pytest.mark.full
@pytest.mark.parametrize("lesson", LESSONS)
def test_right_answers_use_nothing_of_it(lesson):
    """Sample models are called as they are given: functions, closures and modules."""
    for exercise in load_lesson(ROOT / "grader_tests" / lesson).all_exercises.values():
        for right in exercise.alternatives[:2]:
            for prepared in prepare(exercise, 3):
                seen = observe(prepared.program(exercise.forbidden), {exercise.name: right.load()})
                assert not seen.used, (exercise.name, right.name, seen.used)
