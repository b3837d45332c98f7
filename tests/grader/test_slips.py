"""A slip in one respect costs what judges that respect, and leaves what is right its points."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial, update_wrapper

import pytest
import torch

from grading.exercises.lesson import load_lesson
from grading.grader.local import grade_in_process
from grading.grader.references import prepare

from ..support.repository import ROOT

LESSONS = ["01_dot_products", "02_softmax", "03_queries_keys_values", "04_scaling"]
EXERCISES = [(lesson, name) for lesson in LESSONS for name in load_lesson(ROOT / "grader_tests" / lesson).exercises]
NO_BATCHES = {"dot": 1, "cosine_similarity": 1, "embed": 1, "entropy": 1} | dict.fromkeys(
    ("softmax", "log_softmax", "softmax_with_temperature"), 1
)


def each(value, change):
    if isinstance(value, (tuple, list)):
        return type(value)(each(v, change) for v in value)
    return change(value) if isinstance(value, torch.Tensor) else value


def afterwards(change):
    return lambda right, *args, **kwargs: each(right(*args, **kwargs), change)


def only(accepts, looks_at=slice(None)):
    def call(right, *args, **kwargs):
        if not all(accepts(a) for a in args[looks_at] if isinstance(a, torch.Tensor)):
            raise RuntimeError("an answer that was not made for this")
        return right(*args, **kwargs)

    return call


SLIPS = {
    "float64 always": afterwards(lambda t: t.double() if t.is_floating_point() else t),
    "float32 always": afterwards(lambda t: t.float() if t.is_floating_point() else t),
    "int32": afterwards(lambda t: t if t.is_floating_point() else t.int()),
    "no float64": only(lambda t: t.dtype != torch.float64),
    "no strides": only(torch.Tensor.is_contiguous),
}


@cache
def rules(lesson, name):
    """The exercise, without what is asked where no derivative exists: an oracle says "here" by a gradient of NaN."""
    found = load_lesson(ROOT / "grader_tests" / lesson).exercises[name]

    def anything(draw, cases):
        return (replace(case, options=replace(case.options, nonfinite="any")) for case in cases(draw))

    return replace(found, criteria=[replace(c, draw=partial(anything, cases=c.draw)) for c in found.criteria])


def slipped(right, slip):
    """The right answer with a slip in each call of it; of a class, in each call of its `forward`."""
    if isinstance(right, type):
        return type(
            right.__name__, (right,), {"forward": lambda self, *a, **k: slip(partial(right.forward, self), *a, **k)}
        )
    return update_wrapper(partial(slip, right), right)


def lost(lesson, name, answer):
    """The criteria, and the points, that an answer loses."""
    exercise = rules(lesson, name)
    known = load_lesson(ROOT / "grader_tests" / lesson)
    names = {n: e.answer for n, e in known.exercises.items()} | {name: answer}
    verdict = grade_in_process(exercise, names, lesson=known, lenient=True)
    return [c.name for c in verdict.criteria if c.status != "right"], exercise.points - verdict.earned


@pytest.mark.quick_cases("02_softmax-softmax-*")
@pytest.mark.parametrize("slip", SLIPS.values(), ids=SLIPS)
@pytest.mark.parametrize(("lesson", "name"), EXERCISES)
def test_a_slip_of_form_costs_one_criterion_at_most(lesson, name, slip):
    names, points = lost(lesson, name, slipped(rules(lesson, name).answer, slip))
    assert len(names) <= 1, names
    assert points <= 0.5


@pytest.mark.quick_cases("01_dot_products-dot")
@pytest.mark.parametrize(("lesson", "name"), EXERCISES)
def test_an_answer_without_batches_earns_half_at_least(lesson, name):
    plain = NO_BATCHES.get(name, 2)
    names, points = lost(lesson, name, slipped(rules(lesson, name).answer, only(lambda t: t.ndim <= plain, slice(1))))
    assert points <= rules(lesson, name).points / 2, names


def test_a_plain_number_for_a_tensor_costs_its_form_and_the_gradients():
    lesson, name = "01_dot_products", "dot"
    names, _ = lost(lesson, name, slipped(rules(lesson, name).answer, afterwards(torch.Tensor.item)))
    assert [n for n in names if "float64 stays" not in n and "gradient" not in n] == []


def test_every_exercise_that_judges_form_shows_it_in_an_example():
    for lesson, name in EXERCISES:
        exercise = rules(lesson, name)
        assert any(c.check_types for c in exercise.criteria), name
        assert any(example.check_types for example in exercise.examples), name


@pytest.mark.parametrize("guard", [1e-9, 1e-8])
def test_a_guard_inside_the_logarithm_costs_only_the_gradients_at_tiny_weights(guard):
    """docs/judging.md: it is no error of the value, in float64 either; a gradient that exists is another matter."""
    names, _ = lost("02_softmax", "entropy", lambda p, dim=-1: -(p * (p + guard).log()).sum(dim))
    assert names == ["gradients at tiny weights, and beside weights of 0"]


ONE_NUMBER = {"dot"}  # exercises whose result has no dimension
NO_TENSOR = {"causal_mask", "last_queries_mask", "sees_the_future", "HeadLayers"}
EVERY = [
    (lesson, name)
    for lesson in ["90_tensors", *LESSONS, "05_causal_mask", "06_multi_head"]
    for name in load_lesson(ROOT / "grader_tests" / lesson).exercises
    if name not in NO_TENSOR
]


@pytest.mark.quick_cases("90_tensors-*")
@pytest.mark.parametrize(("lesson", "name"), [pair for pair in EVERY if pair[1] not in ONE_NUMBER])
def test_a_size_of_1_that_is_squeezed_away_is_seen(lesson, name):
    for dim in ((), (0,), (-1,)):
        names, _ = lost(lesson, name, slipped(rules(lesson, name).answer, afterwards(partial(squeezed, dim=dim))))
        assert names


def squeezed(tensor, dim):
    return tensor.squeeze(*dim) if tensor.ndim else tensor


def on_the_cpu(tensor):
    return tensor.cpu()


@pytest.mark.quick_cases("90_tensors-*")
@pytest.mark.parametrize(("lesson", "name"), EVERY)
def test_a_result_that_is_moved_to_the_cpu_is_seen(lesson, name):
    names, points = lost(lesson, name, slipped(rules(lesson, name).answer, afterwards(on_the_cpu)))
    assert len(names) == 1
    assert points <= rules(lesson, name).points / 2


def changing(ndim):
    def call(right, *args, **kwargs):
        found = each(right(*args, **kwargs), torch.clone)
        for value in (*args, *kwargs.values()):
            if isinstance(value, torch.Tensor) and value.ndim == ndim:
                value.data.add_(1.0) if value.is_floating_point() else value.logical_not_()
        return found

    return call


@pytest.mark.quick_cases("90_tensors-*")
@pytest.mark.parametrize(("lesson", "name"), EVERY)
def test_an_argument_that_is_changed_in_some_cases_is_seen(lesson, name):
    """Of one number of dimensions only, which may be that of no case that was meant for this."""
    exercise = rules(lesson, name)
    prepared = prepare(exercise, 0)
    (judging,) = {p.unchanged for p in prepared}
    given = [v for p in prepared if not p.case.options.raises for v in p.case.inputs.values()]
    for ndim in {v.ndim for v in given if isinstance(v, torch.Tensor)} - {0}:
        names, _ = lost(lesson, name, slipped(exercise.answer, changing(ndim)))
        assert exercise.criteria[judging].name in names
