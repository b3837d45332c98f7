"""Fixtures for a real browser and a real JupyterLab server, over the published releases or a teacher's course.

Tests are skipped only if Chromium is not installed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Browser, Page, sync_playwright

from grading.authoring.student_install import PackageSource, wheel_of
from grading.authoring.student_repo import publish

from .serving import TOKEN, serving

ROOT = Path(__file__).parents[2]
CHROMIUM = Path("/usr/bin/chromium")
# JupyterLab asks new users about news, in a box that covers the notebook
NEWS_SETTING = "lab/user-settings/@jupyterlab/apputils-extension/notification.jupyterlab-settings"
NEWS_ANSWER = '{"fetchNews": "false", "checkForUpdates": false}'


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
    """The address of a JupyterLab server over the published repository, with its token; `{path}` is a file."""
    with student_lab(tmp_path_factory.mktemp("home")) as address:
        yield address


@contextmanager
def student_lab(home: Path) -> Iterator[str]:
    """Like the fixture `lab`, with files in `home`."""
    course, number = home / "course", version("attention-course")
    publish(ROOT, course, PackageSource(number, wheel_of(number)))
    (home / NEWS_SETTING).parent.mkdir(parents=True)
    (home / NEWS_SETTING).write_text(NEWS_ANSWER)
    with serving(course, home) as address:
        yield f"{address}/lab/tree/{{path}}?token={TOKEN}"


@contextmanager
def notebook_lab(home: Path, *cells: str) -> Iterator[str]:
    """The address of a notebook of these code cells in a JupyterLab server, with files in `home`."""
    notebook = new_notebook(cells=[new_code_cell(source) for source in cells])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    (folder := home / "course").mkdir()
    nbformat.write(notebook, folder / "cells.ipynb")
    (home / NEWS_SETTING).parent.mkdir(parents=True)
    (home / NEWS_SETTING).write_text(NEWS_ANSWER)
    with serving(folder, home) as address:
        yield f"{address}/lab/tree/cells.ipynb?token={TOKEN}"


def overflow(page: Page) -> list[str]:
    """Elements beyond the right edge of the page, except those in a box that scrolls by itself."""
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
