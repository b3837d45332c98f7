"""A notebook's course through kernels: what one cell or answer does to them costs no other answer its points."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from grading.exercises.lesson import Lesson, load_lesson
from grading.grader.references import practice_cases
from grading.grader.source_analysis import NotebookSource
from grading.grader.verdict import ExerciseVerdict
from grading.judge.kernel import run as run_module
from grading.judge.kernel.run import NotebookRun
from grading.judge.kernel.session import GRACE, Limits, Session

from ...support.two_exercise_course import DOUBLE, HALVE, LESSON

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
    """Grade the answer as it is, or as it was where its names were kept."""
    try:
        codes = [cell.code for cell in run.cells_above(name)]
    except KeyError:
        run.keep_names(name)
        codes = [cell.code for cell in run.cells_above(name)]
    return run.grade(lesson.exercises[name], NotebookSource(codes, lesson.exercises))


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
def test_an_answer_spoiled_by_a_cell_is_judged_apart_with_the_code_it_needs(start, lesson, spoils):
    run = start(["import torch", "FACTOR = 2", "def double(x):\n    return FACTOR * x", spoils])
    assert judged(run, lesson, "double").status == "right"


def test_a_limit_of_the_process_that_a_cell_lowers_costs_no_answer(start, lesson):
    lowers = "import resource\nresource.setrlimit(resource.RLIMIT_AS, (2**20, 2**20))"
    run = start(["import torch", "def double(x):\n    return 2 * x + bytearray(2**28)[0]", lowers])
    assert judged(run, lesson, "double").status == "right"


@pytest.mark.full("starts kernels for half a minute")
def test_of_another_answers_cell_only_its_definitions_are_needed(start, lesson):
    run = start(
        ["import torch", f"import sys\n{DOUBLE}\nsys.modules.clear()", "def halve(x):\n    return double(x) / 4"]
    )
    assert judged(run, lesson, "halve").status == "right"


def test_what_no_cell_defines_is_not_earned_apart(start, lesson):
    run = start(["import torch", "def double(x):\n    return FACTOR * x", "%reset -f"])
    assert judged(run, lesson, "double").earned == 0


def test_a_cell_that_ends_the_kernel_above_its_definition_is_judged_by_the_definition(start, lesson):
    run = start([f"{EXIT}\n{DOUBLE}"])
    assert judged(run, lesson, "double").status == "right"


@pytest.mark.quick_cases("input()")
@pytest.mark.parametrize(
    "line",
    [
        "input()",
        "from a_package_of_colab import drive",
        "import torch\nx = torch.ones(2, device='cuda')",
        "%no_such_magic",
    ],
)
def test_a_line_that_fails_only_here_costs_no_answer_and_is_reported(start, lesson, line):
    run = start(["import torch", f"{line}\n{DOUBLE}"])
    assert judged(run, lesson, "double").status == "right"
    code, stop = run.why_stopped("double", NotebookSource([cell.code for cell in run.cells]))
    assert code.splitlines()[stop.line - 1] == line.splitlines()[-1]


def test_an_import_that_fails_takes_no_other_import_along(start, lesson):
    imports = "import a_package_of_colab\nimport math\nfrom functools import partial"
    run = start(["import torch", imports, "def double(x):\n    return math.floor(2.5) * x"])
    assert judged(run, lesson, "double").status == "right"


def test_an_import_of_all_names_runs_where_another_import_fails(start, lesson):
    imports = "import a_package_of_colab\nfrom math import *"
    run = start(["import torch", imports, "def double(x):\n    return floor(2.5) * x"])
    assert judged(run, lesson, "double").status == "right"


def test_annotations_and_decorators_of_a_missing_package_cost_nothing(start, lesson):
    code = "from a_package import Float, typed\n@typed\ndef double(x: Float['n']) -> Float['n']:\n    return 2 * x"
    assert judged(start(["import torch", code]), lesson, "double").status == "right"


def test_an_answer_is_judged_as_it_was_at_its_grade_cell(start, lesson):
    run = start(["import torch", DOUBLE])
    run.keep_names("double")
    run.code("def double(x):\n    return 0 * x")
    assert judged(run, lesson, "double").status == "right"


def test_what_a_later_cell_changes_in_place_costs_no_answer(start, lesson):
    run = start(["import torch", "FACTORS = [2]", "def double(x):\n    return FACTORS[0] * x"])
    run.keep_names("double")
    run.code("FACTORS.clear()")
    assert judged(run, lesson, "double").status == "right"


def test_what_a_later_cell_patches_costs_no_answer(start, lesson):
    code = "class Factor:\n    value = 2\ndef double(x):\n    return Factor.value * x"
    run = start(["import torch", code])
    run.keep_names("double")
    run.code("Factor.value = 0")
    assert judged(run, lesson, "double").status == "right"


def test_an_answer_whose_names_could_not_be_kept_is_judged_apart(start, lesson):
    run = start(["import torch", DOUBLE, "import course.harness.kept_names as kept\nkept.keep = None"])
    assert judged(run, lesson, "double").status == "right"


def test_names_are_kept_again_when_a_cell_ends_the_kernel(start, lesson):
    run = start(["import torch", DOUBLE])
    run.keep_names("double")
    for code in (EXIT, "double = None", "1"):
        run.code(code)
    kernel = run.session.provisioner.pid
    assert judged(run, lesson, "double").status == "right"
    assert run.session.provisioner.pid == kernel


def test_a_practice_case_is_asked_in_a_kernel_that_knows_no_hidden_case(start, lesson):
    run = start(["import torch", "SEEN = []", "def double(x):\n    SEEN.append(x)\n    return len(SEEN)"])
    judged(run, lesson, "double")
    source = NotebookSource([cell.code for cell in run.cells], lesson.exercises)
    practice = practice_cases(lesson.exercises["double"])
    seen = run.practise("double", source, [(p.program(()), 5.0) for p in practice])
    assert [one.values["result"] for one in seen] == list(range(1, len(practice) + 1))


def test_cells_that_end_the_kernel_cost_no_answer_however_many_they_are(start, lesson):
    run = start([DOUBLE, *[EXIT] * 10, HALVE, *[EXIT] * 2])
    assert [judged(run, lesson, name).status for name in ("double", "halve")] == ["right", "right"]


def test_an_answer_that_ends_the_kernel_uses_up_no_other_answers_restarts(start, lesson, monkeypatch):
    monkeypatch.setattr(run_module, "MAX_RESTARTS", 2)
    run = start(["import os", "def double(x):\n    os._exit(0)", HALVE, "%reset -f"])
    lost = judged(run, lesson, "double")
    assert (lost.earned, lost.status) == (0, "wrong")
    assert judged(run, lesson, "halve").status == "right"


@pytest.mark.full
def test_the_learners_experiments_leave_the_answers_their_time(start, lesson):
    run = start(["import torch", "while True: pass", DOUBLE], seconds=12.0, cell=60.0)
    assert judged(run, lesson, "double").status == "right"


def test_an_answer_that_the_time_did_not_reach_needs_a_person(start, lesson):
    run = start([DOUBLE])
    run._until = run.session.spent
    found = judged(run, lesson, "double")
    assert (found.status, found.earned) == ("needs a person", 0)
    assert "the time limit of the notebook was reached" in found.grader_error


def test_nothing_is_waited_for_after_the_notebooks_time(start, lesson):
    """Whether a kernel is sound was asked, and a kernel was started, for each answer that was left."""
    slow = "import time, torch\ntorch.get_default_dtype = lambda: time.sleep(600)"
    run = start([])
    run._until = run._cells_until = run.session.spent + 6.0
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
    run._until = run._cells_until = run.session.spent + 6.0
    before = run.session.spent
    for code in (DOUBLE, "import time\ntime.sleep(2)", *[EXIT] * 3):
        run.code(code)
    for _ in range(4):
        judged(run, lesson, "double")
    assert run.session.spent - before < 6.0 + 3 * GRACE
