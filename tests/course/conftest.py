"""Fixtures for learners, in a plain process and in a kernel; figures are closed after each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pytest

from course.notebook import catalog, session

from ..support.acting_lesson import LESSON as ACTS
from ..support.learner import BEGIN, Learner
from ..support.learner_kernel import Kernel, running_kernel


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    """Close all figures: pyplot keeps them, and warns from the twentieth on."""
    yield
    plt.close("all")


@pytest.fixture(autouse=True)
def no_lesson(monkeypatch: pytest.MonkeyPatch) -> None:
    """No lesson has begun; a proof in a test before may have begun one that is gone."""
    session.renew()


@pytest.fixture
def learner(capsys: pytest.CaptureFixture[str]) -> Learner:
    """A learner who has not called `begin`."""
    made = Learner(capsys)
    made.run("from course import begin, check, hint, progress\nimport torch")
    return made


@pytest.fixture
def softmax_lesson(learner: Learner) -> Learner:
    learner.run("begin('02_softmax')")
    return learner


@pytest.fixture
def acting(learner: Learner, acting_data: Path, monkeypatch: pytest.MonkeyPatch) -> Learner:
    """A learner who has begun that lesson."""
    monkeypatch.setattr(catalog, "EXAMPLES", acting_data)
    learner.run(f"from course import predict, solution\nbegin({ACTS!r})\nscores = torch.tensor([1.0, 2.0, 3.0])")
    return learner


@pytest.fixture(scope="module")
def shared_kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    with running_kernel(tmp_path_factory.mktemp("kernel")) as started:
        yield started


@pytest.fixture
def kernel(shared_kernel: Kernel) -> Kernel:
    """A kernel at the start of lesson 02, without any answer."""
    names = "softmax log_softmax softmax_with_temperature entropy"
    shared_kernel.run(f"for name in '{names}'.split(): globals().pop(name, None)")
    shared_kernel.run("import course.notebook.session as s; s.renew(); del s")
    shared_kernel.run(f"get_ipython().history_manager.input_hist_raw[:] = ['']\n{BEGIN}")
    return shared_kernel


@pytest.fixture
def displayed(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What was displayed in IPython, in order: mime bundles and widgets."""
    shown: list[Any] = []
    plt.switch_backend("agg")  # now, since matplotlib's first figure in a process looks for a shell
    monkeypatch.setattr("IPython.get_ipython", object)
    monkeypatch.setattr("IPython.display.display", lambda data, raw=False: shown.append(data))
    return shown
