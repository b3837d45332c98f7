"""The process that becomes the judges' server; the kernels' fork server is forked from it on the way.

Run as `python -I -S -c "…; from sandbox import bootstrap; bootstrap.begin(fd)"`, where `sandbox` is this package under
a name of its own. It gets one open descriptor, a socket to the coordinator, and, if judges are confined, the
environment that kernels get.

Both servers need torch, which takes longest to import, so it is imported here, once. The fork server is forked before
`grading` is imported, so it holds nothing that a kernel must not find. Each then imports the rest at the same time as
the other, because the first grade waits for both.
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

from .server_process import Forked

MESSAGE = 1 << 16


def begin(descriptor: int) -> tuple[socket.socket, dict[str, Any] | None, dict[str, Any] | None, Forked | None]:
    """Become what the messages at the socket `descriptor` ask for.

    Returns that socket, "tree" and "files" of the messages, and the fork server, if there is one.

    The first is an object with
        tree         the files to see, as `tree.plan` has it, or None for all
        directory    where that tree is mounted
        kernels      where what kernels import is found, or None where there will be none

    It is answered: where it cannot be, the reason is told and the process ends. The second is of no concern to kernels:
        path         sys.path
        environment  os.environ, or None to leave it as it is
        files        what kernels will see, as `tree.plan` has it, or None where there can be none
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
    told = json.loads(control.recv(MESSAGE) or b"{}")
    if not told:
        os._exit(0)  # the coordinator is gone
    site.main()  # where this is a virtual environment, it learns so here
    sys.path[:] = told["path"]
    if told["environment"] is not None:
        os.environ.clear()
        os.environ.update(told["environment"])
    return control, setup["tree"], told["files"], kernels


def _move(control: socket.socket, arranged: dict[str, Any], directory: str) -> None:
    """Into namespaces and a file tree of its own."""
    from . import filesystem, forkserver, linux

    linux.name_process("judges")
    forkserver.apart(control, directory, linux.NEWNS | linux.NEWUTS | linux.NEWIPC | linux.NEWNET)
    filesystem.build(arranged, directory)
    importlib.invalidate_caches()
    sys.path_importer_cache.clear()


def _fork_server(control: socket.socket, path: list[str]) -> Forked:
    """Import torch, and fork the kernels' fork server, which waits to be told its files."""
    from . import forkserver

    before = list(sys.path)
    sys.path[:] = [*before, *path]  # what comes with Python is not to be found in a course's directory
    with suppress(ImportError):  # the fork server says what it lacks
        importlib.import_module("torch")
    gc.collect()
    gc.freeze()  # what is never collected is never written to, and so stays shared
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
    return Forked(pid, ours)
