"""A site of two lessons, made by Sphinx from notebooks that really ran: what is on its pages, and what is not.

Does not cover: how it looks and moves (tests/browser/test_site.py).
"""

from __future__ import annotations

import json
import re
import shutil
from importlib.metadata import version
from pathlib import Path
from urllib.parse import unquote, urldefrag

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from rich.console import Console

from grading.authoring.student_install import BADGE, PackageSource, wheel_of
from grading.course import Course
from grading.course_dir.lessons import MUSEUM
from grading.course_dir.paths import CONFIG
from grading.errors import CourseError, SiteError
from grading.plugins.site import katex
from grading.plugins.site.build import build_site
from grading.plugins.site.pages import Runnable, page
from grading.plugins.site.pictures import move_pictures

from ...support.html_pages import Elements
from ...support.repository import ROOT

FIRST = """# How alike?

Is one vector like another? **That** is asked here.

**Time:** about 5 minutes"""
SLIDER = """# @title Bars that `grow`
from course import figures, sliders

def draw(k):
    return figures.with_alt_text(figures.bars([float(k)]), f"one bar of {k}")

sliders.slider(draw, k=(1, 3, 1))"""

REPORT = """from course.report import Report, display
display(Report("grow", "not started", 0, 1))"""
PREDICTION = """from course.notebook.predictions import Prediction, to_html, to_text
from course.report import display_html
shown = Prediction("the sign", "a sign", "plus", "All of them are positive.")
display_html(to_html(shown), to_text(shown))"""


def write(root: Path, name: str, *cells: nbformat.NotebookNode) -> Path:
    (root / "source").mkdir(parents=True, exist_ok=True)
    (root / "source" / f"{name}.py").write_text("# %%\n")
    (root / CONFIG).write_text("c = get_config()\n")
    place = root / "release" / name / f"{name}.ipynb"
    place.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(new_notebook(cells=list(cells)), place)
    return place


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("site") / "course"
    labels = "### Predict first\n\nHow many?\n\n### Exercise 1: `grow(k, by=1)`\n\n### Predict first\n\nAnd now?"
    formula = new_markdown_cell("## A formula\n\nHere $a_i \\cdot b$, and\n\n$$\\frac{1}{2} \\sum_i a_i$$\n")
    secret = new_code_cell("word = open('table.txt').read()\nprint('found', word)")
    folded = new_code_cell(SLIDER, metadata={"tags": ["picture"]})
    write(
        root,
        "01_alike",
        new_markdown_cell(FIRST),
        formula,
        secret,
        folded,
        new_code_cell(REPORT),
        new_markdown_cell("### Predict: the sign\n\nWhich sign?"),
        new_code_cell(PREDICTION),
        new_markdown_cell(labels),
    )
    (root / "release" / "01_alike" / "table.txt").write_text("a table")
    write(root, "02_next", new_markdown_cell("# What comes next\n\nAfter the [first](#a-word)?\n\n## A word"))
    write(root, MUSEUM, new_markdown_cell("# Odd numbers\n\nWhat is wrong?"))
    own = root / "docs" / "site"
    own.mkdir(parents=True)
    (own / "index.md").write_text("# Two lessons\n\nRead them.\n")
    shutil.copy(ROOT / "docs" / "glossary.md", root / "docs")
    (root / "docs" / "course.md").write_text("# The road through\n\nOne, then the other.\n")
    (root / "grader_tests" / "01_alike").mkdir(parents=True)
    (root / "grader_tests" / "01_alike" / "__init__.py").write_text("EXERCISES = ()\n")
    reports = root / "build" / "reports"
    reports.mkdir(parents=True)
    (reports / "strength.md").write_text("# How strong\n\n![a picture](tolerances.png)\n")
    shutil.copy(ROOT / "docs" / "images" / "tolerances.png", reports)
    build_site(Course(root), root / "site", Console(quiet=True), workers=2)
    return root


def parsed(file: Path) -> Elements:
    return Elements(file.read_text(encoding="utf-8"))


def test_a_page_shows_what_ran_with_formulas_pictures_and_folded_code(course):
    page = (course / "site" / "01_alike.html").read_text(encoding="utf-8")
    assert "found a table" in page
    assert page.count("<math ") == 2 and page.count('class="katex-html"') == 2  # for screen readers, and for the eye
    assert "Show the code: Bars that grow" in page and "@title" not in page
    assert "one bar of" in page and 'type="range"' in page
    assert '<div class="attn-report' in page
    assert "widget-view" not in page
    line, _, folded = page[page.index("No guess yet.") :].partition("<details><summary>Answer</summary>")
    assert "The answer is <code>plus</code>." in folded and "All of them are positive." in folded
    assert "plus" not in line


