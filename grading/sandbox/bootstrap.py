"""The start of the judges' server, which forks the kernels' fork server.

Run as `python -I -S -c "…; from sandbox import bootstrap; bootstrap.begin(fd)"`, where `sandbox` is this package under
a separate name. It gets one open descriptor, a socket to the coordinator, and, if judges are confined, the environment
of kernels.

Both servers need torch, the slowest import, so it is imported once, here. The fork server is forked before `grading` is
imported, so it holds nothing that a kernel must not find. Then both import the rest at the same time, because the first
grade waits for both.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import site
import socket
import sys
import traceback
from contextlib import suppress
from typing import Any

from .server_process import ForkedServer

MESSAGE = 1 << 16


def begin(descriptor: int) -> tuple[socket.socket, dict[str, Any] | None, dict[str, Any] | None, ForkedServer | None]:
    """Become what the messages at the socket `descriptor` ask for.

    Returns that socket, "tree" and "files" of the messages, and the fork server, if there is one.

    The first message is an object with
        tree         the visible files, from `filesystem.plan`; None for all
        directory    where that tree is mounted
        kernels      where kernels find modules; None if there will be none

    It is answered; on failure, with the reason, and the process ends. The second does not concern kernels:
        path         sys.path
        environment  os.environ; None to leave it unchanged
        files        what kernels will see, from `filesystem.plan`; None if there can be none
    """
    os.umask(0o022)
    control = socket.socket(fileno=descriptor)
    setup = json.loads(control.recv(MESSAGE))
    try:
        if setup["tree"]:
            _move(control, setup["tree"], setup["directory"])
        answer: dict[str, Any] = {"ready": True}
    except BaseException as error:
        answer = {"error": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}
    control.send(json.dumps(answer).encode())
    if "ready" not in answer:
        os._exit(0)
    kernels = _fork_server(control, setup["kernels"]) if setup["kernels"] else None
    setup_rest = json.loads(control.recv(MESSAGE) or b"{}")
    if not setup_rest:
        os._exit(0)  # the coordinator is gone
    site.main()  # detects a virtual environment
    sys.path[:] = setup_rest["path"]
    if setup_rest["environment"] is not None:
        os.environ.clear()
        os.environ.update(setup_rest["environment"])
    return control, setup["tree"], setup_rest["files"], kernels


def _move(control: socket.socket, arranged: dict[str, Any], directory: str) -> None:
    """Enter a private file tree and namespaces, if there can be any."""
    from . import filesystem, forkserver, linux
    from .policy import CONTAINED

    linux.name_process("judges")
    if arranged["level"] == CONTAINED:
        forkserver.enter_namespaces(control, directory, None)
        return
    forkserver.enter_namespaces(control, directory, linux.NEWNS | linux.NEWUTS | linux.NEWIPC | linux.NEWNET)
    filesystem.build(arranged, directory)
    importlib.invalidate_caches()
    sys.path_importer_cache.clear()


def _fork_server(control: socket.socket, path: list[str]) -> ForkedServer:
    """Import torch, and fork the fork server, which waits for its list of files."""
    from . import forkserver

    before = list(sys.path)
    sys.path[:] = [*before, *path]  # the standard library must not be shadowed by a course directory
    with suppress(ImportError):  # the fork server reports what it lacks
        importlib.import_module("torch")
    gc.collect()
    gc.freeze()  # memory that is never collected is never written, so it stays shared
    sys.path[:] = before
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    pid = os.fork()
    if pid == 0:
        try:
            control.close()
            ours.close()
            os.setsid()
            forkserver.main(theirs.detach())
        finally:
            os._exit(1)
    theirs.close()
    return ForkedServer(pid, ours)
