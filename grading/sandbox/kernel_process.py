"""One kernel from fork to end: confined first, then an ordinary IPython kernel.

`become_kernel` runs in a child that the fork server has just made, as the first process of a new process namespace.
Until it is confined it runs only the code below and the standard library; then it reports that to the grading process,
closes that line too, and starts the kernel. From then on it holds only five listening sockets (its Jupyter channels)
and /dev/null.
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import signal
import socket
import stat
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from . import filesystem, linux, seccomp_landlock
from .cgroups import Group
from .contained import Box, ContainedView, keep_temporary_files_in
from .policy import CHANNELS, Policy

_QUIET = linux.NOSUID | linux.NODEV
_EMPTY = "mode=000,size=4k"


def become_kernel(
    request: dict[str, Any],
    descriptors: list[int],
    group: Group | None = None,
    box: Box | None = None,
    view: ContainedView | None = None,
) -> None:
    """Confine this process, then serve as a kernel; does not return.

    `request` holds the `policy`; `descriptors` are the line to the grading process, the connection key, the listening
    sockets in the order of CHANNELS, and the directory of the kernel's files, if any; `group` is its control group, if
    there is one; `box` and `view` are there at the level `contained` only.
    """
    line, secret, *rest = descriptors
    channels, directories = rest[: len(CHANNELS)], rest[len(CHANNELS) :]
    try:
        linux.name_process("kernel")
        policy = Policy(**request["policy"])
        for name in ("SIGINT", "SIGTERM", "SIGCHLD", "SIGPIPE", "SIGHUP"):
            handler = signal.default_int_handler if name == "SIGINT" else signal.SIG_DFL
            signal.signal(getattr(signal, name), handler)
        with open(secret, "rb") as stream:
            key = stream.read()
        if box and view:
            places = box.work, box.temporary
            confine_as_user(policy, directories, [line, *channels], group, box, view)
        else:
            places = filesystem.WORK, filesystem.TEMPORARY
            confine(policy, directories, keep=[line, *channels], group=group)
        app = _kernel(policy, request["signature_scheme"], key, channels, *places)
        limit_memory(policy)
    except BaseException as error:
        with suppress(OSError):
            os.write(line, json.dumps({"failed": f"{type(error).__name__}: {error}"}).encode())
        os._exit(70)
    os.write(line, json.dumps({"confined": True}).encode())
    os.close(line)
    try:  # from here on this process cannot be trusted
        app.start()
    finally:
        os._exit(0)


def confine(policy: Policy, directories: list[int], keep: list[int], group: Group | None = None) -> None:
    """Leave this process only what `policy` grants. Raises OSError if refused."""
    if group:
        group.enter()
    os.setsid()
    linux.unshare(linux.NAMESPACES)
    socket.sethostname("kernel")
    user = linux.spare_user()
    _mount_private_directories(policy)
    for directory in directories:
        copy_files(directory, filesystem.WORK)
    if user is not None:
        for place in (filesystem.WORK, filesystem.TEMPORARY, filesystem.SHARED):
            _chown_tree(place, user)
    filesystem.restore_shadowed_mounts()
    linux.mount("hidden", filesystem.SHADOWED, "tmpfs", _QUIET, _EMPTY)
    close_all_but(keep)
    with open("/proc/self/oom_score_adj", "w") as stream:
        stream.write("1000")  # if memory runs out, this process is killed before the grader
    if user is None:
        linux.own_user_namespace()  # its processes are then counted apart from the teacher's
    limit(policy)
    linux.drop_privileges(user)
    devices = [
        *filesystem.DEVICES,
        filesystem.TERMINALS,
        *(filesystem.nvidia_devices() if policy.device == "cuda" else []),
    ]
    seccomp_landlock.install_landlock((filesystem.WORK, filesystem.TEMPORARY, filesystem.SHARED), devices)
    counted = group.counted if group else frozenset()
    seccomp_landlock.install_seccomp("memory" in counted or policy.device == "cuda", "time" in counted)


def confine_as_user(
    policy: Policy, directories: list[int], keep: list[int], group: Group | None, box: Box, view: ContainedView
) -> None:
    """As `confine`, where there are no namespaces: what file permissions, limits, seccomp and Landlock can forbid."""
    if group:
        group.enter()
    os.setsid()
    linux.adopt_orphans()  # they are watched and counted as the kernel's, as by the first process of a namespace
    close_all_but([*keep, *directories])
    with open("/proc/self/oom_score_adj", "w") as stream:
        stream.write("1000")
    limit(policy)
    linux.drop_privileges(box.user)
    for directory in directories:
        copy_files(directory, box.work)  # with its own rights: a judge that was taken over chose the directory
    close_all_but(keep)
    keep_temporary_files_in(box.temporary)
    devices = [
        *(path for path in (*filesystem.DEVICES, filesystem.TERMINALS, "/dev/ptmx") if os.path.exists(path)),
        *(filesystem.nvidia_devices() if policy.device == "cuda" else []),
    ]
    writable = [path for path in (box.path, filesystem.SHARED) if os.path.isdir(path)]
    seccomp_landlock.install_landlock(writable, devices, view.readable, view.listed)
    counted = group.counted if group else frozenset()
    uncounted = "memory" in counted or policy.device == "cuda", "time" in counted
    seccomp_landlock.install_seccomp(*uncounted, contained=True)


def _mount_private_directories(policy: Policy) -> None:
    """Mount this kernel's working directory, /tmp, /dev/shm, /proc and terminals.

    The first three share one size-limited tmpfs; IPython runs `!` commands in the terminals.
    """
    if os.path.isdir(filesystem.WITH_GPU):
        if policy.device == "cuda":
            linux.bind(filesystem.WITH_GPU, "/dev")
        linux.mount("hidden", filesystem.WITH_GPU, "tmpfs", _QUIET, _EMPTY)
    linux.mount("box", filesystem.BOX, "tmpfs", _QUIET, f"mode=755,size={policy.disk},nr_inodes={policy.files}")
    for place in (filesystem.WORK, filesystem.TEMPORARY, filesystem.SHARED):
        inside = os.path.join(filesystem.BOX, os.path.basename(place))
        os.mkdir(inside, 0o700)
        linux.bind(inside, place)
    linux.unmount(filesystem.BOX)
    linux.mount("proc", "/proc", "proc", _QUIET | linux.NOEXEC)
    linux.mount(
        "terminals",
        filesystem.TERMINALS,
        "devpts",
        linux.NOSUID | linux.NOEXEC,
        "newinstance,ptmxmode=666,mode=600,max=16",
    )


def copy_files(directory: int, target: str) -> None:
    """Copy files and directories below the open `directory` to `target`, no links.

    Student code may change these files, so it gets copies; a link would point to something else in here.
    """
    for folder, _, names, inside in os.fwalk(".", dir_fd=directory, follow_symlinks=False):
        os.makedirs(os.path.join(target, folder), exist_ok=True)
        for name in names:
            if not stat.S_ISREG(os.lstat(name, dir_fd=inside).st_mode):
                continue
            descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=inside)
            with open(descriptor, "rb") as source, open(os.path.join(target, folder, name), "wb") as copy:
                shutil.copyfileobj(source, copy)


def _chown_tree(place: str, user: int) -> None:
    for folder, _, names in os.walk(place):
        for path in (folder, *(os.path.join(folder, name) for name in names)):
            os.chown(path, user, user)


def close_all_but(keep: Iterable[int]) -> None:
    """Close all descriptors but these; standard ones become /dev/null."""
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    previous = 2
    for descriptor in (*sorted(keep), 2**31 - 2):
        os.closerange(previous + 1, descriptor)
        previous = descriptor


def limit(policy: Policy) -> None:
    """Set the resource limits of this process and its children, except memory."""
    limits = {
        "CORE": 0,
        "CPU": policy.cpu_seconds,
        "FSIZE": policy.file_size,
        "MSGQUEUE": 0,
        "NOFILE": policy.open_files,
        "NPROC": policy.processes,
    }
    for name, value in limits.items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))


def limit_memory(policy: Policy) -> None:
    """Let this process, and each that it starts, take `policy.memory` more.

    Reserved memory counts, so a kernel must have its threads by now: their stacks and heaps reserve 100 MiB.
    """
    if policy.device == "cpu":  # CUDA reserves terabytes of address space
        with open("/proc/self/statm") as stream:
            most = int(stream.read().split()[0]) * resource.getpagesize() + policy.memory
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _kernel(policy: Policy, scheme: str, key: bytes, channels: list[int], work: str, temporary: str) -> Any:
    """An IPython kernel that lacks only `start()`; no student code runs before."""
    from . import kernel

    os.environ.update(policy.environment)
    reseed()
    app = kernel.initialize(dict(zip(CHANNELS, channels, strict=True)), key, scheme, policy.threads, temporary)
    os.chdir(work)  # only now, so that IPython reads no configuration from there
    for name in [name for name in sys.modules if name.split(".")[0] == __name__.split(".")[0]]:
        del sys.modules[name]
    return app


def reseed() -> None:
    """Reseed this child, which has inherited the state of all generators."""
    import numpy as np
    import torch

    random.seed()
    np.random.seed()
    torch.seed()
