"""The keepsake: what was built, the equation, a figure of the learner's model."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from ..notebook import catalog
from ..notebook.saved_progress import ProgressStore
from ..notebook.session import current
from ..outline import counts
from ..report import display_html
from .base import described, html
from .themes import CLASS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FILE = "attention.html"
EQUATION = (
    '<p style="font-size:1.5em;text-align:center;margin:0.8em 0">attention(<b>Q</b>, <b>K</b>, <b>V</b>) = '
    "softmax( <b>Q</b> <b>K</b><sup>⊤</sup> ∕ √<i>d</i><sub>k</sub> ) <b>V</b></p>"
)

HEAD = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Attention, built</title>'
    f"<style>:root{{color-scheme:light dark}}.{CLASS}.{CLASS}{{color-scheme:inherit}}</style></head>"
)


def keepsake(picture: Figure | Axes, *, alt: str = "", caption: str = "") -> None:
    """Show a page to keep: everything built, by lesson, the equation, and this figure.

    If progress is saved, the page is also written to `attention.html` next to the notebook, self-contained. `alt` and
    `caption` as for `show`.
    """
    alt, caption = described(picture, alt, caption)
    store = current().store
    built = {lesson: _passed(store, lesson) for lesson in catalog.lessons() if counts(lesson)}
    count, total = sum(map(len, built.values())), sum(len(catalog.exercises_of(lesson)) for lesson in built)
    details = f"{count} of {total} functions and modules, written and tested"
    page = _page(built, details, html(picture, alt=alt, caption=caption))
    display_html(page, f"Attention, built: {details}. {alt} {caption}")
    if store.path and count:
        _write(page)


def _passed(store: ProgressStore, lesson: str) -> list[str]:
    return [name for name in catalog.exercises_of(lesson) if store.get(lesson, name).passed]


def _page(built: dict[str, list[str]], details: str, picture: str) -> str:
    rows = "".join(f"<tr>{_row(lesson, names)}</tr>" for lesson, names in built.items())
    return (
        '<div style="max-width:46em;margin:1em auto;padding:1em 2em;border:1px solid;font-family:serif">'
        f'<h2 style="text-align:center">Attention, built</h2>{EQUATION}{picture}'
        f'<table style="border-collapse:collapse"><caption style="text-align:left">{details}'
        f"</caption><tbody>{rows}</tbody></table></div>"
    )


def _row(lesson: str, names: list[str]) -> str:
    details = ", ".join(f"<code>{escape(name)}</code>" for name in names) or "–"
    how = 'style="text-align:left;vertical-align:top;padding:2px 12px 2px 0"'
    return f'<th scope="row" {how}>{escape(lesson.replace("_", " "))}</th><td {how}>{details}</td>'


def _write(page: str) -> None:
    try:
        Path(FILE).write_text(f"{HEAD}<body>{page}</body></html>\n", encoding="utf-8")
    except OSError as error:
        print(f"{FILE} was not written: {error.strerror}.")
        return
    print(f"{FILE}, beside this notebook, is yours to keep: it opens in any browser.")
