"""The server of the review page, as other accounts of the machine meet it."""

from __future__ import annotations

import asyncio
import json
import re
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import unquote, urlsplit

from psutil import Process

from grading.local_server import MOST
from grading.plugins.review.web_server import ReviewServer

from ...support.class_helpers import start_command
from ...support.connections import many_connections
from ...support.review_course import LESSON

BROWSER = """#!/bin/sh
printf '%s\\n' "$@" > "$0.new" && mv "$0.new" "$0.opened"
"""


def test_the_token_is_in_no_programs_arguments(course, tmp_path, monkeypatch):
    browser, opened = tmp_path / "browser", tmp_path / "browser.opened"
    browser.write_text(BROWSER)
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", str(browser))
    monkeypatch.setenv("DISPLAY", ":0")
    with start_command(course, "review", LESSON) as process:
        try:
            assert process.stdout
            found = re.search(r"http://127\.0\.0\.1:\d+/\?token=(\S+)", process.stdout.readline())
            assert found
            while not opened.exists():
                assert process.poll() is None
                time.sleep(0.02)
            (address,) = opened.read_text().splitlines()
            assert found[1] not in address
            page = Path(unquote(urlsplit(address).path))
            assert page.stat().st_mode & 0o077 == 0
            assert found[0] in page.read_text()
        finally:
            process.terminate()
    assert not page.exists()


def test_connections_take_few_descriptors_and_keep_nobody_from_grading(desk, capfd):
    async def overview_beside_others() -> bytes:
        server = ReviewServer(desk, "ann")
        asked = urllib.request.Request(f"http://127.0.0.1:{server.port}/api/overview")
        asked.add_header("Authorization", f"token {server.token}")

        def ask() -> bytes:
            before = Process().num_fds()
            with many_connections(server.port, 4 * MOST):
                answer = bytes(urllib.request.urlopen(asked).read())
                assert Process().num_fds() < before + 5 * MOST + 10  # ours, and those that it keeps
                return answer

        try:
            return await asyncio.to_thread(ask)
        finally:
            server.stop()

    with ThreadPoolExecutor(1) as thread:  # Playwright's event loop runs in this one, if a browser test came before
        answer = thread.submit(asyncio.run, overview_beside_others()).result()
    assert json.loads(answer)["lesson"] == LESSON
    assert "".join(capfd.readouterr()) == ""
