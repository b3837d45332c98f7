"""Each limit is met, says so in words, and leaves the rest of the kernel's life as it was."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from grading.errors import KernelDied
from grading.sandbox.forkserver import limit_ended
from grading.sandbox.launch import server
from grading.sandbox.policy import Policy, exit_reason

from .conftest import Box

MIB = 2**20


def dies(box: Box, code: str, seconds: float | None = None) -> str:
    with pytest.raises(KernelDied) as why:
        box.run(code, seconds)
    return str(why.value)


@pytest.mark.quick_cases("import torch*")
@pytest.mark.parametrize(
    "greedy",
    [
        "held = bytearray(3 * 2**30)",
        "import torch; held = torch.ones(3 * 2**28)",
        "import mmap; held = mmap.mmap(-1, 3 * 2**30)",
    ],
)
def test_memory_of_one_process(box: Box, greedy: str) -> None:
    said = box.text(greedy)
    assert any(words in said for words in ("MemoryError", "can't allocate memory", "Cannot allocate memory")), said
    assert box.text("print(1 + 1)") == "2\n"


def test_memory_of_all_processes(start: Callable[..., Box]) -> None:
    box = start(memory=256 * MIB)
    said = dies(
        box,
        (
            "import os, time\n"
            "for _ in range(4):\n"
            "    if os.fork() == 0:\n"
            "        held = bytearray(os.urandom(4096)) * (120 * 256)\n"
            "        time.sleep(100)\n"
            "        os._exit(0)\n"
            "time.sleep(100)"
        ),
    )
    assert said == "the kernel ran out of memory (256 MiB for all its processes)"


#: Takes 100 MiB in each of ten processes, one after the other, in such a way that none of them shows it.
UNSEEN = """
import mmap, os, time
def take():
    TAKE
    for at in range(0, len(part), 4096): part[at] = 1
    DROP
    return part
taken = 0
for _ in range(10):
    ready, done = os.pipe()
    if os.fork() == 0:
        try:
            part = take()
            os.write(done, b"taken")
            time.sleep(600)
        finally:
            os._exit(0)
    os.close(done)
    taken += bool(os.read(ready, 5))
