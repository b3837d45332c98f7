"""A call that never ends is ended, in the main thread by signals, elsewhere without; one interrupt ends a check."""

from __future__ import annotations

import signal
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from course.harness import time_limits
from course.harness.forbidden_calls import ForbiddenCallWatcher
from course.notebook import check, session
from course.notebook.progress_bars import TrainingProgress

from ...support.learner_kernel import Kernel, running_kernel

RIGHT = """
def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
"""
SOON = 0.2  # seconds of computing

ENDLESS = {
    "a loop": """
        def f():
            while True:
                pass
    """,
    "a loop of torch's calls": """
        def f():
            x = torch.zeros(3)
            while True:
                x = x + 1
    """,
    "a loop that holds every exception": """
        def f():
            while True:
                try:
                    x = torch.ones(3) / 0
                except Exception:
                    pass
    """,
    "a loop that holds everything": """
        def f():
            x = 0
            while True:
                try:
                    x += 1
                except:
                    x = 0
    """,
    "recursion that comes back": """
        def f(depth=0):
            while True:
                if depth < 20:
                    f(depth + 1)
    """,
    "a sum that has no end": "def f(): return sum(1 for _ in iter(int, 1))",
}


def made(code: str) -> Callable[[], Any]:
    names: dict[str, Any] = {"torch": torch, "time": time}
    exec(compile(textwrap.dedent(code), "<learner>", "exec"), names)
    return names["f"]


def stopped(call: Callable[[], Any], seconds: float = SOON) -> str:
    """Why a call was stopped; empty: it came to its end."""
    try:
        with time_limits.limit(seconds), ForbiddenCallWatcher(["softmax"]):
            call()
    except time_limits.CallTimeout as error:
        return str(error)
    return ""


def elsewhere(call: Callable[[], str]) -> str:
    """What a call returns in a thread of its own, where there are no signals."""
    found = []
    thread = threading.Thread(target=lambda: found.append(call()), daemon=True)
    thread.start()
    thread.join(900)  # seconds, for what takes one: the rest of the tests goes on without it
    assert found, "it never came back"
    return found[0]


WHERE = {"in the main thread": lambda call: call(), "in another thread": elsewhere}


@pytest.fixture(params=WHERE.values(), ids=WHERE)
def where(request: pytest.FixtureRequest) -> Callable[[Callable[[], str]], str]:
    return request.param


@pytest.mark.quick_cases("*thread-a loop")
@pytest.mark.parametrize("code", ENDLESS.values(), ids=ENDLESS)
def test_what_never_ends_is_ended(where, code, monkeypatch):
    monkeypatch.setattr(time_limits, "WALL_CLOCK_FACTOR", 10_000)  # however busy the machine is
    f = made(code)
    assert where(lambda: stopped(f)) == f"it had not ended after {SOON:g} seconds of computing"
    assert where(lambda: stopped(lambda: None)) == ""


def test_what_is_ended_leaves_gradients_as_they_were(where):
    def in_the_middle_of_a_step() -> None:
        torch.set_grad_enabled(False)
        while True:
            pass

    assert where(lambda: stopped(in_the_middle_of_a_step) and str(torch.is_grad_enabled())) == "True"


def test_a_thread_whose_lines_are_traced_goes_on_after_a_call_was_ended():
    def traced() -> str:
        sys.settrace(lambda *_: None)  # as a debugger does
        try:
            return stopped(made(ENDLESS["a loop"])) + stopped(lambda: None)
        finally:
            sys.settrace(None)

    assert elsewhere(traced) == f"it had not ended after {SOON:g} seconds of computing"


def test_what_waits_is_ended_by_the_clock_and_not_before(monkeypatch):
    monkeypatch.setattr(time_limits, "WALL_CLOCK_FACTOR", 3)
    began = time.monotonic()
    assert stopped(lambda: time.sleep(3600)) == "it had not ended after 0.6 seconds"
    assert time.monotonic() - began > 0.6


def test_progress_restarts_the_time_limit(where):
    def training() -> None:
        until = time.process_time() + 3 * SOON
        while time.process_time() < until:
            time_limits.renew()

    assert where(lambda: stopped(training)) == ""


@pytest.mark.full
def test_a_training_that_is_followed_has_its_whole_time_again_with_each_step(capsys):
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer.step()  # the first one imports

    def training() -> None:
        until = time.process_time() + 3 * SOON
        while time.process_time() < until:
            optimizer.step()

    with TrainingProgress(model, 1_000_000_000):
        assert stopped(training) == ""
    with TrainingProgress(model, 1):
        assert stopped(training), "more steps than there should be are no sign of an end"


