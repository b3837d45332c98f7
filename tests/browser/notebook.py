"""A notebook in a real JupyterLab, used as a person does: by menu, mouse and keyboard."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from .serving import foreign_requests


class Notebook:
    def __init__(self, page: Page) -> None:
        self.page, self.foreign = page, foreign_requests(page)
        self.progress_at_first = ""  # tests run in any order, and an answer changes it

    @classmethod
    def opened(cls, page: Page, address: str) -> Notebook:
        page.goto(address)
        expect(page.locator("#jp-bottom-panel")).to_contain_text("Python 3 (ipykernel) | Idle")
        return cls(page)

    def menu(self, name: str, *items: str) -> None:
        """Open a menu and choose an item, or one of its own menu's."""
        self.page.get_by_role("menuitem", name=name, exact=True).click()
        for item in items:
            label = self.page.locator(".lm-Menu-itemLabel")
            label.filter(has_text=re.compile(f"^{re.escape(item)}$")).click()

    def run_all(self) -> None:
        """Run all cells, and wait for the lesson's last."""
        last = self.cell("progress()").locator(".jp-InputPrompt")
        self.menu("Edit", "Clear Outputs of All Cells")
        expect(last).to_have_text("[ ]:")
        self.menu("Run", "Run All Cells")
        expect(last).to_have_text(re.compile(r"^\[\d+\]:$"))

    @property
    def cells(self) -> Locator:
        return self.page.locator(".jp-Notebook .jp-Cell")

    def cell(self, text: str) -> Locator:
        """The code cell whose code holds a text."""
        code = self.page.locator(".jp-InputArea-editor", has_text=text)
        found = self.page.locator(".jp-CodeCell", has=code).first
        found.scroll_into_view_if_needed()
        return found

    def write_and_run(self, text: str, code: str) -> None:
        """Replace the code of a cell and run it, and the one below it."""
        self.cell(text).locator(".cm-content").click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(code)
        self.page.keyboard.press("Shift+Enter")
        self.page.keyboard.press("Shift+Enter")

    def run_in(self, mark: str, code: str) -> Locator:
        """The cell with a comment, after it ran code that keeps the comment: tests run in any order."""
        self.write_and_run(mark, f"{code}  {mark}")
        return self.cell(mark)

    def theme(self, name: str) -> None:
        self.menu("Settings", "Theme", f"JupyterLab {name}")
        expect(self.page.locator("body")).to_have_attribute("data-jp-theme-name", f"JupyterLab {name}")

    def report(self, exercise: str) -> Locator:
        return self.cell(f"check({exercise})").locator(f"[role=group][aria-label^='{exercise}:']")
