"""After a kernel, and after the grading process however that ends, nothing is left running or lying about."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import psutil
import pytest

from grading.errors import KernelDied
from grading.sandbox import Policy
from grading.sandbox.launch import ForkServer, server
from grading.sandbox.policy import SandboxLost

from .conftest import LONG, Box

ROOT = Path(__file__).parents[2]
OUR_MOUNTS = ("sandbox ", "server ", "hidden ", "box ", "terminals ", "trial ")

#: Leaves behind what it can: daemons in sessions of their own, threads, files, a socket.
HOSTILE = """
import os, signal, socket, threading, time
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(number, signal.SIG_IGN)
        if os.fork() == 0:
            signal.alarm(600)
            while True: time.sleep(1)
        os._exit(0)
threading.Thread(target=time.sleep, args=(600,), daemon=False).start()
open('/tmp/big', 'wb').write(bytes(2**24))
socket.socket(socket.AF_UNIX).bind('/tmp/socket')
"""


def family(pid: int) -> list[psutil.Process]:
    return psutil.Process(pid).children(recursive=True)


def wait_until(true: Callable[[], bool], seconds: float = LONG) -> bool:
    deadline = time.monotonic() + seconds
    while not true() and time.monotonic() < deadline:
        time.sleep(0.05)
    return true()


@pytest.fixture(scope="module")
def ahead() -> tuple[str, ...]:
    """What makes this module's fork server one of its own: other tests' kernels are not among its processes."""
    return ("calendar",)


@pytest.fixture
def running(ahead: tuple[str, ...]) -> ForkServer:
    return server(ahead=ahead)


@pytest.fixture
def start(ahead: tuple[str, ...], start: Callable[..., Box]) -> Callable[..., Box]:
    """As everywhere, on this module's fork server."""
    return partial(start, ahead=ahead)


def test_every_process_ends_with_the_kernel(running: ForkServer, start: Callable[..., Box]) -> None:
    box = start()
    box.run(HOSTILE)
    assert wait_until(lambda: len(family(running.process.pid)) >= 1 + 4)
    box.session.stop()
    assert len(family(running.process.pid)) == 1


def test_the_server_outlives_kernels_that_end_while_they_are_let_go(
    running: ForkServer, ahead: tuple[str, ...]
) -> None:
    kernels = [running.launch(Policy(), "key", "hmac-sha256") for _ in range(8)]
    for kernel in kernels:
        kernel.signal(signal.SIGKILL)
        kernel.close()
    assert wait_until(lambda: len(family(running.process.pid)) == 1)
    assert server(ahead=ahead) is running


def test_the_server_has_one_thread_and_no_device_open(running: ForkServer) -> None:
    [inner] = family(running.process.pid)
    assert inner.num_threads() == 1
    held = [os.readlink(f"/proc/{inner.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{inner.pid}/fd")]
    open_files = {target for target in held if target.startswith("/")} - {"/dev/null"}
    assert [path for path in open_files if not Path(path, "cgroup.procs").exists()] == []  # its control group


def test_a_kernel_that_ends_itself_takes_its_processes_along(running: ForkServer, start: Callable[..., Box]) -> None:
    box = start()
    box.run(HOSTILE)
    with pytest.raises(KernelDied, match="exit code 5"):
        box.run("os._exit(5)")
    assert len(family(running.process.pid)) == 1


@pytest.mark.full
def test_files_mounts_sockets_and_descriptors_are_gone(running: ForkServer, start: Callable[..., Box]) -> None:
    def lying_about() -> dict[str, object]:
        gc.collect()  # what earlier tests have let go of holds descriptors until then
        inner = family(running.process.pid)[0].pid
        return {
            "mounts": [m for m in Path("/proc/self/mounts").read_text().splitlines() if m.startswith(OUR_MOUNTS)],
            "server's mounts": Path(f"/proc/{inner}/mounts").read_text(),
            "server's files": sorted(path.name for path in Path(running.directory).iterdir()),
            "server's descriptors": len(os.listdir(f"/proc/{inner}/fd")),
            "descriptors": len(os.listdir("/proc/self/fd")),
            "namespaces": {os.readlink(f"/proc/{p.pid}/ns/mnt") for p in family(running.process.pid)},
        }

    start().session.stop()  # what the first kernel of a process opens for good is not a leftover
    before = lying_about()
    for _ in range(3):
        box = start()
        box.run(HOSTILE)
        box.session.stop()
    assert wait_until(lambda: lying_about() == before), (before, lying_about())


GRADER = """
import os, sys
from jupyter_client.manager import KernelManager
from grading.sandbox.launch import server
manager = KernelManager(kernel_name="python3")
manager.kernel_spec.metadata["kernel_provisioner"] = {{"provisioner_name": "attention-sandbox"}}
manager.start_kernel()
client = manager.client()
client.start_channels()
client.wait_for_ready({long})
client.execute_interactive({hostile!r}, timeout={long})
print(server().process.pid, server().directory, flush=True)
{end}
"""


@pytest.mark.full
@pytest.mark.parametrize("end", ["os.kill(os.getpid(), 9)", "sys.exit()"])
def test_the_server_and_its_kernels_end_with_the_grader(end: str) -> None:
    script = GRADER.format(hostile=HOSTILE, long=LONG, end=end)
    grader = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, cwd=ROOT, text=True)
    assert grader.stdout is not None
    pid, directory = grader.stdout.readline().split()
    started = [psutil.Process(int(pid))]
    with suppress(psutil.NoSuchProcess):  # it was quick
        started += family(int(pid))
    grader.wait(LONG)
    grader.stdout.close()
    assert wait_until(lambda: not any(process.is_running() for process in started))
    assert wait_until(lambda: not os.path.exists(directory))


def test_a_server_that_was_killed_is_replaced(start: Callable[..., Box], ahead: tuple[str, ...]) -> None:
    box, killed = start(), server(ahead=ahead)
    os.kill(family(killed.process.pid)[0].pid, signal.SIGKILL)
    with pytest.raises(SandboxLost, match="the kernel ended with its sandbox"):
        box.run("import time; time.sleep(100)")
    assert start().text("print('again')") == "again\n"
    assert server(ahead=ahead) is not killed
    assert not os.path.exists(killed.directory)


def test_a_forked_grader_does_not_keep_its_parents_server_alive() -> None:
    script = (
        "import os, time\nfrom grading.sandbox import launch\n"
        "running = launch.server()\n"
        "if (child := os.fork()) == 0:\n"
        "    assert not launch._servers\n"
        "    time.sleep(600)\n"
        "print(running.process.pid, child, flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    program = [sys.executable, "-W", "ignore", "-c", script]
    grader = subprocess.Popen(program, stdout=subprocess.PIPE, cwd=ROOT, text=True)
    assert grader.stdout is not None
    server_pid, child_pid = map(int, grader.stdout.readline().split())
    child = psutil.Process(child_pid)
    grader.wait(LONG)
    grader.stdout.close()
    try:
        assert wait_until(lambda: not psutil.pid_exists(server_pid))
        assert child.is_running()
    finally:
        child.kill()