def test_the_first_page_lists_the_lessons_with_their_questions_and_times(course):
    words = " ".join(parsed(course / "site" / "index.html").text.split())
    for told in ("Two lessons", "How alike?", "Is one vector like another?", "About 5 minutes", "What comes next"):
        assert told in words
    assert not re.search(r"\d\. How alike", words)  # lessons have their own numbers, from 0
    assert "Odd numbers" in words and "What is wrong?" not in words  # a page, and not a lesson
    assert "What is wrong?" in parsed(course / "site" / f"{MUSEUM}.html").text
    glossary = parsed(course / "site" / "glossary.html")
    assert {"for-learners", "for-maintainers"} <= {attributes.get("id") for _, attributes in glossary.found}
    assert "One, then the other." in (course / "site" / "course.html").read_text(encoding="utf-8")
    assert "All mistakes that the graders know" in (course / "site" / "mistakes.html").read_text(encoding="utf-8")
    assert 'alt="a picture"' in (course / "site" / "strength.html").read_text(encoding="utf-8")


def test_every_link_within_the_site_leads_somewhere_and_nothing_is_loaded_from_elsewhere(course):
    site, looked_at = course / "site", 0
    pages = {file: parsed(file).found for file in site.glob("*.html")}
    ids = {file: {attributes.get("id") for _, attributes in found} for file, found in pages.items()}
    for file, found in pages.items():
        for tag, attributes in found:
            target = attributes.get("src") or (attributes.get("href") if tag in ("a", "link") else None)
            if not target or target.startswith("data:"):
                continue
            if re.match(r"[a-z]+:|//", target):
                assert tag == "a", f"{file.name} loads {target}"
                continue
            path, fragment = urldefrag(unquote(target).partition("?")[0])
            there = (file.parent / path).resolve() if path else file
            assert there.is_file(), f"{file.name} links to {target}"
            assert not fragment or there.suffix != ".html" or fragment in ids[there], f"{file.name} links to {target}"
            looked_at += 1
    assert looked_at > 50


def test_contents_list_sections_and_exercises_without_labels_and_arguments(course):
    page = (course / "site" / "01_alike.html").read_text(encoding="utf-8")
    contents = re.search(r'<nav id="pst-page-toc-nav".*?</nav>', page, re.S)
    assert contents
    assert parsed_text(contents[0]) == "A formula Exercise 1: grow"
    assert page.count(">Predict first<") == 2


def parsed_text(html: str) -> str:
    return " ".join(Elements(html).text.split())


def test_a_page_says_where_to_run_it_and_which_sliders_move(course):
    page = (course / "site" / "01_alike.html").read_text(encoding="utf-8")
    line = re.search(r'<p class="where-to-run">.*?</p>', page, re.S)
    assert line
    package = wheel_of(version("attention-course"))
    assert parsed_text(line[0]) == (
        "This page is for reading. To run the code and have your answers checked, download the notebook and the "
        "course’s package into one folder and open the notebook in JupyterLab. Sliders that work on this page: "
        "Bars that grow."
    )
    assert re.findall(r'href="([^"]*)"', line[0]) == ["notebooks/01_alike.ipynb", f"notebooks/{package}", "#sliders-1"]
    assert 'id="sliders-1"' in page
    other = (course / "site" / "02_next.html").read_text(encoding="utf-8")
    assert "where-to-run" in other and "Sliders that work" not in other


def test_a_published_lesson_links_to_colab_and_loads_no_badge():
    source = PackageSource("1.0", "https://example.org/x.whl", "you/attention", "autumn")
    badge = BADGE.format(source.colab("01_alike.ipynb"))
    made = page(
        new_notebook(cells=[new_markdown_cell(f"# A\n\n{badge}\n\nWhy?")]), Runnable("a.ipynb", "https://c.org/")
    )
    assert made.cells[0].source == (
        '# A\n\n<p class="where-to-run">This page is for reading. To run the code and have your answers checked, <a '
        'href="https://c.org/">open it in Colab</a> or download <a href="a.ipynb" download>the notebook</a>.</p>'
        "\n\nWhy?"
    )