time.sleep(1)
print("taken", taken, "times")
"""


@pytest.mark.quick_cases("dropped")
@pytest.mark.parametrize(
    ("take", "drop"),
    [
        ("part = mmap.mmap(-1, 100 * 2**20)", "part.madvise(mmap.MADV_DONTNEED)"),
        ("part = mmap.mmap(-1, 100 * 2**20)", "part.resize(4096)"),
        ("part = mmap.mmap(os.open('/dev/zero', os.O_RDWR), 100 * 2**20)", "part.madvise(mmap.MADV_DONTNEED)"),
        ("part = mmap.mmap(os.memfd_create('x'), 100 * 2**20)", "part.madvise(mmap.MADV_DONTNEED)"),
    ],
    ids=["dropped", "unmapped", "from a device", "in a file without a name"],
)
def test_memory_that_no_process_shows(start: Callable[..., Box], take: str, drop: str) -> None:
    box = start(memory=256 * MIB)
    taking = UNSEEN.replace("TAKE", take).replace("DROP", drop)
    if "memory" in server().counted and "mmap(-1" in take:
        assert dies(box, taking) == "the kernel ran out of memory (256 MiB for all its processes)"
    else:
        assert box.text(taking) == "taken 0 times\n"


def test_processes(start: Callable[..., Box]) -> None:
    box = start(processes=40)
    forked = box.value(
        "import os, signal\npids, value = [], []\n"
        "try:\n"
        "    for _ in range(200):\n"
        "        pid = os.fork()\n"
        "        if pid == 0:\n"
        "            signal.alarm(100); signal.pause(); os._exit(0)\n"
        "        pids.append(pid)\n"
        "except BlockingIOError as error:\n"
        "    value = [len(pids), error.strerror]\n"
        "for pid in pids: os.kill(pid, 9), os.waitpid(pid, 0)"
    )
    assert forked[1] == "Resource temporarily unavailable"
    assert 5 < forked[0] < 40
    assert "can't start new thread" in box.text(
        "import threading\nstop = threading.Event()\ntry:\n"
        "    for _ in range(200): threading.Thread(target=stop.wait, args=(100,)).start()\n"
        "finally: stop.set()"
    )


def test_one_kernels_processes_do_not_count_against_another(start: Callable[..., Box]) -> None:
    one, other = start(processes=40), start(processes=40)
    one.run(
        "import os, signal\ntry:\n"
        "    while os.fork(): pass\n"
        "    signal.alarm(100); signal.pause(); os._exit(0)\n"
        "except OSError: pass"
    )
    forked = "pid = os.fork()\nif pid == 0: os._exit(7)\n"
    assert other.value(f"import os\n{forked}value = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])") == 7


def test_length_of_a_file(start: Callable[..., Box]) -> None:
    box = start(file_size=MIB)
    assert "File too large" in box.text("open('/tmp/long', 'wb').write(bytes(2 * 2**20))")


def test_disk(start: Callable[..., Box]) -> None:
    box = start(disk=4 * MIB, file_size=3 * MIB, files=100)
    full = "for n in range(10):\n    with open(f'{place}/{n}', 'wb') as f: f.write(bytes(2**20))\n"
    for place in ("/tmp", ".", "/dev/shm"):  # one limit for the three together
        assert "No space left on device" in box.text(f"place = {place!r}\n{full}")
    many = (
        "import os, glob\nfor f in glob.glob('/tmp/[0-9]'): os.unlink(f)\nfor n in range(200): open(f'/tmp/{n}', 'w')"
    )
    assert "No space left on device" in box.text(many)


def test_open_files(start: Callable[..., Box]) -> None:
    assert "Too many open files" in start(open_files=64).text("held = [open('/dev/null') for _ in range(100)]")


@pytest.mark.quick_cases("while True: pass")
@pytest.mark.parametrize(
    "busy",
    [
        "while True: pass",
        "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\n"
        "while True:\n    try:\n        while True: pass\n"
        "    except BaseException: pass",
        "import os\nfor _ in range(3): os.fork()\nwhile True: pass",
    ],
)
def test_processor_time(start: Callable[..., Box], busy: str) -> None:
    box = start(cpu_seconds=1)
    assert dies(box, busy) == "the kernel used up its processor time (1 seconds)"


@pytest.mark.parametrize(("code", "seconds", "expected"), [(-9, 0.8, True), (-9, 0.3, False), (1, 0.8, False)])
def test_a_process_that_the_system_kills_a_little_early_used_up_its_time(code: int, seconds: float, expected: bool):
    assert limit_ended(code, seconds, limit=1) == expected


@pytest.mark.quick_cases("orphans")
@pytest.mark.parametrize("family", ["if True", "if os.fork() == 0"], ids=["children", "orphans"])
def test_processor_time_of_processes_whose_end_nobody_waits_for(start: Callable[..., Box], family: str) -> None:
    box = start(cpu_seconds=4)
    busy = (
        "import os, signal, time\n"
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "for _ in range(60):\n"  # nine seconds in all, each over before it is much looked at
        "    ended, end = os.pipe()\n"
        "    if os.fork() == 0:\n"
        f"        {family}:\n"
        "            while time.process_time() < 0.15: pass\n"
        "        os._exit(0)\n"
        "    os.close(end); os.read(ended, 1); os.close(ended)"
    )
    assert dies(box, busy) == "the kernel used up its processor time (4 seconds)"


def test_a_handler_for_the_end_of_children_may_be_asked_for(box: Box) -> None:
    code = (
        "import signal, subprocess, torch\nsignal.signal(signal.SIGCHLD, print)\n"
        "from torch.utils.data import DataLoader\n"
        "loader = DataLoader(torch.arange(3), num_workers=1, batch_size=None)\n"
        "print([int(x) for x in loader], subprocess.call(['true']))"
    )
    assert box.text(code).splitlines()[-1] == "[0, 1, 2] 0"


def test_no_core_is_dumped(box: Box) -> None:
    assert box.value("import resource; value = resource.getrlimit(resource.RLIMIT_CORE)") == [0, 0]


def test_limits_cannot_be_raised(box: Box) -> None:
    for name in ("AS", "CPU", "FSIZE", "NPROC", "NOFILE", "CORE"):
        said = box.text(
            f"import resource as r\nsoft, hard = r.getrlimit(r.RLIMIT_{name})\n"
            f"r.setrlimit(r.RLIMIT_{name}, (hard + 1, hard + 1))"
        )
        assert "ValueError" in said or "PermissionError" in said


@pytest.mark.parametrize("ordinary", [False, True], ids=["sandboxed", "ordinary"])
class TestInterrupt:
    def test_stops_a_cell_and_keeps_the_kernel(self, start: Callable[..., Box], ordinary: bool) -> None:
        box = start(ordinary=ordinary)
        box.run("kept = 'kept'\n1 / 0")  # the first error that a kernel shows takes it long
        ran = box.run("import time\nwhile True: time.sleep(0.01)", seconds=0.5)
        assert ran.note == "stopped after 0.5 seconds"
        assert ran.outputs[-1].ename == "KeyboardInterrupt"
        assert box.text("print(kept)") == "kept\n"

    def test_that_is_swallowed_costs_the_kernel(self, start: Callable[..., Box], ordinary: bool) -> None:
        box = start(ordinary=ordinary)
        deaf = "import time\nwhile True:\n    try: time.sleep(9)\n    except KeyboardInterrupt: pass"
        assert dies(box, deaf, seconds=0.5) == "stopped after 0.5 seconds, and could not be interrupted"
        assert not box.session.alive


@pytest.mark.parametrize(
    ("deadly", "words"),
    [
        ("import os; os._exit(3)", "the kernel ended itself with exit code 3"),
        ("import ctypes; ctypes.string_at(0)", "the kernel crashed: segmentation fault"),
        ("import os; os.abort()", "the kernel crashed:"),
    ],
)
def test_a_kernel_that_dies_says_how(box: Box, deadly: str, words: str) -> None:
    assert dies(box, deadly).startswith(words)


def test_a_kernel_that_is_killed_says_so(box: Box) -> None:
    provisioner = box.provisioner
    assert provisioner.exit_reason is None
    box.session.stop()
    assert provisioner.exit_reason == "the kernel was ended by the grader"
    assert provisioner.cpu_seconds > 0


def test_every_ending_has_words() -> None:
    assert exit_reason(0, None) == "the kernel ended itself with exit code 0"
    assert exit_reason(-11, None) == "the kernel crashed: segmentation fault"
    assert exit_reason(-9, None) == "the kernel was ended by signal 9"
    assert exit_reason(-9, "ran out of memory") == "the kernel ran out of memory"


@pytest.mark.parametrize(
    "wrong", [{"memory": 0}, {"disk": -1}, {"cpu_seconds": 1.5}, {"device": "tpu"}, {"processes": "9"}]
)
def test_a_limit_that_is_none_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Policy(**wrong)  # type: ignore[arg-type]


def test_a_crowd_of_sleepers_is_ended_and_delays_no_other_kernel(start: Callable[..., Box]) -> None:
    """Shared memory counts in full for each of a crowd: to look at its shares would take the server of kernels long."""
    if "memory" in server().counted:
        pytest.skip("a control group counts memory here, and nobody looks at shares")
    crowd = start()
    said = dies(
        crowd,
        "import os, time\nheld = bytearray(os.urandom(4096)) * 2**14\n"
        "for _ in range(100):\n    try:\n        if os.fork() == 0:\n            time.sleep(600)\n"
        "    except OSError:\n        break\ntime.sleep(600)",
    )
    assert said == "the kernel ran out of memory (2048 MiB for all its processes)"
    assert start().text("print(1)") == "1\n"
