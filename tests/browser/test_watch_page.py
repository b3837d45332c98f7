"""The page of `grading watch` in a real browser: nothing for axe to find, and it refreshes itself."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from grading.plugins.hub.watch_page import PageAddress, serve_page
from grading.plugins.hub.watch_state import WatchState

from .axe import violations
from .conftest import overflow
from .serving import foreign_requests, patient

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 360])
def test_the_page_is_accessible_and_shows_a_new_state_and_an_end_by_itself(
    browser: Browser, tmp_path: Path, scheme: str, width: int
):
    state = WatchState(doing="waiting for submissions", released=7, waiting=2)
    state.waited_seconds = {"submissions": 7, "median": 12.0, "p95": 30.5, "longest": 41.0}
    state.last_round = {"at": state.since, "lesson": "02_softmax", "submissions": 2, "released": 2, "seconds": 4.1}
    page = patient(browser, color_scheme=scheme, viewport={"width": width, "height": 800}).new_page()
    asked, said = foreign_requests(page), list[str]()
    page.on("console", lambda message: said.append(message.text))
    state.write(tmp_path)
    with serve_page(PageAddress(0), tmp_path) as address:
        page.goto(str(address))
        expect(page.get_by_role("status")).to_have_text("Waiting for submissions.")
        state.errors = [{"what": "", "submissions": 2, "again_at": state.since}]
        state.write(tmp_path)
        expect(page.get_by_role("status")).to_have_text(
            "Waiting for submissions. Something failed, and is tried again."
        )
        expect(page.get_by_role("row", name="2 submissions")).to_be_visible()
        assert not violations(page) and not overflow(page) and not asked and not said
        if folder := os.environ.get("SCREENSHOTS"):
            page.screenshot(path=Path(folder) / f"watch-{scheme}-{width}.png")
    expect(page.get_by_role("status")).to_contain_text("The service does not answer.")
    page.context.close()
