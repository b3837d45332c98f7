"""What axe-core finds on a page: https://github.com/dequelabs/axe-core, as axe-playwright-python brings it."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]


def violations(page: Page, within: str = "", *, but: tuple[str, ...] = ()) -> list[str]:
    """Each violation of WCAG 2.1 A and AA in a page, or in what a CSS selector finds, as a line: rule, element, why."""
    found = Axe().run(page, context=within or None, options={"runOnly": RULES}).response
    return [
        f"{one['id']}: {node['html'][:150]}: {node['failureSummary']}"
        for one in found["violations"]
        if one["id"] not in but
        for node in one["nodes"]
    ]
