"""Whose fault it is that time passes: a kernel's, which sleeps or computes, or the machine's."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from grading.errors import KernelDied, KernelStarved
from grading.judge.kernel import session
from grading.judge.kernel.session import Limits, Session
from grading.sandbox.stopwatch import Stopwatch

LONG = 120.0  # seconds within which whatever ends at all ends, on a busy machine too
BUSY = "while True: pass"
both = pytest.mark.parametrize("provisioner", ["attention-sandbox", "local-provisioner"])
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="a process cannot be held to one processor here")


@contextmanager
def running(code: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process of its own session, so that no scheduler takes several for one."""
    process = subprocess.Popen([sys.executable, "-I", "-S", "-c", code], start_new_session=True)
    try:
        yield process
    finally:
        os.killpg(process.pid, signal.SIGKILL)  # with what it forked, which would compute for ever
        process.wait()


@contextmanager
def crowded(others: int) -> Iterator[int]:
    """A processor on which `others` compute without end; the value is its number."""
    processor = min(os.sched_getaffinity(0))
    with ExitStack() as stack:
        for _ in range(others):
            stack.enter_context(running(f"import os; os.sched_setaffinity(0, [{processor}])\n{BUSY}"))
        yield processor


@pytest.fixture
def kernel(provisioner: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Session]:
    if provisioner == "attention-sandbox":
        request.getfixturevalue("sandboxed")
    with Session("python3", {"provisioner_name": provisioner, "config": {}}, tmp_path, Limits()) as started:
        yield started


def looked_at(watch: Stopwatch, wall: float = LONG, seconds: float = LONG) -> Stopwatch:
    """After so many seconds of one or the other."""
    while watch.wall < wall and watch.look() < seconds:
        time.sleep(0.05)
    return watch


@pytest.mark.quick_cases("while True: pass")
@pytest.mark.parametrize("code", ["import time; time.sleep(999)", BUSY, "import os; os.fork() and os.wait()\n" + BUSY])
def test_sleeping_and_computing_code_both_reach_the_limit(code):
    with running(code) as process:
        watch = looked_at(Stopwatch(process.pid), seconds=1.0)
        assert watch.seconds >= 1.0
        assert watch.wall < LONG


@linux_only
def test_what_is_kept_from_running_does_not():
    with crowded(4) as processor:
        code = f"import os; os.sched_setaffinity(0, [{processor}]); os.nice(19)\n{BUSY}"
        with running(code) as process:
            looked_at(Stopwatch(process.pid), wall=0.5)  # until it is at work
            watch = looked_at(Stopwatch(process.pid), wall=2.0)
            assert watch.seconds < 0.7


@linux_only
def test_who_looks_late_was_kept_waiting_too():
    with running("import time; time.sleep(999)") as process:
        watch = Stopwatch(process.pid)
        time.sleep(2.0)
        assert watch.look() <= 0.5


def test_where_the_process_is_not_known_time_passes_as_it_does():
    watch = looked_at(Stopwatch(None), seconds=0.3)
    assert 0.3 <= watch.seconds <= watch.wall


@pytest.mark.quick_cases("attention-sandbox")
@both
@linux_only
def test_a_crowded_processor_costs_a_cell_nothing(kernel):
    with crowded(4) as processor:
        kernel.run(f"import os, time\nos.sched_setaffinity(0, [{processor}])")
        ran = kernel.run("end = time.process_time() + 0.5\nwhile time.process_time() < end: pass\nprint('done')", 1.0)
        assert (ran.note, ran.outputs[0].text) == ("", "done\n")


@pytest.mark.quick_cases("attention-sandbox")
@both
@linux_only
def test_a_kernel_that_hardly_runs_is_not_the_students_fault(kernel, monkeypatch):
    with crowded(4) as processor:
        kernel.run(f"import os\nos.sched_setaffinity(0, [{processor}])\nos.nice(19)", LONG)
        monkeypatch.setattr(session, "PATIENCE", 1.0)  # from here on: the cell above may wait as long as it must
        with pytest.raises(KernelStarved, match="too busy"):
            kernel.run(BUSY, 2.0)


@pytest.mark.quick_cases("attention-sandbox")
@both
def test_what_calls_need_is_imported_before_any_limit_runs(kernel):
    missing = "[name for name in {} if name not in __import__('sys').modules]"
    assert kernel.evaluate(missing.format(session.AHEAD), LONG) == "[]"
    assert kernel.evaluate("[name for name in globals() if name in ('course', 'torch')]", LONG) == "[]"


VFORK = """
import ctypes, os
libc = ctypes.CDLL(None)
libc.posix_spawn.restype = ctypes.c_int
pid = ctypes.c_int()
# The child opens a pipe that nobody writes to before it executes anything: until then its parent waits for it in vfork
os.mkfifo("never")
actions = ctypes.create_string_buffer(512)
libc.posix_spawn_file_actions_init(actions)
libc.posix_spawn_file_actions_addopen(actions, 9, b"never", os.O_RDONLY, 0)
arguments = (ctypes.c_char_p * 2)(b"true", None)
libc.posix_spawn(ctypes.byref(pid), b"/bin/true", actions, None, arguments, None)
"""


@pytest.mark.quick_cases("attention-sandbox")
@both
@linux_only
def test_a_kernel_that_waits_in_vfork_is_not_kept_from_running(kernel):
    begun = time.monotonic()
    with pytest.raises(KernelDied, match="stopped after 2 seconds"):
        kernel.run(f"import os, tempfile; os.chdir(tempfile.mkdtemp())\n{VFORK}", 2.0)
    assert kernel.spent >= 2.0
    assert time.monotonic() - begun < LONG


@linux_only
def test_nobody_waits_for_a_child_with_a_memory_of_its_own(request, tmp_path):
    request.getfixturevalue("sandboxed")
    with Session("python3", {"provisioner_name": "attention-sandbox", "config": {}}, tmp_path, Limits()) as kernel:
        clone = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
        wait_for_child, child_ended = 0x4000, 17
        asked = f"__import__('ctypes').CDLL(None).syscall({clone}, {wait_for_child | child_ended}, 0, 0, 0, 0)"
        assert kernel.evaluate(asked, LONG) == "-1"
        assert kernel.evaluate("__import__('os').system('true')", LONG) == "0"
