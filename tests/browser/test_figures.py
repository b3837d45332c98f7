"""Figures on light and dark pages of several front ends: contrast of text and lines, and no ground of their own."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import pytest
import torch
from nbconvert import HTMLExporter
from nbformat.v4 import new_code_cell, new_notebook, new_output
from playwright.sync_api import Browser

from course import figures, sentence
from course.figures import attention, style
from course.figures.themes import CLASS

from .axe import violations
from .serving import patient

pytestmark = pytest.mark.browser
matplotlib.use("Agg")

WORDS = ["one", "two", "three"]
PAGES = {
    "JupyterLab": '<html><body data-jp-theme-light="{light}" style="background: {ground}">',
    "VS Code": '<html><body class="vscode-{theme}" style="background: {ground}">',
    "Colab": '<html theme="{theme}"><body style="background: {ground}">',
    "site": '<html data-theme="{theme}"><body style="background: {ground}">',
}
GROUNDS = {"light": "#ffffff", "dark": "#1e1e1e"}
# Contrasts with the page: of text and lines, but for those on cells and bars, for grids, and for what covers others
CONTRASTS = """cells => {
    const context = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
    const pixel = colour => {
        context.clearRect(0, 0, 1, 1);
        context.fillStyle = colour;
        context.fillRect(0, 0, 1, 1);
        return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
    };
    const luminance = colour => pixel(colour)
        .map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    const page = luminance(getComputedStyle(document.body).backgroundColor);
    const contrast = colour => {
        const [low, high] = [page, luminance(colour)].sort((a, b) => a - b);
        return (high + 0.05) / (low + 0.05);
    };
    const own = e => e.getAttribute('style') || '';
    const text = [...document.querySelectorAll('svg text')]
        .filter(e => !own(e).includes('fill:var(--fg)') && !cells.some(fixed => own(e).includes(`fill:${fixed}`)))
        .map(e => contrast(getComputedStyle(e).fill));
    const lines = [...document.querySelectorAll('svg path[style*="fill:none"]')]
        .filter(e => own(e).includes('stroke:') && !/stroke:var\\(--(fg|f3)\\)/.test(own(e)))
        .filter(e => !cells.some(fixed => own(e).includes(`stroke:${fixed}`)))
        .map(e => contrast(getComputedStyle(e).stroke));
    return {text: Math.min(...text), lines: Math.min(...lines), counted: Math.min(text.length, lines.length)};
}"""


@pytest.fixture(scope="module")
def drawn() -> str:
    weights = torch.softmax(torch.arange(9.0).reshape(3, 3) / 4, dim=-1)
    lines = figures.curves(range(9), {name: [n * k for k in range(9)] for n, name in enumerate("abcdefg")})
    made = {
        "curves": lines,
        "levels": figures.losses({"a": [3.0, 2.0, 1.0]}, {"level": 1.5}),
        "bars": figures.bars(torch.tensor([0.5, -1.25, 2.0]), WORDS),
        "map": figures.heat_map(weights, rows=WORDS, columns=WORDS, blocked=torch.eye(3) > 0),
        "lines": attention.who_looks_at_whom(weights, WORDS, WORDS),
        "diagram": figures.overview("mask"),
        "complete": figures.overview("cache", complete=True, x=torch.eye(3), weights=weights),
        "projections": figures.projections(sentence.x, *torch.ones(3, 3, 2), sentence.words, sentence.FEATURES),
        "product": figures.product(weights, torch.ones(3, 2), framed=1),
        "stretched": figures.broadcast(torch.arange(3.0)[:, None], torch.arange(3.0)),
        "lookup": figures.soft_lookup({"soft": weights[0]}, "one", WORDS, [1.0, 2.0, 3.0]),
        "heads": figures.heads(*torch.ones(3, 2, 3, 2), weights.expand(2, 3, 3), torch.ones(2, 3, 2), WORDS),
    }
    return "".join(figures.html(figure, alt=name, fallback=False) for name, figure in made.items())


def _shown(browser: Browser, page: str, **options):
    opened = patient(browser, viewport={"width": 1280, "height": 900}, **options).new_page()
    opened.set_content(page)
    return opened


@pytest.mark.parametrize("theme", GROUNDS)
@pytest.mark.parametrize("front_end", PAGES)
def test_text_and_lines_stand_out_from_the_page(browser, drawn, front_end, theme):
    frame = PAGES[front_end].format(theme=theme, ground=GROUNDS[theme], light=str(theme == "light").lower())
    page = _shown(browser, frame + drawn, color_scheme="light" if theme == "dark" else "dark")
    found = page.evaluate(CONTRASTS, [style.BLACK, style.WHITE])
    assert found["counted"] > 20
    assert found["text"] >= 4.5
    assert found["lines"] >= 3


def test_an_exported_notebook_has_figures_in_its_theme(browser, drawn, tmp_path: Path):
    output = new_output("display_data", {"text/html": drawn, "text/plain": "figures"})
    notebook = new_notebook(cells=[new_code_cell("draw()", outputs=[output])])
    for theme in GROUNDS:
        page, _ = HTMLExporter(theme=theme).from_notebook_node(notebook)
        (tmp_path / f"{theme}.html").write_text(page, encoding="utf-8")
        opened = patient(browser, offline=True).new_page()
        opened.goto((tmp_path / f"{theme}.html").as_uri(), wait_until="domcontentloaded")
        found = opened.evaluate(CONTRASTS, [style.BLACK, style.WHITE])
        assert found["text"] >= 4.5
        assert found["lines"] >= 3
        assert violations(opened, f".{CLASS}") == []


def test_forced_colours_and_paper_have_legible_text(browser, drawn):
    frame = PAGES["JupyterLab"].format(theme="dark", ground="Canvas", light="false")
    page = _shown(browser, frame + drawn, forced_colors="active")
    assert page.evaluate(CONTRASTS, [style.BLACK, style.WHITE])["text"] >= 4.5
    page = _shown(browser, PAGES["JupyterLab"].format(theme="dark", ground="#fff", light="false") + drawn)
    page.emulate_media(media="print")
    assert page.evaluate(CONTRASTS, [style.BLACK, style.WHITE])["text"] >= 4.5


def test_only_one_of_drawing_and_fallback_shows(browser):
    html = figures.html(figures.bars([1.0, 2.0]), alt="bars")
    page = _shown(browser, html)
    assert page.locator("svg").is_visible()
    assert not page.locator("img").is_visible()
    page = _shown(browser, html[: html.index("<style>")] + html[html.index("<img") :])
    assert page.locator("img").is_visible()
