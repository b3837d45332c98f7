"""Lessons that were run and exported by `jupyter nbconvert --to html`: what is ours in them is for everyone."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbconvert import HTMLExporter
from playwright.sync_api import Browser, expect

from ..support.repository import LESSONS, ROOT
from ..support.run_notebook import run, shorten_training
from .axe import violations
from .serving import patient

pytestmark = [pytest.mark.full("looks at every lesson, in two themes"), pytest.mark.browser]


@pytest.fixture(scope="module", params=LESSONS[::3])  # what is ours in them is made by code that all share
def exported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> nbformat.NotebookNode:
    """The released notebook after all its cells."""
    lesson: str = request.param
    notebook = nbformat.read(ROOT / "release" / lesson / f"{lesson}.ipynb", as_version=4)
    where: Path = tmp_path_factory.mktemp(lesson)
    return run(shorten_training(notebook), where)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_an_exported_lesson_shows_has_no_violation_of_accessibility(browser: Browser, exported, theme, tmp_path):
    page, _ = HTMLExporter(theme=theme).from_notebook_node(exported)
    (tmp_path / "lesson.html").write_text(page, encoding="utf-8")
    context = patient(browser, viewport={"width": 1280, "height": 1000}, offline=True, color_scheme=theme)
    opened = context.new_page()
    opened.goto((tmp_path / "lesson.html").as_uri(), wait_until="domcontentloaded")
    expect(opened.locator(".jp-OutputArea-output").first).to_be_attached()
    assert violations(opened, ".jp-OutputArea-output") == []
    context.close()
