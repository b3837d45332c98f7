"""What the machine grants is asked of it, and below the minimum nothing is run. Each lack here is a real one."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from grading.sandbox import SandboxUnavailable, grants, require
from grading.sandbox.doctor import doctor
from grading.sandbox.host_check import REQUIRED
from grading.sandbox.policy import Grant

from .conftest import LONG, leads_to_python

ROOT = Path(__file__).parents[2]
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox's home is Linux")

#: What no kernel may reach, unless it is on the way to Python.
OTHERS = ("/etc/passwd", "/var", "/run", str(ROOT / "grading"), str(ROOT / "source"))

ORDINARY = """
from tests.support.unprivileged import become_ordinary
become_ordinary()
"""
NO_NAMESPACES = """
from grading.sandbox import linux
linux.own_user_namespace()
open("/proc/sys/user/max_user_namespaces", "w").write("0")
"""
FILTERED = """
from grading.sandbox import linux, seccomp_landlock
linux.no_new_privileges()
seccomp_landlock.install_seccomp()
"""
REFUSED = """
from jupyter_client.manager import KernelManager
from grading.sandbox import SandboxUnavailable
from grading.sandbox.doctor import doctor
manager = KernelManager(kernel_name="python3")
manager.kernel_spec.metadata["kernel_provisioner"] = {"provisioner_name": "attention-sandbox"}
try:
    manager.start_kernel()
except SandboxUnavailable as problem:
    print("refused:", problem)
print(manager.is_alive())
print(doctor())
"""
CONFINED = """
from jupyter_client.manager import KernelManager
manager = KernelManager(kernel_name="python3")
config = {"processes": 40}
manager.kernel_spec.metadata["kernel_provisioner"] = {"provisioner_name": "attention-sandbox", "config": config}
manager.start_kernel()
client = manager.client()
client.start_channels()
client.wait_for_ready(LONG)
client.execute_interactive('''
import os, socket
status = dict(line.split(":\\\\t", 1) for line in open("/proc/self/status").read().splitlines())
print("capabilities", status["CapEff"], status["CapBnd"], status["NoNewPrivs"], status["Seccomp"])
print("processes", [n for n in os.listdir("/proc") if n.isdigit()])
print("reach", [p for p in REACH if os.path.exists(p)])
for attempt in (lambda: socket.create_connection(("127.0.0.1", 9)), lambda: os.kill(99999, 0),
                lambda: open("/usr/x", "w"), lambda: [os.fork() or os._exit(0) for _ in range(100)]):
    try:
        attempt(); print("worked")
    except OSError as error:
        print(type(error).__name__)
''', timeout=LONG)
client.stop_channels()
manager.shutdown_kernel(now=True)
print(manager.provisioner.exit_reason)
""".replace("REACH", repr([path for path in OTHERS if not leads_to_python(path)])).replace("LONG", str(LONG))


def run(script: str) -> str:
    """What `script` prints, run in a process of its own with a home of its own."""
    with tempfile.TemporaryDirectory() as home:
        os.chmod(home, 0o777)
        environment = {"PATH": os.environ["PATH"], "HOME": home, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
        ran = subprocess.run(
            [sys.executable, "-c", script], env=environment, cwd=ROOT, capture_output=True, text=True, timeout=4 * LONG
        )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_the_minimum_is_stated_and_asked() -> None:
    found = {grant.name: grant for grant in grants()}
    if sys.platform == "linux":
        assert set(REQUIRED) <= set(found)
        assert {"users", "processes", "mounts", "network", "messages", "system calls"} <= set(REQUIRED)
    else:
        with pytest.raises(SandboxUnavailable, match=r"Missing: Linux"):
            require()


@linux_only
def test_another_user_is_granted_to_those_who_may_become_one() -> None:
    tried = subprocess.run([sys.executable, "-c", "import os; os.setuid(65534)"], capture_output=True)
    granted = {grant.name: grant.granted for grant in grants()}
    assert granted["another user"] == (tried.returncode == 0)


def test_the_error_survives_pickling() -> None:
    problem = pickle.loads(pickle.dumps(SandboxUnavailable("No way.", "Do this.")))
    assert (problem.missing, problem.remedy, str(problem)) == ("No way.", "Do this.", "No way.\nDo this.")


def test_doctor_reports_what_the_system_grants() -> None:
    text = doctor()
    for grant in grants():
        assert grant.name in text
        assert grant.detail.split(" (")[0] in text
    enough = all(grant.granted for grant in grants() if grant.required)
    assert ("Grading is sandboxed on this machine." in text) is enough
    assert ("Nothing can be graded here" in text) is not enough
    if enough:  # and whether the system counts for all processes of a kernel, or we do
        from grading.sandbox.launch import server  # which needs Linux

        told = text.partition("Resources that all processes of a kernel use together are counted\n")[2].splitlines()[:3]
        for what, line in zip(("memory", "processes", "time"), told, strict=True):
            assert line.split()[:2] == [what, "by"]
            assert ("by a control group" in line) is (what in server().counted)


@linux_only
def test_an_ordinary_user_gets_a_sandbox_or_a_reason() -> None:
    said = run(f"{ORDINARY}\nfrom grading.sandbox import grants\nprint([tuple(g) for g in grants()])")
    found = [Grant(*grant) for grant in eval(said)]  # noqa: S307 - our own process said it
    if missing := [grant for grant in found if grant.required and not grant.granted]:
        assert all(grant.detail for grant in missing)
        assert "user namespaces" in run(ORDINARY + REFUSED)
        return
    lines = run(ORDINARY + CONFINED).splitlines()
    assert lines == [
        "capabilities 0000000000000000 0000000000000000 1 2",
        "processes ['1']",
        "reach []",
        "OSError",
        "ProcessLookupError",
        "OSError",
        "BlockingIOError",
        "the kernel was ended by the grader",
    ]


@pytest.mark.quick_cases("no user namespaces")
@linux_only
@pytest.mark.parametrize(
    ("lack", "missing", "remedy"),
    [
        (FILTERED, "network (unshare: Operation not permitted)", "--security-opt seccomp=unconfined"),
        (ORDINARY + NO_NAMESPACES, "users (unshare: No space left on device)", "user.max_user_namespaces"),
    ],
    ids=["system calls are filtered", "no user namespaces"],
)
def test_below_the_minimum_nothing_is_run(lack: str, missing: str, remedy: str) -> None:
    said = run(lack + REFUSED)
    assert "refused: This machine cannot confine student code." in said
    assert missing in said
    assert remedy in said
    assert "\nFalse\n" in said
    assert "Nothing can be graded here without `--unsandboxed`." in said
