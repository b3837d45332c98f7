"""A real JupyterHub with its proxy: students submit, `grading watch` grades, and they read the feedback.

The hub starts all servers, and `grading watch` as its service, under one Unix account.
"""

from __future__ import annotations

import json
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
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from grading.course import Course
from grading.plugins.hub.watch_state import FILE

from ..support.course_builder import TINY, TINY_LESSONS, build_course
from ..support.exchange import Exchange
from .notebook import Notebook
from .serving import BIN, patient

pytestmark = [pytest.mark.full("starts a JupyterHub and three servers"), pytest.mark.browser]

LESSON, PASSWORD = TINY_LESSONS[0], "a-password-of-the-tests"
HUB, PROXY = shutil.which("jupyterhub"), shutil.which("configurable-http-proxy")
STUDENTS = {"ada": ("return x + x", 5.0), "bob": ("return x * x", 0.0)}  # student -> answer, points
CONFIG = """
c.JupyterHub.authenticator_class = "dummy"
c.DummyAuthenticator.password = {password!r}
c.Authenticator.allow_all = True
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = {homes!r}
c.Spawner.environment = {environment!r}
c.Spawner.args = ["--allow-root"]
c.Spawner.default_url = "/lab"
c.Spawner.start_timeout = c.Spawner.http_timeout = 600
c.JupyterHub.bind_url = "http://127.0.0.1:{ports[0]}"
c.JupyterHub.hub_bind_url = "http://127.0.0.1:{ports[1]}"
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{ports[2]}"
c.ConfigurableHTTPProxy.command = [{proxy!r}]
c.JupyterHub.services = [
    {{
        "name": "grading-watch",
        "command": [{grading!r}, "watch", "--course", {course!r}, "--every", "1"],
        "url": "http://127.0.0.1:{ports[3]}",
        "environment": {environment!r},
    }}
]
"""


@dataclass
class Hub:
    """A running hub: its address, the course whose exchange it serves, and the students' homes."""

    address: str
    course: Path
    homes: Path


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory, sandboxed: None) -> Iterator[Hub]:
    if not HUB or not PROXY:
        missing = (
            "jupyterhub: `pip install jupyterhub`" if not HUB else "its proxy: `npm install configurable-http-proxy`"
        )
        pytest.skip(f"no {missing}, and put it on PATH")
    homes = tmp_path_factory.mktemp("homes")
    course = build_course(homes / "teacher", TINY[:1], release=True)
    exchange = Exchange(course, homes / "hub").open([LESSON])
    for student in STUDENTS:
        exchange.set_up(student, homes / student / ".jupyter")
    with _running(homes, course) as address:
        yield Hub(address, course, homes)


@contextmanager
def _running(homes: Path, course: Path) -> Iterator[str]:
    assert HUB and PROXY
    ports, share = _free_ports(4), Path(sys.prefix) / "share" / "jupyter"
    environment = {
        "PATH": f"{BIN}{os.pathsep}{Path(HUB).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "JUPYTER_PATH": str(share),
        "JUPYTER_CONFIG_PATH": str(Path(sys.prefix) / "etc" / "jupyter"),
        "JUPYTERLAB_DIR": str(share / "lab"),
        "OMP_NUM_THREADS": "1",
    }
    place = homes / "jupyterhub"
    place.mkdir()
    values = {
        "password": PASSWORD,
        "homes": f"{homes}/{{username}}",
        "environment": environment,
        "ports": ports,
        "proxy": PROXY,
        "grading": str(BIN / "grading"),
        "course": str(course),
    }
    (place / "jupyterhub_config.py").write_text(CONFIG.format(**values))
    log = place / "log.txt"
    with log.open("w") as output:
        server = subprocess.Popen([HUB], cwd=place, stdout=output, stderr=output, start_new_session=True)
    try:
        address = f"http://127.0.0.1:{ports[0]}"
        while not _answers(f"{address}/hub/login"):
            assert server.poll() is None, log.read_text()
            time.sleep(0.5)
        yield address
    finally:
        server.send_signal(signal.SIGINT)  # it ends the proxy, the servers and the service
        try:
            server.wait(60)
        except subprocess.TimeoutExpired:
            os.killpg(server.pid, signal.SIGKILL)
        print(log.read_text()[-8000:])


