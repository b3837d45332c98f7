"""What this machine grants to a sandbox: asked of the system by trying, never by reading versions.

Covers: each thing that confining a kernel takes, tried in a process of its own that ends at once; for
the present user, and for root also as an ordinary user. `REQUIRED` is the minimum: below it nothing is
graded. Not here: the confinement itself (`tree`, `child`, `filters`).
"""

from __future__ import annotations

import functools
import json
import os
import platform
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from . import linux, seccomp_landlock
from .policy import Grant, SandboxUnavailable

_SCRIPT = "import sys; sys.path.append({here!r}); from sandbox import host_check; host_check.main({user!r})"
_PATIENCE = 60.0  # seconds for all trials together, which take tenths of one

_AS_ROOT = (
    "In a container, start it with `--privileged`, or with `--cap-add SYS_ADMIN "
    "--security-opt seccomp=unconfined --security-opt apparmor=unconfined "
    "--security-opt systempaths=unconfined`."
)
_AS_USER = (
    "Allow ordinary users to make user namespaces: `sudo sysctl -w "
    "kernel.apparmor_restrict_unprivileged_userns=0` (Ubuntu 24.04 and later), "
    "`kernel.unprivileged_userns_clone=1` (Debian), `user.max_user_namespaces=15000` "
    f"(Red Hat). {_AS_ROOT}"
)


#: What `ForkServer.counted` may name, and what holds a kernel to it otherwise.


# Trials. Each runs in a process of its own; what it returns is shown, what it raises is a refusal.


def _users() -> str:
    if (user := linux.spare_user()) is not None:
        os.setresuid(user, user, user)
        return f"each kernel gets a user of its own (such as {user})"
    linux.own_user_namespace()
    return "each kernel gets a user namespace of its own"


def _apart(flags: int) -> Callable[[], str]:
    def trial() -> str:
        _privileged()
        linux.unshare(flags)
        return ""

    return trial


def _privileged() -> None:
    if os.geteuid() != 0:
        linux.own_user_namespace()


def _processes() -> str:
    _privileged()
    linux.unshare(linux.NEWPID | linux.NEWNS)
    pid = os.fork()
    if pid == 0:
        try:
            linux.mount(None, "/", None, linux.REC | linux.PRIVATE)
            linux.mount("proc", "/proc", "proc", linux.NOSUID | linux.NODEV | linux.NOEXEC)
            os._exit(0)
        except OSError as error:
            os._exit(error.errno or 255)
    if code := os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]):
        raise OSError(code, f"mount /proc: {os.strerror(code)}")
    return "with a /proc of its own"


def _root() -> str:
    _privileged()
    linux.unshare(linux.NEWNS)
    linux.mount(None, "/", None, linux.REC | linux.PRIVATE)
    linux.mount("trial", "/tmp", "tmpfs", linux.NOSUID, "mode=755,size=64k")
    os.mkdir("/tmp/usr")
    linux.bind("/usr", "/tmp/usr")
    linux.restrict_mount("/tmp/usr")
    linux.change_root("/tmp")
    if os.listdir("/") != ["usr"]:
        raise OSError("the old root is still there")
    return "with a root of its own"


def _seccomp() -> str:
    linux.no_new_privileges()
    seccomp_landlock.install_seccomp()
    try:
        socket.socket(socket.AF_INET).close()
    except OSError:
        return platform.machine()
    raise OSError("the filter was taken and does nothing")


def _landlock() -> str:
    if not (version := seccomp_landlock.landlock_version()):
        raise OSError("not in this system, or not switched on (`lsm=landlock,…` at boot)")
    linux.no_new_privileges()
    seccomp_landlock.install_landlock((), ())
    try:
        os.close(os.open("/dev/null", os.O_WRONLY))
    except OSError:
        return f"version {version} of its interface"
    raise OSError("the rules were taken and do nothing")


#: What is tried, in the order in which it is shown: its name, and how.
_TRIALS: dict[str, Callable[[], str]] = {
    "users": _users,
    "processes": _processes,
    "mounts": _root,
    "network": _apart(linux.NEWNET),
    "messages": _apart(linux.NEWIPC),
    "host name": _apart(linux.NEWUTS),
    "control groups": _apart(linux.NEWCGROUP),
    "system calls": _seccomp,
    "Landlock": _landlock,
}
_trusted = False
#: The minimum. Landlock is a second lock on a door that the tree of `mounts` has shut already.
REQUIRED = tuple(name for name in _TRIALS if name != "Landlock")


def main(user: int | None) -> None:
    """Try everything as `user` (as who this is where None), and print what came out as JSON."""
    if user is not None:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
        linux.reclaim_proc()
    found = {}
    for name, trial in _TRIALS.items():
        ours, theirs = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                answer = [True, trial()]
            except Exception as error:
                answer = [False, getattr(error, "strerror", None) or str(error)]
            os.write(theirs, json.dumps(answer).encode())
            os._exit(0)
        os.close(theirs)
        with open(ours, "rb") as stream:
            text = stream.read()
        os.waitpid(pid, 0)
        found[name] = json.loads(text) if text else [False, "the trial was killed"]
    print(json.dumps(found))


def grants(user: int | None = None) -> tuple[Grant, ...]:
    """What the system grants to who this is, or, asked by root, to the ordinary user `user`."""
    if sys.platform != "linux":
        return (Grant("Linux", False, f"this is {platform.system()}", True),)
    script = _SCRIPT.format(here=str(Path(__file__).parents[1]), user=user)
    try:
        answer = subprocess.run(
            [sys.executable, "-I", "-S", "-c", script],
            env={},
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
        )
        found = json.loads(answer.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        return (Grant("trials", False, f"they could not be run: {error}", True),)
    return tuple(Grant(name, granted, detail, name in REQUIRED) for name, (granted, detail) in found.items())


def trust() -> None:
    """Have `require` ask the system no more: this process makes no kernel, and what it is lent does."""
    global _trusted
    _trusted = True


def require() -> None:
    """Raise SandboxUnavailable, with what is missing and how to get it, below the minimum."""
    if _trusted:
        return
    missing, remedy = _missing()
    if missing:
        raise SandboxUnavailable(missing, remedy)


@functools.cache
def _missing() -> tuple[str, str]:
    found = grants()
    missing = [f"{grant.name} ({grant.detail})" for grant in found if grant.required and not grant.granted]
    if not missing:
        return "", ""
    text = f"This machine does not let student code be confined. Missing: {'; '.join(missing)}."
    if sys.platform != "linux":
        return text, (
            "Grade on Linux, or in a Linux virtual machine or container. The course and its "
            "notebooks need no sandbox and work everywhere."
        )
    return text, _AS_ROOT if os.geteuid() == 0 else _AS_USER
