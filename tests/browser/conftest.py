"""A real browser, and a real JupyterLab server: over copies of the committed releases, or over a teacher's course.

These tests skip where there is no Chromium, and only there.
"""

from __future__ import annotations

import os
import shutil
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

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[2]
CHROMIUM = Path("/usr/bin/chromium")
BIN = Path(sys.executable).parent
TOKEN = "a-token-of-the-tests"
# Who opens JupyterLab for the first time is asked about news, in a box over the notebook
ASKED = "lab/user-settings/@jupyterlab/apputils-extension/notification.jupyterlab-settings"
ANSWERED = '{"fetchNews": "false", "checkForUpdates": false}'


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if not CHROMIUM.exists():
        pytest.skip(f"no {CHROMIUM}: `apt-get install chromium` brings it")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def lab(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a JupyterLab server over a copy of release/, to which "?token=" was added already."""
    home = tmp_path_factory.mktemp("home")
    course = home / "course"
    shutil.copytree(ROOT / "release", course)
    (home / ASKED).parent.mkdir(parents=True)
    (home / ASKED).write_text(ANSWERED)
    with serving(course, home) as address:
        yield f"{address}/lab/tree/{{path}}?token={TOKEN}"


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


def _wait_for(address: str, server: subprocess.Popen, log: Path) -> None:
    for _ in range(300):
        assert server.poll() is None, log.read_text()
        try:
            urllib.request.urlopen(address, timeout=2).close()
            return
        except (urllib.error.URLError, TimeoutError):
            time.sleep(0.2)
    raise AssertionError(f"JupyterLab did not start: {log.read_text()}")


def foreign_requests(page: Page) -> list[str]:
    """A list that fills with what the page asks of anyone but the server at 127.0.0.1 and the files of this machine."""
    found: list[str] = []
    ours = ("http://127.0.0.1:", "ws://127.0.0.1:", "file:", "data:", "blob:", "about:")
    page.on("request", lambda request: None if request.url.startswith(ours) else found.append(request.url))
    return found


def overflow(page: Page) -> list[str]:
    """What sticks out of the page to the right, unless it lies in a box that scrolls by itself."""
    return page.evaluate("""() => {
        const edge = document.documentElement.clientWidth, found = [];
        const scrolls = e => e && e !== document.body && e !== document.documentElement &&
            (['auto', 'scroll', 'hidden'].includes(getComputedStyle(e).overflowX) || scrolls(e.parentElement));
        for (const e of document.body.querySelectorAll('*'))
            if (e.getBoundingClientRect().right > edge + 1 && !scrolls(e))
                found.push(`${e.tagName} ends at ${e.getBoundingClientRect().right}: ${e.textContent.slice(0, 60)}`);
        if (document.documentElement.scrollWidth > edge) found.push(`page ${document.documentElement.scrollWidth}`);
        return found;
    }""")
