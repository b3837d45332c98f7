"""Control groups count what all processes of a kernel use, and none is left: on the machines that grant them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from grading.sandbox import Policy
from grading.sandbox.cgroups import Group, Groups, hand_down, make, sweep
from grading.sandbox.launch import ForkServer, server

from .conftest import LONG, Box
from .test_leftovers import wait_until

ROOT = Path(__file__).parents[2]
MIB = 2**20


@pytest.fixture
def groups() -> Iterator[Groups]:
    made = make()
    if made is None:
        pytest.skip("this machine grants no control groups")
    yield made
    made.remove()


def inside(group: Group, what: Callable[[], object]) -> int:
    """The exit status of a process that does `what` in the group; minus the signal that ended it."""
    if (pid := os.fork()) == 0:
        with suppress(BaseException):
            group.enter()
            what()
            os._exit(0)
        os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def needs(groups: Groups, what: str) -> None:
    if what not in groups.counted:
        pytest.skip(f"this machine's control groups do not count {what}")


def test_controllers_are_handed_down_by_their_names(tmp_path: Path) -> None:
    (tmp_path / "cgroup.controllers").write_text("cpu memory pids")
    assert hand_down(tmp_path)
    assert (tmp_path / "cgroup.subtree_control").read_text() == "+memory +pids"


def test_time_of_processes_that_are_never_waited_for_is_counted(groups: Groups) -> None:
    group = groups.kernel(256 * MIB, 20)

    def work() -> None:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        ended, end = os.pipe()
        if os.fork() == 0:
            while os.times().user < 0.3:
                pass
            os._exit(0)
        os.close(end)
        os.read(ended, 1)  # returns when the child has closed its end by ending

    assert inside(group, work) == 0
    assert group.processor_seconds() >= 0.3
    group.remove()
    assert not (groups.path / group.name).exists()


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_exceeding_memory_ends_all_processes_and_is_reported(groups: Groups) -> None:
    needs(groups, "memory")
    group = groups.kernel(64 * MIB, 20)
    assert not group.ran_out_of_memory()
    assert inside(group, lambda: bytearray(os.urandom(4096)) * (32 * 256)) == 0
    assert inside(group, lambda: bytearray(os.urandom(4096)) * (128 * 256)) == -signal.SIGKILL
    assert group.ran_out_of_memory()


def test_processes_are_held_to_their_number(groups: Groups) -> None:
    needs(groups, "processes")
    group = groups.kernel(256 * MIB, 5)

    def fork() -> None:
        made = 0
        with suppress(BlockingIOError):
            while made < 20:
                if os.fork() == 0:
                    signal.alarm(2)
                    signal.pause()
                made += 1
        os._exit(made)

    assert inside(group, fork) == 4


def test_what_is_left_of_a_server_that_was_killed_is_removed_and_nothing_else(groups: Groups) -> None:
    script = (
        "import os, sys; from grading.sandbox.cgroups import Groups; from pathlib import Path\n"
        "made = Groups(Path(sys.argv[1])); made.kernel(2**30, 9); print(made.path, flush=True); os.kill(os.getpid(), 9)"
    )
    group = groups.kernel(256 * MIB, 20)
    program = [sys.executable, "-c", script, str(groups.path.parent)]
    left = Path(subprocess.run(program, cwd=ROOT, capture_output=True, text=True).stdout.strip())
    assert list(left.glob("kernel-*"))
    sweep(groups.path.parent)
    assert not left.exists()
    assert (groups.path / group.name).is_dir()


def test_a_kernel_is_in_a_group_of_its_own_that_ends_with_it(start: Callable[..., Box]) -> None:
    box, other = start(ahead=("calendar",)), start(ahead=("calendar",))
    running = server(ahead=("calendar",))
    if "time" not in running.counted:
        pytest.skip("this machine grants no control groups")

    def place(process: int) -> str:
        lines = Path(f"/proc/{process}/cgroup").read_text().splitlines()
        return next(line.removeprefix("0::") for line in lines if line.startswith("0::"))

    places = [place(box.provisioner.pid), place(other.provisioner.pid)]
    assert all(Path(path).name.startswith("kernel-") for path in places)
    assert len(set(places)) == 2
    assert box.value("value = [line for line in open('/proc/self/cgroup') if line.startswith('0::')]") == ["0::/\n"]
    pid = box.provisioner.pid
    box.session.stop()
    assert not psutil.pid_exists(pid)
    above = next(path for path in mounted() if (path / places[1].lstrip("/")).exists())
    assert wait_until(lambda: not (above / places[0].lstrip("/")).exists())


def mounted() -> list[Path]:
    lines = (line.split(" - ") for line in Path("/proc/self/mountinfo").read_text().splitlines())
    return [Path(left.split()[4]) for left, right in lines if right.startswith("cgroup2 ")]


def group_around(process: psutil.Process) -> set[Path]:
    """Where the group of the fork server that this process belongs to is seen; empty where it is in none."""
    with suppress(FileNotFoundError, ProcessLookupError):
        found = re.search(r"^0::/(.*attention-\w+)", Path(f"/proc/{process.pid}/cgroup").read_text(), re.MULTILINE)
        return {top / found[1] for top in mounted()} if found else set()
    return set()


@pytest.mark.full
def test_the_group_of_a_server_ends_with_it() -> None:
    from grading.sandbox.filesystem import plan

    running = ForkServer(plan())
    kernel = running.launch(Policy(), "key", "hmac-sha256")
    started = psutil.Process(running.process.pid).children(recursive=True)
    mine = {path for process in started for path in group_around(process) if path.exists()}
    assert bool(mine) is bool(running.counted)
    running.process.kill()  # so that it tidies nothing itself
    running.process.wait(LONG)
    assert wait_until(lambda: not any(process.is_running() for process in started))
    kernel.close()
    running.close()
    ForkServer(plan()).close()
    assert not any(path.exists() for path in mine)