def _free_ports(number: int) -> list[int]:
    probes = [socket.socket() for _ in range(number)]
    for probe in probes:
        probe.bind(("127.0.0.1", 0))
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


def _answers(address: str) -> bool:
    try:
        urllib.request.urlopen(address, timeout=5).close()
    except (urllib.error.URLError, TimeoutError):
        return False
    return True


def sign_in(browser: Browser, hub: Hub, name: str) -> BrowserContext:
    """A browser in which this person has signed in and the hub has started a server."""
    context = patient(browser, base_url=f"{hub.address}/user/{name}/", viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(f"{hub.address}/hub/login?next=/hub/spawn")
    page.locator("#username_input").fill(name)
    page.locator("#password_input").fill(PASSWORD)
    page.locator("#login_submit").click()
    page.wait_for_url(f"{hub.address}/user/{name}/lab**")
    return context


def assignments(context: BrowserContext) -> Page:
    """nbgrader's list of assignments, in JupyterLab."""
    page = context.new_page()
    page.goto("lab?reset")
    Notebook(page).menu("Nbgrader", "Assignment List")
    expect(page.locator("#released_assignments_list, #fetched_assignments_list").first).to_be_visible()
    return page


def test_students_submit_and_find_their_feedback_and_the_teacher_the_points(hub, browser):
    contexts = {student: sign_in(browser, hub, student) for student in STUDENTS}
    lists = {student: assignments(context) for student, context in contexts.items()}
    for student, (answer, _) in STUDENTS.items():
        page = lists[student]
        page.locator("#released_assignments_list").get_by_role("button", name="Fetch", exact=True).click()
        expect(page.locator("#fetched_assignments_list").get_by_role("button", name="Submit")).to_be_visible()
        opened = contexts[student].new_page()
        opened.goto(f"lab/tree/{LESSON}/{LESSON}.ipynb?reset")
        notebook = Notebook(opened)
        notebook.cell("NotImplementedError").locator(".cm-content").click()
        opened.keyboard.press("Control+a")
        opened.keyboard.insert_text(f"def double(x):\n    {answer}")
        opened.keyboard.press("Control+s")
        file = hub.homes / student / LESSON / f"{LESSON}.ipynb"
        _until(lambda file=file, answer=answer: answer in file.read_text())
        opened.close()
        page.locator("#fetched_assignments_list").get_by_role("button", name="Submit").click()
        expect(page.locator("#submitted_assignments_list")).to_contain_text(LESSON)
    _until(lambda: json.loads((hub.course / FILE).read_text())["released"] == 2)
    assert Course(hub.course).scores() == {
        (student, LESSON): (points, 5.0) for student, (_, points) in STUDENTS.items()
    }
    for student, (_, points) in STUDENTS.items():
        page = lists[student]
        page.locator("#refresh_assignments_list").click()
        page.locator("#submitted_assignments_list").get_by_role("button", name="Fetch Feedback").click()
        page.locator("#submitted_assignments_list").get_by_text("view feedback").click()
        page.locator(".jp-DirListing-item", has_text=f"{LESSON}.html").dblclick()
        shown = page.frame_locator(".jp-HTMLViewer iframe")
        expect(shown.locator("p.total")).to_contain_text(f"{points:g} of 5 points")
    teacher = sign_in(browser, hub, "teacher").new_page()
    teacher.goto(f"formgrader/manage_submissions/{LESSON}")
    for student, (_, points) in STUDENTS.items():
        row = teacher.locator("#main-table tr", has=teacher.get_by_text(student, exact=True))
        expect(row).to_contain_text(f"{points:g} / 5")
    teacher.goto(f"{hub.address}/services/grading-watch/")
    expect(teacher.get_by_role("row", name="Feedback pages released")).to_contain_text("2")
    state = teacher.request.get(f"{hub.address}/services/grading-watch/state.json").json()
    assert (state["healthy"], state["released"], state["waiting"]) == (True, 2, 0)


def _until(true: object) -> None:
    while not true():  # type: ignore[operator]
        time.sleep(0.5)
