"""Which parts of the sandbox this machine grants, found by trying each.

Covers: everything that confining a kernel takes, each tried in its own short process; for the present user, and for
root also as an ordinary user. `REQUIRED` is the minimum: below it nothing is graded. Does not cover: the confinement
itself (`filesystem`, `kernel_process`, `seccomp_landlock`).
"""

from __future__ import annotations

import functools
import json
import os
import platform
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from . import linux, seccomp_landlock
from .policy import CONTAINED, FULL, NONE, Grant, SandboxUnavailable

_SCRIPT = "import sys; sys.path.append({here!r}); from sandbox import host_check; host_check.main({user!r})"
_PATIENCE = 60.0  # seconds for all trials together, which take tenths of a second

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


# Trials. Each runs in its own process; its result is shown, and an exception means a refusal.


def _try_users() -> str:
    if (user := linux.spare_user()) is not None:
        os.setresuid(user, user, user)
        return f"each kernel gets its own user (such as {user})"
    linux.own_user_namespace()
    return "each kernel gets its own user namespace"


def _try_other_user() -> str:
    if os.geteuid() != 0:
        raise OSError("only root can start processes as another user")
    from . import contained

    directory = tempfile.mkdtemp(prefix="trial-")
    box, (ours, theirs) = contained.make_box(directory), os.pipe()
    if os.fork() == 0:
        try:
            linux.drop_privileges(box.user)
            os.write(theirs, b"x")
            signal.pause()
        finally:
            os._exit(1)
    os.close(theirs)
    became = os.read(ours, 1)
    contained.end_box(box)
    os.rmdir(directory)
    if not became:
        raise OSError("no process may become another user")
    return f"student code can be another user (such as {box.user}), whose processes can be ended"


def _unshare_trial(flags: int) -> Callable[[], str]:
    def trial() -> str:
        _become_privileged()
        linux.unshare(flags)
        return ""

    return trial


def _become_privileged() -> None:
    if os.geteuid() != 0:
        linux.own_user_namespace()


def _try_processes() -> str:
    _become_privileged()
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
    return "with its own /proc"


def _try_root() -> str:
    _become_privileged()
    linux.unshare(linux.NEWNS)
    linux.mount(None, "/", None, linux.REC | linux.PRIVATE)
    linux.mount("trial", "/tmp", "tmpfs", linux.NOSUID, "mode=755,size=64k")
    os.mkdir("/tmp/usr")
    linux.bind("/usr", "/tmp/usr")
    linux.restrict_mount("/tmp/usr")
    linux.change_root("/tmp")
    if os.listdir("/") != ["usr"]:
        raise OSError("the old root is still there")
    return "with its own root"


def _try_seccomp() -> str:
    linux.no_new_privileges()
    seccomp_landlock.install_seccomp()
    try:
        socket.socket(socket.AF_INET).close()
    except OSError:
        return platform.machine()
    raise OSError("the filter was accepted but has no effect")


def _try_landlock() -> str:
    if not (version := seccomp_landlock.landlock_version()):
        raise OSError("not in this system, or not switched on (`lsm=landlock,…` at boot)")
    linux.no_new_privileges()
    seccomp_landlock.install_landlock((), ())
    try:
        os.close(os.open("/dev/null", os.O_WRONLY))
    except OSError:
        return f"version {version} of its interface"
    raise OSError("the rules were accepted but have no effect")


#: The trials by name, in the order in which they are shown.
_TRIALS: dict[str, Callable[[], str]] = {
    "users": _try_users,
    "processes": _try_processes,
    "mounts": _try_root,
    "network": _unshare_trial(linux.NEWNET),
    "messages": _unshare_trial(linux.NEWIPC),
    "host name": _unshare_trial(linux.NEWUTS),
    "control groups": _unshare_trial(linux.NEWCGROUP),
    "system calls": _try_seccomp,
    "Landlock": _try_landlock,
    "another user": _try_other_user,
}
_trusted = False
#: The minimum. Landlock is a second barrier behind the file tree of `mounts`.
REQUIRED = tuple(name for name in _TRIALS if name not in ("Landlock", "another user"))
#: The minimum of the level `contained`, which does without namespaces and mounts.
REQUIRED_CONTAINED = ("another user", "system calls")


def main(user: int | None) -> None:
    """Run all trials as `user` (the current user if None) and print JSON."""
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
    """The grants of the system to the current user, or, for root, the user `user`."""
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
    """Skip the check in this process, which only borrows a checked fork server."""
    global _trusted
    _trusted = True


def require(level: str = FULL) -> None:
    """Raise SandboxUnavailable, with what is missing and a remedy, if this machine does not grant a level."""
    if _trusted:
        return
    missing, remedy = _missing(level)
    if missing:
        raise SandboxUnavailable(missing, remedy)


def strongest(contained: bool = False) -> str:
    """The strongest level that this machine grants; `contained` only if it is asked for."""
    for level in (FULL, CONTAINED) if contained else (FULL,):
        if not _missing(level)[0]:
            return level
    return NONE


@functools.cache
def _missing(level: str) -> tuple[str, str]:
    needed = REQUIRED if level == FULL else REQUIRED_CONTAINED
    found = grants()
    wanted = [grant for grant in found if grant.name in needed or grant.name not in _TRIALS]
    missing = [f"{grant.name} ({grant.detail})" for grant in wanted if not grant.granted]
    if not missing:
        return "", ""
    text = f"This machine cannot confine student code. Missing: {'; '.join(missing)}."
    if sys.platform != "linux":
        return text, (
            "Grade on Linux, or in a Linux virtual machine or container. The course and its "
            "notebooks need no sandbox and work everywhere."
        )
    if level == CONTAINED:
        return text, "In a container, grade as root, with the container engine's default settings."
    return text, _AS_ROOT if os.geteuid() == 0 else _AS_USER