def test_pages_are_small_and_every_file_that_they_name_is_there(course):
    site = course / "site"
    assert max(file.stat().st_size for file in site.glob("*.html")) < 10**6
    page = (site / "01_alike.html").read_text(encoding="utf-8")
    assert not re.search(r"data:image/[a-z+]+;base64,[^\"]{2000}", page)
    style = (site / "_static" / "katex.min.css").read_text(encoding="utf-8")
    fonts = {file.name for file in (site / "_static" / "fonts").iterdir()}
    assert set(re.findall(r"fonts/([\w.-]+)", style)) == fonts  # of these formulas alone
    assert {"KaTeX_Main-Regular.woff2", "KaTeX_Math-Italic.woff2"} <= fonts and len(fonts) < 8


def test_large_drawings_and_frames_move_into_files_and_come_back(tmp_path):
    style = "<style>.attn-figure{color:red}</style>"
    drawing = f'<svg role="img" aria-label="a line" viewBox="0 0 1 1" style="width:9px">{"<g></g>" * 4000}</svg>'
    frames = f'<script type="application/json">["{"x" * 30_000}"]</script>'
    small = '<svg role="img" aria-label="a dot"><g></g></svg>'
    moved = move_pictures(f"<figure>{style}{drawing}</figure>{frames}{small}<noscript>{small}</noscript>", tmp_path)
    assert len(moved) < 1000 and f"{small}<noscript>" in moved
    written = {file.suffix: file.read_text() for file in (tmp_path / "_images").iterdir()}
    scripts = [file.read_text() for file in (tmp_path / "_images").glob("*.js")]
    assert sorted(json.loads(script.partition(" = ")[2].rstrip(";")) for script in scripts) == sorted([drawing, frames])
    assert moved.count("<img") == 2 and 'alt="a line"' in moved and 'alt="a dot"' in moved
    assert set(written) == {".js", ".svg"}


@pytest.mark.parametrize("latex", [r"\frac{1}{", r"\nosuchcommand x"])
def test_a_formula_that_katex_cannot_read_is_an_error(latex):
    with pytest.raises(SiteError, match="KaTeX parse error"):
        katex.formula(latex, display=False)


@pytest.mark.full("builds the site again")
def test_what_did_not_change_is_not_run_again_and_the_site_is_replaced(course, tmp_path):
    course = shutil.copytree(course, tmp_path / "course")
    kept = {file: file.stat().st_mtime_ns for file in (course / ".site").iterdir()}
    assert len(kept) == 3
    (course / "site" / "old.html").write_text("of another time")
    write(course, "02_next", new_markdown_cell("# What comes last\n\nNothing?"))
    build_site(Course(course), course / "site", Console(quiet=True), workers=1)
    now = {file: file.stat().st_mtime_ns for file in (course / ".site").iterdir()}
    assert len(now) == 3 and len(kept.items() & now.items()) == 2
    assert not (course / "site" / "old.html").exists()
    assert "What comes last" in (course / "site" / "02_next.html").read_text()


@pytest.mark.quick_cases("*is not released yet")
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda root: (root / "release" / "01_alike" / "01_alike.ipynb").unlink(), "01_alike is not released yet"),
        (
            lambda root: write(root, "01_alike", new_markdown_cell("# A"), new_code_cell("1 / 0")),
            "01_alike does not run from top to bottom: cell 1: ZeroDivisionError: division by zero",
        ),
        (
            lambda root: write(root, "01_alike", new_markdown_cell("# A\n\n$\\nosuch$")),
            r"01_alike.ipynb(?s:.*)Undefined control sequence: \\nosuch",
        ),
        (
            lambda root: write(root, "01_alike", new_markdown_cell("# A\n\n[gone](nowhere.md)")),
            "Sphinx reports problems:(?s:.*)nowhere",
        ),
    ],
)
def test_what_stops_a_site_is_told_and_the_old_one_stays(tmp_path, spoil, message):
    root = tmp_path / "course"
    write(root, "01_alike", new_markdown_cell("# A\n\nb"))
    out = root / "site"
    out.mkdir()
    (out / "objects.inv").touch()
    (out / "index.html").write_text("the old one")
    spoil(root)
    with pytest.raises(CourseError, match=message):
        build_site(Course(root), out, Console(quiet=True), workers=1)
    assert (out / "index.html").read_text() == "the old one"


def test_a_directory_that_holds_something_else_is_not_replaced(tmp_path):
    write(tmp_path, "01_alike", new_markdown_cell("# A"))
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "thesis.txt").write_text("mine")
    with pytest.raises(SiteError, match="contains files that are not a web site"):
        build_site(Course(tmp_path), tmp_path / "site", Console(quiet=True), workers=1)
    assert (tmp_path / "site" / "thesis.txt").read_text() == "mine"
