"""Fixtures for kernels, and canaries that no kernel may find.

The canaries are an environment variable, an open and inheritable file, and a secret in this process's memory. They are
created when this file is imported, before the test process starts its first fork server.
"""

from __future__ import annotations

import json
import os
import site
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from grading.judge.kernel.session import CellRun, Limits, Session
from grading.sandbox import SandboxUnavailable, require

SECRET = f"canary-{os.urandom(8).hex()}"
os.environ["ATTENTION_CANARY"] = SECRET
_held_open = tempfile.NamedTemporaryFile("w", prefix="attention-canary-")  # noqa: SIM115 - open to the end
_held_open.write(SECRET)
_held_open.flush()
os.set_inheritable(_held_open.fileno(), True)

#: Seconds in which anything that ends at all ends on a slow and busy machine too. The product's limits are shorter.
LONG = 900.0
PATIENT = Limits(cell=LONG, start=LONG)
TRY = """
import ctypes, os, socket
def trying(attempt):
    try:
        result = attempt()
    except BaseException as error:
        return type(error).__name__
    return f"worked: {result!r}"
def calling(number, *arguments):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(number, *arguments) >= 0:
        return "worked"
    return os.strerror(ctypes.get_errno())
"""
DENIED = ("PermissionError", "OSError", "FileNotFoundError")


def leads_to_python(path: str) -> bool:
    """Whether the interpreter or its environment is below `path`, so that a kernel must be able to reach it."""
    places = {sys.prefix, sys.base_prefix, *site.getsitepackages()}
    return any(f"{place}/".startswith(path.rstrip("/") + "/") for p in places for place in (p, os.path.realpath(p)))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    try:
        require()
    except SandboxUnavailable as problem:
        here = Path(__file__).parent
        for item in items:
            if item.path.parent == here and item.path.name != "test_contained.py":
                item.add_marker(pytest.mark.skip(reason=f"no sandbox here: {problem.missing}"))


@pytest.fixture
def canary_file() -> str:
    """The path of a file with the secret: in the host's /tmp, open and inheritable in this process."""
    return _held_open.name


class Box:
    """A kernel that runs code. `text` returns what a learner would see, `value` a result as data."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def run(self, code: str, seconds: float | None = None) -> CellRun:
        return self.session.run(code, seconds)

    def text(self, code: str, seconds: float | None = None) -> str:
        shown = []
        for output in self.run(code, seconds).outputs:
            if output.output_type == "stream":
                shown.append(output.text)
            elif output.output_type == "error":
                shown.append(f"{output.ename}: {output.evalue}\n")
            else:
                shown.append(output.data.get("text/plain", ""))
        return "".join(shown)

    def value(self, code: str) -> Any:
        """The variable `value` after running `code`, passed through JSON."""
        text = self.text(f"{code}\nimport json as _json; print('\\n' + _json.dumps(value))")
        try:
            return json.loads(text.splitlines()[-1])
        except ValueError:
            raise AssertionError(text) from None

    @property
    def provisioner(self) -> Any:
        return self.session.provisioner


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Box]]:
    """`start(release=None, ordinary=False, **limits)` starts a Box, which ends with the test.

    release   the directory whose files the kernel gets
    ordinary  whether to use a plain kernel instead of a sandboxed one
    limits    more of its configuration: see `SandboxProvisioner`
    """
    with ExitStack() as stack:

        def begin(release: Path | None = None, ordinary: bool = False, **limits: Any) -> Box:
            if release is None:
                release = tmp_path / "nothing"
                release.mkdir(exist_ok=True)
            name = "local-provisioner" if ordinary else "attention-sandbox"
            session = Session("python3", {"provisioner_name": name, "config": limits}, release, PATIENT)
            return Box(stack.enter_context(session))

        yield begin


@pytest.fixture
def box(start: Callable[..., Box]) -> Box:
    """A sandboxed kernel with the default limits and no files."""
    return start()
