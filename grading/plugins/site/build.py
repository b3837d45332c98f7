"""The site: the executed lessons and the course's own pages, made into HTML by Sphinx.

A page loads nothing from elsewhere: pictures, fonts and scripts are files beside it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from course.outline import counts
from grading.authoring.student_install import PackageSource, delivery, insert_setup_cell, origin, wheel_of
from grading.authoring.student_repo import publish
from grading.course import Course
from grading.course_dir.lessons import MUSEUM, released_museum
from grading.errors import SiteError
from grading.extras import demand_extra
from grading.proof import mistakes_page
from grading.proof.mistakes_page import REPORTS
from grading.safe_text import plural
from grading.stopped import tell_if_stopped

from . import katex
from .executed import executed
from .pages import Page, Runnable, about, page
from .pictures import move_pictures

OWN = Path("docs") / "site"  # pages of the course: index.md and any others
SHARED = (Path("docs") / "course.md", Path("docs") / "glossary.md")  # pages that are read outside the site, too
FOLD_LABEL = ' aria-label="Toggle hidden content"'  # MyST-NB's; it hides the words of the button from screen readers
STYLE = Path(__file__).with_name("site.css")
NOTEBOOKS = "notebooks"  # the folder of the site with notebooks to download
KEPT = ".site"
RUN = ["-m", "sphinx", "--builder", "html", "--quiet", "--no-color", "--keep-going"]
SETTINGS: dict[str, Any] = {
    "extensions": ["myst_nb", "sphinx_copybutton", "grading.plugins.site.formulas", "grading.plugins.site.contents"],
    "html_theme": "sphinx_book_theme",
    "html_theme_options": {
        "show_toc_level": 2,
        "use_download_button": False,
        "use_fullscreen_button": False,
        "footer_content_items": [],
        "navbar_persistent": [],
    },
    "html_context": {"default_mode": "auto"},
    "html_show_sphinx": False,
    "html_copy_source": False,
    "html_static_path": ["_static"],
    "html_css_files": ["site.css"],
    "html_math_renderer": "katex",
    "html_last_updated_fmt": "",
    "language": "en",
    "myst_enable_extensions": ["amsmath", "deflist", "dollarmath"],
    "myst_heading_anchors": 3,
    "nb_execution_mode": "off",
    "nb_merge_streams": True,
}


def build_site(
    course: Course,
    out: Path,
    console: Console,
    *,
    workers: int,
    named: Iterable[str] = (),
    source: PackageSource | None = None,
) -> Path:
    """Replace `out` by the site of a course's released lessons, or of those named. Returns its first page.

    source  where students get notebooks and package (default: as nbgrader_config.py says)

    Raises CourseError if a lesson is not released or does not run, SiteError for warnings of Sphinx and if `out` holds
    anything but a site.
    """
    demand_extra("site", "A web site")
    if out.exists() and any(out.iterdir()) and not (out / "objects.inv").is_file():
        raise SiteError(f"{out} contains files that are not a web site. Name an empty or a new folder.")
    root = course.root
    names = [*course.lessons(named, ordinary=False), *released_museum(root)]
    source = source or origin(delivery(root))
    kept = f"The lessons that have run are saved in {KEPT}/, and {out} has not changed. Run the same command again."
    with _progress(console) as progress, tell_if_stopped(lambda: kept):
        row = progress.add_task("lessons executed", total=len(names))
        ran = executed(root, names, root / KEPT, workers=workers, done=lambda name: progress.update(row, advance=1))
    listed = [about(name, notebook) for name, notebook in ran.items() if name != MUSEUM]
    with tempfile.TemporaryDirectory() as folder:
        text, made = Path(folder) / "text", Path(folder) / "made"
        (text / "_static").mkdir(parents=True)
        shutil.copy(STYLE, text / "_static")
        for name, notebook in ran.items():
            nbformat.write(page(notebook, _runnable(name, source)), text / f"{name}.ipynb")
        own = [
            file for file in (*(root / page for page in SHARED), *sorted((root / OWN).glob("*.md"))) if file.is_file()
        ]
        for file in own:
            shutil.copy(file, text)
        first = root / OWN / "index.md"
        title = course.toml.title or root.resolve().name
        heading = first.read_text(encoding="utf-8") if first.is_file() else f"# {title}\n"
        others = [*(file.stem for file in own if file.stem != "index"), *_write_reports(root, text)]
        others += released_museum(root)
        (text / "index.md").write_text(f"{heading}\n{_contents(listed, others)}", encoding="utf-8")
        _sphinx(text, made, heading.lstrip("# ").partition("\n")[0].strip())
        _write_notebooks(root, names, source, made / NOTEBOOKS)
        _finish_pages(made)
        _replace(out, made)
    console.print(f"{out / 'index.html'}: written, {plural(sum(counts(lesson.name) for lesson in listed), 'lesson')}")
    return out / "index.html"


def _runnable(name: str, source: PackageSource) -> Runnable:
    file = f"{NOTEBOOKS}/{name}.ipynb"
    if source.name:
        return Runnable(file, source.colab(f"{name}.ipynb"))
    return Runnable(file, package=f"{NOTEBOOKS}/{source.package}" if _ships(source) else "")


def _ships(source: PackageSource) -> bool:
    """Whether students get the package as a file beside the notebooks."""
    return source.package == wheel_of(source.version)


def _write_notebooks(root: Path, names: list[str], source: PackageSource, folder: Path) -> None:
    """Write the notebooks to run, with the package beside them where nothing else has it."""
    if _ships(source) and not source.name:
        publish(root, folder, source, delivery(root).solutions)
        return
    if _ships(source):
        source = replace(source, package=source.raw(source.package))
    folder.mkdir()
    for name in names:
        notebook = nbformat.read(root / "release" / name / f"{name}.ipynb", as_version=4)
        insert_setup_cell(notebook, f"{name}.ipynb", source)
        nbformat.write(notebook, folder / f"{name}.ipynb")


def _finish_pages(made: Path) -> None:
    """Move pictures out of the pages, and add the fonts that their formulas use."""
    pages = {file: file.read_text(encoding="utf-8").replace(FOLD_LABEL, "") for file in sorted(made.glob("*.html"))}
    for file, text in pages.items():
        file.write_text(move_pictures(text, made), encoding="utf-8")
    katex.write_styles(pages.values(), made / "_static")


def _write_reports(root: Path, text: Path) -> list[str]:
    """Write the pages that are made from grader_tests, and the picture in one of them. Returns their names."""
    names = []
    if (root / "grader_tests").is_dir():
        (text / "mistakes.md").write_text(mistakes_page.page(root), encoding="utf-8")
        names.append("mistakes")
    if (root / REPORTS / "strength.md").is_file():  # measured here
        for file in ("strength.md", "tolerances.png"):
            shutil.copy(root / REPORTS / file, text)
        names.append("strength")
    return names


def _contents(listed: list[Page], others: list[str]) -> str:
    lessons = "\n\n".join(
        f"## [{lesson.title}]({lesson.name}.ipynb)\n\n{lesson.question}"
        + (f"\n\n*{lesson.time}*" if lesson.time else "")
        for lesson in listed
    )
    names = [lesson.name for lesson in listed]
    lists = {
        "Lessons": [name for name in names if counts(name)],
        "Warm-up": [name for name in names if not counts(name)],
        "More pages": others,
    }
    trees = [
        "\n".join(["```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```", ""])
        for caption, pages in lists.items()
        if pages
    ]
    return "\n\n".join([lessons, "\n".join(trees)])


def _sphinx(text: Path, made: Path, title: str) -> None:
    settings = SETTINGS | {"project": title, "html_title": title}
    (text / "conf.py").write_text(
        "".join(f"{name} = {value!r}\n" for name, value in settings.items()), encoding="utf-8"
    )
    log = text.parent / "log"
    program = [sys.executable, *RUN, "-w", str(log), "-d", str(text.parent / "trees"), str(text), str(made)]
    ran = subprocess.run(program, capture_output=True, text=True)
    problems = log.read_text(encoding="utf-8").replace(f"{text}{os.sep}", "").strip() if log.exists() else ""
    if ran.returncode or problems:
        raise SiteError(f"Sphinx reports problems:\n{problems or ran.stderr.strip()}")


def _replace(out: Path, made: Path) -> None:
    """Replace a site by another."""
    (made / ".nojekyll").touch()  # GitHub's pages leave out what begins with _ otherwise
    if out.exists():
        shutil.rmtree(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(made, out)


def _progress(console: Console) -> Progress:
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    return Progress(*columns, console=console)
