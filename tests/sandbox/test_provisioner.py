"""What jupyter_client, nbclient and a learner's cells ask of a kernel, sandboxed and ordinary alike."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from typing import Any

import nbformat
import pytest
from jupyter_client.kernelspec import get_kernel_spec
from jupyter_client.manager import AsyncKernelManager, KernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from grading.sandbox import SandboxUnavailable

from .conftest import LONG, Box

both = pytest.mark.parametrize("ordinary", [False, True], ids=["sandboxed", "ordinary"])


def sandboxed(kind: type[Any] = KernelManager, **config: Any) -> Any:
    manager = kind(kernel_name="python3")
    spec = get_kernel_spec("python3")
    spec.metadata = {"kernel_provisioner": {"provisioner_name": "attention-sandbox", "config": config}}
    manager._kernel_spec = spec
    return manager


@pytest.mark.quick_cases("sandboxed")
@both
def test_cells_do_what_they_do_anywhere(start: Callable[..., Box], ordinary: bool) -> None:
    box = start(ordinary=ordinary)
    for cell, shown in [
        ("import torch\n(torch.ones(3) ** 2).sum()", "tensor(3.)"),
        ("x = torch.ones(2, requires_grad=True)\nx.sum().backward()\nx.grad", "tensor([1., 1.])"),
        ("print('out')\nimport sys; print('err', file=sys.stderr)\n7", "out\nerr\n7"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("!echo from a shell", "from a shell"),
        ("import subprocess; subprocess.run(['echo', 'hi'], capture_output=True).stdout", "b'hi\\n'"),
        ("import asyncio\nawait asyncio.sleep(0, 'awaited')", "'awaited'"),
        ("import threading as t\nt = t.Thread(target=print, args=('a thread',)); t.start(); t.join()", "a thread"),
        ("import multiprocessing as m\nm.get_context('fork').Pool(1).map(str, ['in a pool'])", "['in a pool']"),
        ("import course; callable(course.begin)", "True"),
    ]:
        assert box.text(cell).strip() == shown


def test_a_kernel_of_a_lesson_finds_its_examples_read_already(start: Callable[..., Box]) -> None:
    ask = """
        from course.notebook.catalog import exercises_of, read_examples
        before = read_examples.cache_info().misses
        value = ["softmax" in exercises_of("02_softmax"), read_examples.cache_info().misses - before]
    """
    assert start(lesson="02_softmax").value(inspect.cleandoc(ask)) == [True, 0]
    assert start(lesson="../no such lesson").value("value = 1") == 1


@pytest.mark.quick_cases("sandboxed")
@both
def test_the_process_of_a_kernel_is_known_by_its_number_out_here(start: Callable[..., Box], ordinary: bool) -> None:
    box = start(ordinary=ordinary)
    inside = box.value("import os; value = os.getpid()")
    with open(f"/proc/{box.provisioner.pid}/status") as status:
        [numbers] = [line.split()[1:] for line in status if line.startswith("NSpid:")]  # from out here inwards
    assert (numbers[0], numbers[-1]) == (str(box.provisioner.pid), str(inside))
    assert (inside == 1) is not ordinary


@pytest.mark.quick_cases("told0-sandboxed")
@both
@pytest.mark.parametrize("told", [{}, {"draws": True}])
def test_pictures_are_shown_inline(start: Callable[..., Box], ordinary: bool, told: dict[str, bool]) -> None:
    outputs = (
        start(ordinary=ordinary, **({} if ordinary else told))
        .run("%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2]); plt.title('$x^2$')\nNone")
        .outputs
    )
    assert [output.output_type for output in outputs] == ["display_data"], outputs
    assert "image/png" in outputs[0].data


def test_a_forked_process_prints_into_the_cell(box: Box) -> None:
    said = box.text(
        "import os, sys, time\npid = os.fork()\nif pid == 0:\n"
        "    print('from the child'); sys.stdout.flush(); os._exit(0)\n"
        "print(os.waitpid(pid, 0)[1])"
    )
    deadline = time.monotonic() + LONG
    while "from the child" not in said and time.monotonic() < deadline:  # it comes by a thread of the kernel
        said += box.text("time.sleep(0.1)")
    assert "from the child" in said


def test_torch_workers_and_threads(start: Callable[..., Box]) -> None:
    loaded = "[b.tolist() for b in DataLoader(range(6), batch_size=3, num_workers=2)]"
    assert start().value(f"from torch.utils.data import DataLoader\nvalue = {loaded}") == [[0, 1, 2], [3, 4, 5]]
    summed = "float(torch.ones(500, 500).mm(torch.ones(500, 500)).sum())"
    assert start(threads=2).value(f"import torch; value = [torch.get_num_threads(), {summed}]") == [2, 500.0**3]


def test_variables_can_be_set_for_a_kernel(start: Callable[..., Box]) -> None:
    assert start(environment={"ATTENTION_SEED": "7"}).text("import os; print(os.environ['ATTENTION_SEED'])") == "7\n"


def test_a_device_that_is_not_there_is_not_shown(start: Callable[..., Box]) -> None:
    box = start(device="cuda")  # without a GPU the same code runs on the CPU
    device = "'cuda' if torch.cuda.is_available() else 'cpu'"
    assert box.value(f"import torch; value = float(torch.ones(2, device={device}).sum())") == 2.0
    assert start().value("import torch; value = torch.cuda.is_available()") is False


def test_what_draws_is_imported_for_kernels_from_the_first_that_is_likely_to(start: Callable[..., Box]) -> None:
    ask = "import sys; value = 'matplotlib.font_manager' in sys.modules"  # which takes half of the time
    assert [start(ahead=["bisect"], draws=draws).value(ask) for draws in (False, True, False)] == [False, True, True]


def test_modules_can_be_imported_ahead(start: Callable[..., Box]) -> None:
    assert start(ahead=["colorsys"]).value("import sys; value = 'colorsys' in sys.modules") is True


def test_a_kernel_can_be_restarted_on_the_same_channels() -> None:
    manager = sandboxed()
    manager.start_kernel()
    client = manager.client()
    try:
        client.start_channels()
        client.wait_for_ready(LONG)
        client.execute_interactive("kept = 1", timeout=LONG)
        manager.restart_kernel(now=True)
        client.wait_for_ready(LONG)
        reply = client.execute_interactive("kept", timeout=LONG, output_hook=lambda message: None)
        assert reply["content"]["ename"] == "NameError"
        manager.shutdown_kernel()  # by asking, as a server does
        assert manager.provisioner.exit_reason == "the kernel ended itself with exit code 0"
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_nbclient_runs_a_notebook_in_it() -> None:
    cells = ["import os; print(os.getcwd())", "import torch; torch.ones(2)", "raise ValueError('mine')"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    with pytest.raises(CellExecutionError, match="mine"):
        NotebookClient(notebook, km=sandboxed(AsyncKernelManager), timeout=int(LONG)).execute()
    assert notebook.cells[0].outputs[0].text == "/sandbox/work\n"
    assert notebook.cells[1].outputs[0].data["text/plain"] == "tensor([1., 1.])"


def test_an_unknown_limit_is_refused() -> None:
    with pytest.raises(TypeError, match="'memry' is not a limit"):
        sandboxed(memry=1).start_kernel()


def test_files_that_are_none_are_refused(tmp_path: Any) -> None:
    with pytest.raises(NotADirectoryError, match="not-there"):
        sandboxed().start_kernel(cwd=str(tmp_path / "not-there"))


def test_files_that_do_not_fit_are_refused(start: Callable[..., Box], tmp_path: Any) -> None:
    (tmp_path / "large").mkdir()
    (tmp_path / "large" / "data").write_bytes(bytes(2 * 2**20))
    with pytest.raises(SandboxUnavailable, match="No space left on device"):
        start(release=tmp_path / "large", disk=2**20)