def test_an_earlier_alarm_goes_off_at_its_own_time():
    rang = []
    before = signal.signal(signal.SIGALRM, lambda *_: rang.append(time.monotonic()))
    timer = signal.setitimer(signal.ITIMER_REAL, 3600, 7)
    try:
        assert stopped(made(ENDLESS["a loop"]))
        left, interval = signal.getitimer(signal.ITIMER_REAL)
        assert 3000 < left < 3600
        assert interval == 7
        signal.raise_signal(signal.SIGALRM)
        assert rang
    finally:
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, *timer)


@pytest.fixture(scope="module")
def a_kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    with running_kernel(tmp_path_factory.mktemp("kernel")) as started:
        started.run(f"from course import begin, check\nbegin('02_softmax')\n{RIGHT}\ncheck(softmax)")  # once at leisure
        yield started


@pytest.fixture
def kernel(a_kernel: Kernel) -> Kernel:
    """Lesson 02, in which calls have 1.5 seconds, enough for a right one on a busy machine; nothing is written."""
    a_kernel.run("""
        import torch, course.notebook.session, course.harness.time_limits
        from course import begin, check, hint, progress
        course.notebook.session.renew()
        course.harness.time_limits.CALL = 1.5
        for name in "softmax log_softmax softmax_with_temperature entropy".split():
            globals().pop(name, None)
        begin("02_softmax")
        calls = []
    """)
    return a_kernel


LOOPS = """
def softmax(x, dim=-1):
    calls.append(x.shape)
    while True:
        x = x + 1
"""


@pytest.mark.full
def test_a_check_says_which_call_never_ended_and_tries_no_other(kernel):
    shown = kernel.run(f"{LOOPS}\nfloat(check(softmax))")
    assert shown.error is None
    assert shown.value == "0.0"
    assert "Your code had not ended after 1.5 seconds" in shown.html
    assert "The calls after it were not tried." in shown.html
    assert "not tried, since a call before it never ended" not in shown.html
    assert kernel.run("len(calls)").value == "1"
    assert kernel.run(f"{RIGHT}\nfloat(check(softmax))").value == "7.0", "what was stopped left torch as it was"


@pytest.mark.full
def test_what_never_ended_is_not_called_again_until_it_is_checked_again(kernel):
    kernel.run(f"{LOOPS}\ncheck(softmax)")
    used = kernel.run_given("print(softmax(torch.zeros(2), -1))")
    assert used.text == "tensor([0.5000, 0.5000])\nWith the course's `softmax`, until yours passes."
    assert "Not yet: " in kernel.run("progress()").html
    assert kernel.run("len(calls)").value == "1"
    kernel.run("check(softmax)")
    assert kernel.run("len(calls)").value == "2"


@pytest.mark.full
def test_what_never_ended_is_replaced_where_a_later_answer_calls_it(kernel):
    kernel.run(f"{LOOPS}\ncheck(softmax)")
    shown = kernel.run(
        "def softmax_with_temperature(x, t, dim=-1): return softmax(x / t, dim)\ncheck(softmax_with_temperature)"
    )
    assert "Checked with a right" in shown.html
    assert "in place of yours" in shown.html
    assert kernel.run("len(calls)").value == "1"


def test_a_stand_in_takes_the_courses_function_where_a_later_call_never_ends(kernel):
    kernel.run("import course.notebook.stand_ins as used\nused.CALL = 0.2")
    kernel.run("""
        def softmax(x, dim=-1):
            while x.numel() == 5:
                pass
            e = (x - x.amax(dim, keepdim=True)).exp()
            return e / e.sum(dim, keepdim=True)
    """)
    shown = kernel.run_given("print(softmax.passes, softmax(torch.zeros(5), dim=-1))")
    values = "True tensor([0.2000, 0.2000, 0.2000, 0.2000, 0.2000])"
    assert shown.text == f"{values}\nWith the course's `softmax`, because yours did not end here."


def test_one_interrupt_ends_a_check_and_the_cells_after_it_need_none(kernel):
    kernel.run("import course.harness.time_limits\ncourse.harness.time_limits.CALL = 3600\nimport _thread")
    shown = kernel.run("""
        def softmax(x, dim=-1):
            calls.append(x.shape)
            while True:
                if len(calls) == 1:
                    _thread.interrupt_main()
        check(softmax)
    """)
    assert shown.error is None
    assert "Your code had not ended when it was interrupted" in shown.html
    assert kernel.run_given("softmax(torch.zeros(3), dim=-1)").error is None
    assert kernel.run("progress()").error is None
    assert kernel.run("len(calls)").value == "1"


def test_a_check_in_a_thread_has_its_limit_too(monkeypatch, capsys):
    session.renew()
    monkeypatch.setattr(time_limits, "CALL", SOON)
    names: dict[str, Any] = {"calls": []}
    exec(compile(LOOPS, "<learner>", "exec"), names)
    assert elsewhere(lambda: repr(check.check(names["softmax"]))) == "0.0"
    assert "had not ended after 0.2 seconds of computing" in capsys.readouterr().out
    assert len(names["calls"]) == 1
