"""A kernel's messages are a stranger's bytes: what they make the grader keep is bounded, and so is what they cost."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from course.harness.program import Program
from course.harness.serialization import Node
from grading.errors import KernelDied, NoAnswer
from grading.judge.kernel.session import Limits, Session

MIB = 2**20
CALL = Program({}, [("out", Node("student", {"name": "f"}), [], {})], ["out"])
# Writes to the kernel's own connections, past libzmq, in which nothing else is being written
RAW = """
import os, select, socket, time
def connections():
    for name in os.listdir("/proc/self/fd"):
        try:
            one = socket.socket(fileno=os.dup(int(name)))
            if one.getsockname() and not one.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                yield one
        except (OSError, ValueError):
            pass
def write(data, seconds):
    until, left = time.monotonic() + seconds, {one: data for one in connections()}
    assert left
    while left and time.monotonic() < until:
        for one in select.select([], list(left), [], 0.1)[1]:
            try:
                left[one] = left[one][one.send(left[one], socket.MSG_DONTWAIT):] or data
            except BlockingIOError:
                pass
            except OSError:
                del left[one]
"""


@pytest.fixture
def start(sandboxed: None, tmp_path: Path) -> Iterator[Callable[..., Session]]:
    with ExitStack() as stack:

        def begin(**limits: float) -> Session:
            provisioning = {"provisioner_name": "attention-sandbox", "config": {}}
            return stack.enter_context(Session("python3", provisioning, tmp_path, Limits(**limits)))

        yield begin


def run(session: Session, *cells: str) -> None:
    for code in cells:
        session.run(code)


def anonymous() -> int:
    """Bytes that are no file's: what of the libraries is in memory, the system decides."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith(("RssAnon", "VmSwap")))


@contextmanager
def growth() -> Iterator[Callable[[], int]]:
    """While entered, the value tells how much memory of its own this process has had at most, beyond that at first."""
    stop, seen, before = threading.Event(), [0], anonymous()

    def look() -> None:
        while not stop.wait(0.01):
            seen[0] = max(seen[0], anonymous() - before)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield lambda: seen[0]
    finally:
        stop.set()
        thread.join()


@pytest.mark.quick_cases("unfinished", "empty")
@pytest.mark.parametrize(
    "data",
    [
        "b'\\x03' + (2**20).to_bytes(8, 'big') + bytes(2**20)",  # frames of a message that has no last one
        "b'\\x02' + (2**24).to_bytes(8, 'big') + bytes(2**24)",  # large messages, of which a thousand may wait
        "b'\\x01\\x00' * 2**19",
    ],
    ids=["unfinished", "large", "empty"],
)
def test_data_that_a_kernel_writes_to_its_own_sockets_fills_no_memory(start, data):
    session = start(cell=10.0)
    session.run(RAW)
    with growth() as grown:
        with pytest.raises(KernelDied):
            run(session, f"write({data}, 6)", "")
        assert grown() < 150 * MIB


def test_outputs_of_a_notebook_have_one_size(start):
    session = start(outputs=3 * MIB)
    runs = [session.run("print('x' * 1_000_000)\ndone = 1") for _ in range(6)]
    assert sum(len(output.text) for ran in runs for output in ran.outputs) < 3 * MIB
    assert [ran.note for ran in runs] == [""] * 6  # what has no room stops nobody
    assert "left out" in runs[-1].outputs[-1].text


def test_a_cell_that_is_run_again_takes_no_room_of_other_outputs(start):
    session = start(outputs=2 * MIB)
    for _ in range(4):
        session.run("print('x' * 1_000_000)", keep=False)
    assert len(session.run("print('x' * 1_000_000)").outputs[0].text) > 1_000_000


@pytest.mark.parametrize("value", ["[[]] * 2**20", "'[' * 2**22", "{'x': [0] * 2**20}"])
def test_a_reply_of_another_form_is_not_read_and_not_an_answer(start, value):
    session = start()
    session.run(f"import course.harness.runner as r\nr.handle_request = lambda request: {value}")
    with growth() as grown:
        with pytest.raises(NoAnswer):
            session.ask([CALL], 20.0)
        assert grown() < 100 * MIB
    assert session.run("1 + 1").outputs[0].data["text/plain"] == "2"


def test_a_kernel_that_closes_its_connection_is_not_waited_for(start):
    session = start(cell=600.0)
    with pytest.raises(KernelDied, match=r"closed|lost"):
        session.run(f"{RAW}\nfor one in connections(): one.shutdown(socket.SHUT_RDWR)\ntime.sleep(500)")
    assert session.spent < 60
