"""Real servers: JupyterLab over a course directory, the review page; and what a page asks of others."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, expect

BIN = Path(sys.executable).parent
TOKEN = "a-token-of-the-tests"
PATIENCE = 240_000  # milliseconds; a step takes seconds, and load decides how many
expect.set_options(timeout=PATIENCE)


def patient(browser: Browser, **options: Any) -> BrowserContext:
    """A context whose pages wait for as long as a busy machine needs."""
    context = browser.new_context(**options)
    context.set_default_timeout(PATIENCE)
    return context


@contextmanager
def serving(course: Path, home: Path) -> Iterator[str]:
    """The address of a JupyterLab server over a directory, with nbgrader's extensions, that keeps its files in `home`.

    It is started in that directory, from which nbgrader's formgrader reads the course's configuration.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {
        **os.environ,
        "HOME": str(home),
        "JUPYTER_CONFIG_DIR": str(home),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
    }
    command = [
        BIN / "jupyter-lab",
        "--no-browser",
        "--allow-root",
        "--ip=127.0.0.1",
        f"--port={port}",
        "--ServerApp.port_retries=0",
        f"--ServerApp.root_dir={course}",
        f"--IdentityProvider.token={TOKEN}",
    ]
    log = home / "log.txt"
    with log.open("w") as output:
        server = subprocess.Popen(
            command, cwd=course, env=environment, stdout=output, stderr=output, start_new_session=True
        )
    try:
        _wait_for(f"http://127.0.0.1:{port}/api?token={TOKEN}", server, log)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()  # which ends its kernels first
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(server.pid, signal.SIGKILL)


@contextmanager
def reviewing(root: Path, lesson: str, *options: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """`grading review` of the lesson: its address, and its process."""
    command = [BIN / "grading", "review", lesson, *options, "--no-browser", "--as", "ann"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    running = subprocess.Popen(
        command, cwd=root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        assert running.stdout is not None
        said = running.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", said)
        assert found, said + running.stdout.read()
        yield found[0], running
    finally:
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=60)


def _wait_for(address: str, server: subprocess.Popen, log: Path) -> None:
    while True:
        assert server.poll() is None, log.read_text()
        try:
            urllib.request.urlopen(address, timeout=2).close()
            return
        except (urllib.error.URLError, TimeoutError):
            time.sleep(0.2)


def foreign_requests(page: Page) -> list[str]:
    """A list that fills with what the page asks of anyone but the server at 127.0.0.1 and the files of this machine."""
    found: list[str] = []
    ours = ("http://127.0.0.1:", "ws://127.0.0.1:", "file:", "data:", "blob:", "about:")
    page.on("request", lambda request: None if request.url.startswith(ours) else found.append(request.url))
    return found
