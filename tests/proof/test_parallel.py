"""Processes that prove side by side end with the process that started them, however it ends."""

from __future__ import annotations

import subprocess
import sys
import time

import psutil
import pytest

from grading.cpu_count import cpu_count

PARENT = """
import sys
from tests.proof.test_parallel import say_and_wait
from grading.proof.parallel import run_in_parallel

if __name__ == "__main__":
    list(run_in_parallel(say_and_wait, [(sys.argv[1], n) for n in range(2)]))
"""


def say_and_wait(folder: str, number: int) -> None:
    with open(f"{folder}/{number}", "w") as file:
        file.write("started")
    time.sleep(3600)


@pytest.mark.full
@pytest.mark.skipif(cpu_count() < 2, reason="with one processor nothing runs side by side")
def test_a_killed_proof_leaves_no_process(tmp_path):
    (tmp_path / "parent.py").write_text(PARENT)
    with subprocess.Popen([sys.executable, tmp_path / "parent.py", tmp_path]) as parent:
        while not all((tmp_path / str(n)).exists() for n in range(2)):
            assert parent.poll() is None
            time.sleep(0.1)
        workers = psutil.Process(parent.pid).children(recursive=True)
        assert len(workers) >= 2
        parent.kill()
    left = psutil.wait_procs(workers, timeout=600)[1]
    for worker in left:
        worker.kill()
    assert not left
