"""The page of `grading watch`: the state, its health, and what it never shows."""

from __future__ import annotations

import json
import re
import signal
import urllib.error
import urllib.request
from dataclasses import asdict
from typing import Any

import pytest
from psutil import RLIMIT_NOFILE, Process

from grading.cli import main
from grading.errors import StepFailed
from grading.local_server import MOST
from grading.plugins.hub.watch_page import PageAddress, page_address, public, serve_page
from grading.plugins.hub.watch_state import FILE, WatchState

from ...support.class_helpers import start_command
from ...support.connections import many_connections
from ...support.course_builder import TINY_LESSONS, solved_notebook
from ...support.exchange import Exchange

ONE, _ = TINY_LESSONS
ERROR: dict[str, Any] = {"what": "a text about /srv/secret", "submissions": 2, "again_at": "2026-11-27 12:00:00+00:00"}


def read(address: str, host: str = "") -> tuple[int, str]:
    """Status and text of an answer. host: the name under which the server is asked for it."""
    request = urllib.request.Request(address, headers={"Host": host} if host else {})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_it_shows_numbers_and_health_and_no_text_of_an_error(tmp_path):
    state = WatchState(doing="waiting for submissions", waiting=3)
    state.write(tmp_path)
    with serve_page(PageAddress(0), tmp_path) as address:
        assert read(f"{address}health") == (200, '{"healthy": true}')
        assert "Waiting for submissions." in read(str(address))[1]
        state.errors = [ERROR]
        state.write(tmp_path)
        assert read(f"{address}health") == (503, '{"healthy": false}')
        for name in ("", "state.json"):
            status, text = read(f"{address}{name}")
            assert status == 200 and ERROR["again_at"].removesuffix("+00:00") in text
            assert "secret" not in text and state.host not in text and str(state.pid) not in text
        shown = json.loads(read(f"{address}state.json")[1])
        assert (shown["waiting"], shown["errors"][0]["submissions"]) == (3, 2)
        assert "2 submissions" in read(str(address))[1]
        assert [read(f"{address}{name}")[0] for name in ("page.css", "watch.css", "watch.js")] == [200] * 3
        assert read(f"{address}watch.py")[0] == 404
        assert read(str(address), host="example.org")[0] == 403
        refused = rf"^port {address.port} cannot be used for the page: Address already in use.*\. Choose another$"
        with pytest.raises(StepFailed, match=refused), serve_page(address, tmp_path):
            pass
        with serve_page(PageAddress(0), tmp_path) as another:
            assert read(str(another))[0] == 200
        (tmp_path / FILE).unlink()
        assert read(str(address))[0] == 503
    assert not public({**asdict(state), "errors": [], "doing": "stopped"})["healthy"]


@pytest.mark.parametrize("prefix", ["/services/grading-watch/", "/hub.a/services/w/"])
def test_behind_jupyterhub_it_uses_the_services_url_and_prefix(monkeypatch, tmp_path, prefix):
    assert page_address(None) is None
    monkeypatch.setenv("JUPYTERHUB_SERVICE_URL", "http://127.0.0.1:10101")
    monkeypatch.setenv("JUPYTERHUB_SERVICE_PREFIX", prefix)
    given = page_address(None)
    assert given == PageAddress(10101, prefix, behind_hub=True)
    WatchState(doing="working").write(tmp_path)
    with serve_page(PageAddress(0, prefix, behind_hub=True), tmp_path) as address:
        assert read(str(address), host="hub.example.org")[0] == 200
        assert read(f"{address}health")[0] == 200
        assert read(f"http://127.0.0.1:{address.port}/")[0] == 404
    for url in ("http://192.0.2.1:80", "https://127.0.0.1:10101", "http://127.0.0.1", "http://127.0.0.1:x"):
        monkeypatch.setenv("JUPYTERHUB_SERVICE_URL", url)
        with pytest.raises(StepFailed, match=f"JUPYTERHUB_SERVICE_URL is {re.escape(url)}"):
            page_address(None)


def test_connections_take_nothing_from_the_process_that_grades(tmp_path, capfd):
    WatchState(doing="working").write(tmp_path)
    with serve_page(PageAddress(0), tmp_path) as address:
        (server,) = (child for child in Process().children() if str(tmp_path) in child.cmdline())
        with many_connections(address.port):
            assert read(f"{address}health")[0] == 200
            assert server.num_fds() < MOST + 30
    assert not server.is_running()
    assert "".join(capfd.readouterr()) == ""


@pytest.mark.full
def test_grading_watch_serves_it_until_it_stops(course, tmp_path, sandboxed):
    exchange = Exchange(course, tmp_path).open([ONE])
    process = start_command(course, "watch", "--every", "0.1", "--page", "0")
    Process(process.pid).rlimit(RLIMIT_NOFILE, (600, 600))
    assert process.stdout
    found = re.search(r"its state is at (http://127\.0\.0\.1:(\d+)/)", process.stdout.readline())
    assert found
    with many_connections(int(found[2]), 700):
        exchange.submit("ada", ONE, solved_notebook(course, ONE))
        assert "feedback for 1 of 1 submission" in process.stdout.readline()
    state: dict[str, Any] = {"waiting": 1}
    while state["waiting"] and process.poll() is None:  # until the next look
        state = json.loads(read(f"{found[1]}state.json")[1])
    assert (state["released"], state["waiting"], state["healthy"]) == (1, 0, True)
    assert "ada" not in read(found[1])[1]
    process.send_signal(signal.SIGTERM)
    said, _ = process.communicate()
    assert process.returncode == 0, said
    assert said.count("\n") == 1, said
    with pytest.raises(urllib.error.URLError):
        read(found[1])


def test_a_port_that_is_none_is_an_error(course, capsys, monkeypatch):
    monkeypatch.chdir(course)
    with pytest.raises(SystemExit):
        main.main(["watch", "--page", "70000"])
    assert "expected a port from 0 to 65535, got 70000" in capsys.readouterr().err
