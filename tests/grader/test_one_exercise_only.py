"""A wrong answer costs points in its own exercise only.

A third of the known mistakes of one exercise, drawn for each run, are crossed with right answers to the others: with
every one that calls it, and with one that stands alone, in turn through the others and their alternatives.
"""

from __future__ import annotations

import random
import re
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import psutil
import pytest

from course.harness.runner import observe
from grading.exercises.lesson import load_lesson
from grading.grader.follow_through import grade_and_follow
from grading.grader.source_analysis import NotebookSource
from grading.grader.verdict import ExerciseVerdict
from grading.proof import run_lesson_code
from grading.proof.mutation_runs import lost_criteria

from ..support.repository import LESSONS, ROOT, of_this_week

# Right answers that call earlier exercises, where the lesson's own solution does not
CALLING = {
    "01_dot_products": {
        "cosine_similarity": """
def cosine_similarity(a, b):
    def cosine(u, v):
        return dot(u, v) / (dot(u, u).sqrt() * dot(v, v).sqrt())

    a, b = torch.broadcast_tensors(a, b)
    width = a.shape[-1]
    pairs = zip(a.reshape(-1, width), b.reshape(-1, width), strict=True)
    return torch.stack([cosine(u, v) for u, v in pairs]).reshape(a.shape[:-1])
""",
        "similarity_scores": """
def similarity_scores(queries, keys):
    if queries.ndim > 2:
        return torch.stack([similarity_scores(q, k) for q, k in zip(queries, keys, strict=True)])
    return torch.stack([torch.stack([dot(query, key) for key in keys]) for query in queries])
""",
    },
    "02_softmax": {
        "softmax_with_temperature": """
def softmax_with_temperature(x, temperature, dim=-1):
    return log_softmax(x / temperature, dim).exp()
""",
    },
}


class Notebook:
    """A lesson with right answers to everything, of which any can be taken out for another."""

    def __init__(self, lesson: str) -> None:
        self.lesson = load_lesson(ROOT / "grader_tests" / lesson)
        self.names, cells = run_lesson_code(ROOT, lesson)
        for code in CALLING.get(lesson, {}).values():
            exec(code, self.names)
        self.cells = cells | CALLING.get(lesson, {})
        self.source = NotebookSource(self.cells.values(), self.cells)

    @contextmanager
    def answered(self, name: str, answer: object) -> Iterator[None]:
        before = self.names[name]
        self.names[name] = answer
        try:
            yield
        finally:
            self.names[name] = before

    def judged(self, exercise, earlier=()):
        """The wire is left out: test_graders sends every answer over it."""

        def ask(programs):
            return (observe(program, self.names) for program, _ in programs)

        return grade_and_follow(exercise, ask, self.source, earlier)


@cache
def notebook(lesson: str) -> Notebook:
    return Notebook(lesson)


EXERCISES = [(lesson, name) for lesson in LESSONS for name in load_lesson(ROOT / "grader_tests" / lesson).exercises]


@pytest.fixture(autouse=True)
def bounded() -> Iterator[None]:
    """Memory has an end, as in a kernel: there are mistakes whose result grows with every call of who calls them."""
    before, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (psutil.Process().memory_info().vms + 2 * 2**30, most))
    yield
    resource.setrlimit(resource.RLIMIT_AS, (before, most))


@pytest.mark.quick_cases("02_softmax-log_softmax")
@pytest.mark.parametrize(("lesson", "name"), of_this_week(EXERCISES, 4, always=[("02_softmax", "log_softmax")]))
def test_a_mistake_costs_points_in_its_own_exercise_only(lesson, name):
    book = notebook(lesson)
    exercises = book.lesson.exercises
    exercise, others = exercises[name], [e for e in exercises.values() if e.name != name]
    callers = [e for e in others if name in book.source.reachable(e.name)]
    followed = {caller.name: 0 for caller in callers}
    lost = ExerciseVerdict(name, exercise.points, 0.0, "wrong")  # that each mistake loses is shown in test_graders
    for turn in range(random.randrange(3), len(exercise.mistakes), 3):
        mistake = exercise.mistakes[turn]
        with book.answered(name, mistake.load()):
            for caller in callers:
                verdict = book.judged(caller, [(exercise, lost)])
                assert verdict.earned == caller.points, f"{mistake.name} costs points in {caller.name}"
                followed[caller.name] += verdict.followed_through == [name]
            alone = others[turn % len(others)]
            called = re.compile(rf"\b({'|'.join(e.name for e in exercises.values() if e is not alone)})\(")
            standing = [right for right in alone.alternatives if not called.search(right.code)]
            with book.answered(alone.name, standing[turn % len(standing)].load()):
                assert not any(lost_criteria(alone, book.names, seed=0)), f"{mistake.name} costs points in {alone.name}"
    # Callers that no mistake reaches would prove nothing
    assert all(followed.values()), followed


@pytest.mark.quick_cases("02_softmax")
@pytest.mark.parametrize("lesson", LESSONS)
def test_the_answers_that_are_crossed_are_right(lesson):
    book = notebook(lesson)
    for exercise in book.lesson.exercises.values():
        assert book.judged(exercise).earned == exercise.points, exercise.name
