"""Windows and macOS, as far as they can be played here: the course works, and the sandbox refuses and says why.

What they lack is taken away before a module of ours is imported: modules, functions and constants. Libraries are
imported first, since theirs is another build there. Does not cover: what these systems have and Linux lacks.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import LONG

ROOT = Path(__file__).parents[2]
AS_ON = """
import asyncio, ctypes, os, platform, signal, socket, subprocess, sys
import filelock, IPython.display, ipywidgets, jupyter_client.provisioning, matplotlib.pyplot, nbgrader.apps
import safetensors.torch, torch

SYSTEMS = {
    "win32": "Windows",
    "darwin": "Darwin",
}
LACKS = {
    "win32": {
        os: "fork getegid geteuid getgid getuid killpg setresuid setsid pidfd_open sched_getaffinity O_CLOEXEC "
        "O_NOFOLLOW O_NONBLOCK",
        signal: "pidfd_send_signal setitimer ITIMER_REAL ITIMER_PROF SIGALRM SIGHUP SIGKILL SIGPROF",
        socket: "AF_UNIX SOCK_SEQPACKET SO_PEERCRED",
    },
    "darwin": {os: "setresuid pidfd_open sched_getaffinity", signal: "pidfd_send_signal", socket: "SO_PEERCRED"},
}
MODULES = {"win32": ["fcntl", "grp", "pwd", "resource", "termios"], "darwin": []}

sys.platform = sys.argv[1]
platform.system = lambda: SYSTEMS[sys.platform]
for module in MODULES[sys.platform]:
    sys.modules[module] = None
for module, names in LACKS[sys.platform].items():
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)
"""
REFUSES = """
from grading.cli.main import main
for verb in ("doctor", "grade"):
    print(verb, "ends with", main([verb]))
"""
LEARNS = """
import course
course.begin("02_softmax")
def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
print("points:", float(course.check(softmax)))
course.progress()
"""


def run_as_on(system: str, script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A script run by a Python that lacks what it lacks on `system`."""
    environment = {"PYTHONPATH": str(ROOT), "HOME": str(folder), "OMP_NUM_THREADS": "1", "ATTENTION_MEMORY": "off"}
    command = [sys.executable, "-W", "ignore", "-c", AS_ON + script, system]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=4 * LONG)


@pytest.mark.quick_cases("win32*")  # it lacks all that macOS lacks
@pytest.mark.parametrize(("system", "name"), [("win32", "Windows"), ("darwin", "Darwin")])
def test_the_sandbox_refuses_and_says_where_to_grade(system, name, tmp_path):
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\n")
    (tmp_path / "source").mkdir()
    done = run_as_on(system, REFUSES, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "doctor ends with 1" in done.stdout
    assert "grade ends with 2" in done.stdout
    for text in (done.stdout, done.stderr):  # of `doctor`, and of `grade`
        assert f"Missing: Linux (this is {name})." in text
        assert "Grade on Linux, or in a Linux virtual machine or container." in text
    assert "Traceback" not in done.stderr


@pytest.mark.full
@pytest.mark.parametrize("system", ["win32", "darwin"])
def test_a_learner_checks_an_answer(system, tmp_path):
    done = run_as_on(system, LEARNS, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "☑ softmax" in done.stdout
    assert float(done.stdout.partition("points: ")[2].split()[0]) > 0
