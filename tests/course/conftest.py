"""Learners, in a plain process and in a kernel. What one test draws is closed before the next."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from matplotlib import pyplot as plt

from course.notebook import session

from ..support.learner import BEGIN, Learner
from ..support.learner_kernel import Kernel, a_running_kernel


@pytest.fixture(autouse=True)
def no_figure_left_open() -> Iterator[None]:
    """Pyplot keeps figures, and warns from the twentieth on."""
    yield
    plt.close("all")


@pytest.fixture
def learner(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Learner:
    """Nothing has begun."""
    monkeypatch.setattr(session, "current", session.Session())
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
    a_kernel.run("import course.notebook.session as s; s.current = s.Session(); del s")
    a_kernel.run(BEGIN)
    return a_kernel
