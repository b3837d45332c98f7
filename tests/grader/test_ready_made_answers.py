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
from course.models import torch_fallbacks
from course.notebook.answer_or_fallback import AnswerOrFallback
from course.shipped import answers_an_exercise
from grading.exercises.lesson import load_lesson
from grading.grader.local import grade_in_process
from grading.grader.references import judge_case, prepare
from grading.grader.source_analysis import NotebookSource

from ..support.repository import LESSONS, ROOT


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


@pytest.mark.full("tries every name of the package in every exercise")
@pytest.mark.parametrize("lesson", LESSONS)
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


class Subclass(torch_fallbacks.CrossAttention):
    pass


class Inside(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.inner = torch_fallbacks.CrossAttention(d_model, n_heads)
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


MASK = torch_fallbacks.causal_mask
TAKEN = {
    "project_qkv: the function": torch_fallbacks.projections,
    "attention: the function": torch_fallbacks.attention,
    "attention: a call of it": lambda *given: torch_fallbacks.attention(*given),
    "attention: in a thread": in_a_thread(torch_fallbacks.attention),
    "attention: wrapped": rewrapped(torch_fallbacks.attention),
    "attention: a part of it": functools.partial(torch_fallbacks.attention),
    "attention: by `use`": AnswerOrFallback(lambda: None, torch_fallbacks.attention, False),
    "causal_mask: the function": MASK,
    "causal_mask: a step more": lambda *given, **named: MASK(*given, **named) & True,
    "cache_bytes: no tensor in sight": torch_fallbacks.cache_bytes,
    "qk_circuit: under another name": torch_fallbacks.circuit,
    "CrossAttention: the class": torch_fallbacks.CrossAttention,
    "CrossAttention: a subclass": Subclass,
    "CrossAttention: a part of a module": Inside,
    "CrossAttention: made by a function": lambda *given: torch_fallbacks.CrossAttention(*given),
}


@pytest.mark.quick_cases("causal_mask: the function")
@pytest.mark.parametrize("taken", TAKEN)
def test_what_is_taken_is_seen_while_it_runs(taken):
    name = taken.partition(":")[0]
    lesson = next(lesson for lesson in LESSONS if (ROOT / "grader_tests" / lesson / name).is_dir())
    exercise = load_lesson(ROOT / "grader_tests" / lesson).exercises[name]
    verdict = grade_in_process(exercise, {name: TAKEN[taken]}, seed=2)
    assert (verdict.status, verdict.earned) == ("not allowed", 0)
    assert all(used.startswith("course.models.torch_fallbacks.") for used in verdict.not_allowed)


@pytest.mark.parametrize(
    "code",
    [
        "from course.ready_made import attention",
        "from course.models.torch_fallbacks import *",
        "from course import torch_fallbacks\ndef attention(q, k, v): return torch_fallbacks.attention(q, k, v)",
        "import course\ndef attention(q, k, v): return course.torch_fallbacks.attention(q, k, v)",
        "import course\ndef attention(q, k, v): return getattr(course, 'torch_fallbacks').attention(q, k, v)",
        "from course import torch_fallbacks, use\nattention = use(attention, torch_fallbacks.attention)",
        "from course import torch_fallbacks as t\nhelp = t.attention\ndef attention(q, k, v): return help(q, k, v)",
        "import importlib\nm = importlib.import_module('course.ready_made')\nattention = m.attention",
        "m = __import__('course' + '.ready_made')\nattention = m.ready_made.attention",
        "import sys\ndef attention(q, k, v): return sys.modules['course.ready_made'].attention(q, k, v)",
        "def attention(q, k, v):\n    from course.checkers import values\n    return values.anything(q)",
        "def attention(q, k, v): return check.__globals__['torch_fallbacks'](q)",
        "from course import gpt\nclass attention(gpt.Heads): pass",
        "def attention(q, k, v): return q\nfrom course.ready_made import attention",
    ],
)
def test_what_is_taken_is_read_in_the_source(code):
    assert NotebookSource([code], ["simple_attention", "attention"]).not_allowed("attention", [PACKAGE])


@pytest.mark.parametrize(
    "code",
    [
        "from course import gpt\ndef f(m: gpt.GPT) -> gpt.GPT:\n    assert isinstance(m, gpt.GPT)\n    return m",
        "from course import gpt\ncheckpoint, sizes, letters = gpt.load_bundled_model()\ndef f(x): return sizes.n_heads",
        "from course import figures\ndef f(x):\n    figures.show(x)\n    return x",
        "from course import torch_fallbacks, use\ng2 = use(g, torch_fallbacks.attention)\ndef f(x): return g2(x)",
        "from course import torch_fallbacks\nshown = torch_fallbacks.attention(1, 2, 3)\ndef f(x): return x",
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
