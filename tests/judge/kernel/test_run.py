"""A notebook's course through kernels: what one cell or answer does to them costs no other answer its points."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from grading.exercises.lesson import Lesson, load_lesson
from grading.grader.source_analysis import NotebookSource
from grading.grader.verdict import ExerciseVerdict
from grading.judge.kernel import run as run_module
from grading.judge.kernel.run import NotebookRun
from grading.judge.kernel.session import GRACE, Limits, Session

from ...support.two_exercise_course import DOUBLE, HALVE, LESSON

pytestmark = pytest.mark.slow

EXIT = "import os\nos._exit(3)"
Start = Callable[..., NotebookRun]


@pytest.fixture
def lesson(two_exercise_course: Path) -> Lesson:
    return load_lesson(two_exercise_course / "grader_tests" / LESSON)


@pytest.fixture
def start(sandboxed: None, tmp_path: Path) -> Iterator[Start]:
    """`start(cells, seconds=120.0)`: a run in a sandboxed kernel in which these cells were run."""
    with ExitStack() as stack:

        def begin(cells: list[str], seconds: float = 120.0, **limits: float) -> NotebookRun:
            provisioning = {"provisioner_name": "attention-sandbox", "config": {}}
            session = stack.enter_context(Session("python3", provisioning, tmp_path, Limits(**limits)))
            run = NotebookRun(session, seconds)
            for code in cells:
                run.code(code)
            return run

        yield begin


def judged(run: NotebookRun, lesson: Lesson, name: str) -> ExerciseVerdict:
    return run.judge(lesson.exercises[name], NotebookSource([cell.code for cell in run.cells], lesson.exercises))


def test_a_wrong_answer_in_a_sound_kernel_is_judged_there_alone(start, lesson):
    run = start(["import torch", "def double(x):\n    return x * x"])
    kernel = run.session.provisioner.pid
    assert judged(run, lesson, "double").mistake == "squares"
    assert run.session.provisioner.pid == kernel


@pytest.mark.quick_cases("import os*")
@pytest.mark.parametrize(
    "spoils",
    [
        EXIT,
        "%reset -f",
        "import torch\ntorch.set_default_device('meta')",
        "import torch\ntorch.Tensor.__mul__ = torch.Tensor.__rmul__ = lambda a, b: a",
        "import sys\ndel sys.modules['torch']",
        "del double",
    ],
)
def test_what_a_cell_spoils_is_judged_apart_with_what_it_needs(start, lesson, spoils):
    run = start(["import torch", "FACTOR = 2", "def double(x):\n    return FACTOR * x", spoils])
    assert judged(run, lesson, "double").status == "right"


def test_the_cell_of_another_answer_is_needed_without_what_it_does_besides(start, lesson):
    run = start(
        ["import torch", f"import sys\n{DOUBLE}\nsys.modules.clear()", "def halve(x):\n    return double(x) / 4"]
    )
    assert judged(run, lesson, "halve").status == "right"


def test_what_no_cell_defines_is_not_earned_apart(start, lesson):
    run = start(["import torch", "def double(x):\n    return FACTOR * x", "%reset -f"])
    assert judged(run, lesson, "double").earned == 0


def test_a_cell_that_ends_the_kernel_before_its_definition_defines_nothing(start, lesson):
    run = start([f"{EXIT}\n{DOUBLE}"])
    assert judged(run, lesson, "double").earned == 0


def test_cells_that_end_the_kernel_cost_no_answer_however_many_they_are(start, lesson):
    run = start([DOUBLE, *[EXIT] * 10, HALVE, *[EXIT] * 2])
    assert [judged(run, lesson, name).status for name in ("double", "halve")] == ["right", "right"]


def test_an_answer_that_ends_the_kernel_uses_up_no_other_answers_restarts(start, lesson, monkeypatch):
    monkeypatch.setattr(run_module, "MAX_RESTARTS", 2)
    run = start(["import os", "def double(x):\n    os._exit(0)", HALVE, "%reset -f"])
    lost = judged(run, lesson, "double")
    assert (lost.earned, lost.status) == (0, "wrong")
    assert judged(run, lesson, "halve").status == "right"


def test_the_notebooks_time_is_over_for_all(start, lesson):
    run = start([DOUBLE, "while True: pass"], seconds=2.0, cell=60.0)
    found = judged(run, lesson, "double")
    assert found.earned == 0
    assert found.criteria[0].finding == "the notebook's time was over"


def test_what_is_asked_after_the_notebooks_time_is_no_longer_waited_for(start, lesson):
    """Whether a kernel is sound was asked, and a kernel was started, for each answer that was left."""
    slow = "import time, torch\ntorch.get_default_dtype = lambda: time.sleep(600)"
    run = start([])
    run._until = run.session.spent + 6.0
    before = run.session.spent
    run.code(f"{slow}\n{DOUBLE.replace('return', 'return 3 +')}")
    run.code("time.sleep(4)")
    while run.session.spent - before < 6.0:
        judged(run, lesson, "double")
    over = run.session.spent
    assert over - before < 6.0 + 3 * GRACE  # seconds that count, which a busy machine does not add to
    for _ in range(4):
        judged(run, lesson, "double")
    assert run.session.spent == over


def test_replays_draw_on_the_notebooks_time(start, lesson):
    run = start([])
    run._until = run.session.spent + 6.0
    before = run.session.spent
    for code in (DOUBLE, "import time\ntime.sleep(2)", *[EXIT] * 3):
        run.code(code)
    for _ in range(4):
        judged(run, lesson, "double")
    assert run.session.spent - before < 6.0 + 3 * GRACE
