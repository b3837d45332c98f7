"""The layout of a report on one exercise, in `check`, in grading and in feedback.

HTML with inline styles, which is self-contained, or text. Marks and words, not only colours, show each status.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from html import escape
from typing import Any

INK, GREY, RED = "#1a202c", "#4a5568", "#a3182f"
MARKS = {
    "right": ("✓", "right", "#0b6b3a"),
    "passes": ("☑", "passes", "#0b6b3a"),  # in `check`; "right" in a grade
    "partly right": ("◐", "partly right", "#8a5300"),
    "wrong": ("✗", "not right yet", RED),
    "not started": ("○", "not started", GREY),
    "not allowed": ("⊘", "not allowed", RED),
    "not reached": ("–", "not reached", GREY),
    "needs a person": ("!", "needs a person", "#5b2a91"),
}
POINTS = "points"
# For consoles without these characters
PLAIN = str.maketrans({"✓": "+", "☑": "+", "◐": "~", "✗": "x", "○": "o", "⊘": "x", "–": "-", "…": "..."})
FONT = "font-family:system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif;font-size:14px;line-height:1.45"


class Points(float):
    """Points earned; prints as a plain float, which nbgrader reads from the output."""

    total: float

    def __new__(cls, earned: float, total: float) -> Points:
        points = super().__new__(cls, earned)
        points.total = total
        return points

    def __repr__(self) -> str:
        return float.__repr__(self)

    def _repr_html_(self) -> str:
        """Hide the value: the report above it shows the points."""
        return f'<span style="display:none">{self:g} of {self.total:g} points</span>'


@dataclass
class Row:
    """A criterion or example; `status` is a key of MARKS, `details` may have output."""

    name: str
    status: str
    points: str = ""
    details: list[str] = field(default_factory=list)


@dataclass
class CodeNote:
    """Lines of code or of its output, under a short title."""

    title: str
    text: str


@dataclass
class Report:
    """A report on one exercise. `headline`: its most important sentence."""

    exercise: str
    status: str
    earned: float
    points: float
    rows: list[Row] = field(default_factory=list)
    headline: str = ""
    see: str = ""
    notes: list[str] = field(default_factory=list)
    footnote: str = ""
    asides: list[CodeNote] = field(default_factory=list)
    unit: str = POINTS

    def to_html(self) -> str:
        mark, word, colour = MARKS[self.status]
        parts = [
            f'<div role="group" aria-label="{escape(self.exercise)}: {word}" style="{FONT};color:{INK};'
            f"background:#fff;border:1px solid #cbd5e0;border-left:6px solid {colour};border-radius:4px;"
            'padding:8px 12px;margin:4px 0;max-width:60em;overflow-wrap:break-word">',
            '<div style="display:flex;justify-content:space-between;gap:1em;align-items:baseline">'
            f'<span style="min-width:0"><b style="color:{colour}">{mark} {word}</b> &nbsp;'
            f'<code style="background:none;color:{INK}">{escape(self.exercise)}</code></span>'
            f'<span style="white-space:nowrap">{self._points()}</span></div>',
        ]
        if self.headline:
            parts.append(f'<p style="margin:6px 0;color:{INK}"><b>{inline_markdown(self.headline)}</b></p>')
        if self.see:
            parts.append(f'<p style="margin:6px 0;color:{INK}">Look at: {inline_markdown(self.see)}</p>')
        if self.rows:
            parts.append('<ul style="list-style:none;margin:6px 0;padding:0">')
            parts += [_row_html(row) for row in self.rows]
            parts.append("</ul>")
        for aside in self.asides:
            parts.append(f'<p style="margin:6px 0 0;color:{INK}">{inline_markdown(aside.title)}</p>{_code(aside.text)}')
        parts += [f'<p style="margin:6px 0;color:{INK}">{inline_markdown(note)}</p>' for note in self.notes]
        if self.footnote:
            parts.append(f'<p style="margin:6px 0 0;color:{GREY};font-size:12px">{inline_markdown(self.footnote)}</p>')
        return "".join([*parts, "</div>"])

    def to_text(self) -> str:
        mark, word, _ = MARKS[self.status]
        lines = [f"{mark} {word}: {self.exercise}, {self._points()}"]
        lines += [f"  {self.headline}"] if self.headline else []
        lines += [f"  Look at: {self.see}"] if self.see else []
        for row in self.rows:
            lines.append(f"  {MARKS[row.status][0]} {row.name}{f' ({row.points})' if row.points else ''}")
            lines += [f"      {line}" for detail in row.details for line in detail.splitlines()]
        for aside in self.asides:
            lines += [f"  {aside.title}", *(f"      {line}" for line in aside.text.splitlines())]
        lines += [f"  {note}" for note in self.notes]
        lines += [f"  {self.footnote}"] if self.footnote else []
        return "\n".join(lines)

    def _points(self) -> str:
        """The points; "open" if a person has to look."""
        earned = "open," if self.status == "needs a person" else f"{self.earned:g}"
        return f"{earned} of {self.points:g} {self.unit}"

    def _repr_html_(self) -> str:
        return self.to_html()

    def __repr__(self) -> str:
        return self.to_text()


def display(shown: Report) -> None:
    """Show a report: as HTML in a notebook, as text elsewhere."""
    if in_notebook():
        from IPython.display import display as show

        show(shown)
    else:
        text = shown.to_text()
        try:
            print(text)
        except UnicodeEncodeError:  # a terminal that lacks the marks
            print(text.translate(PLAIN).encode("ascii", "replace").decode())


def display_html(page: str, words: str) -> None:
    """Show HTML in IPython; else, and in front ends without HTML, show `words`."""
    if shell() is None:
        print(words)
        return
    from IPython.display import display as show

    show({"text/html": page, "text/plain": words}, raw=True)


def display_markdown(text: str) -> None:
    """Show a few sentences: formatted in a notebook, plain elsewhere."""
    if in_notebook():
        from IPython.display import Markdown
        from IPython.display import display as show

        show(Markdown(text))
    else:
        print(text.replace("**", ""))


def in_notebook() -> bool:
    """Whether a front end that shows HTML is connected."""
    return hasattr(shell(), "kernel")


def shell() -> Any:
    """IPython's shell; None where IPython does not run."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None


def _row_html(row: Row) -> str:
    mark, word, colour = MARKS[row.status]
    points = f'<span style="color:{GREY};white-space:nowrap">{escape(row.points)}</span>' if row.points else ""
    head = (
        '<div style="display:flex;justify-content:space-between;gap:1em"><span style="min-width:0">'
        f'<span style="color:{colour}" title="{word}"><b>{mark}</b></span> {inline_markdown(row.name)}</span>'
        f"{points}</div>"
    )
    return f'<li style="margin:2px 0;color:{INK}">{head}{"".join(map(_code, row.details))}</li>'


def _code(text: str) -> str:
    """Preformatted lines that wrap between words: JupyterLab would break numbers."""
    return (
        f'<pre style="margin:2px 0 4px 1.6em;white-space:pre-wrap;word-break:normal;'
        f"overflow-wrap:anywhere;font-size:13px;background:#f7fafc;color:{INK};"
        f'padding:4px 8px;border-radius:3px">{escape(text)}</pre>'
    )


def inline_markdown(text: str) -> str:
    """Escape text and format `code` and *emphasis* as in Markdown."""
    pieces = []
    for index, piece in enumerate(text.split("`")):
        if index % 2:
            pieces.append(f'<code style="background:#edf2f7;color:{INK};padding:0 3px">{escape(piece)}</code>')
        else:
            words = escape(piece).split("*")
            balanced = len(words) % 2 == 1
            pieces.append(
                "".join(f"<em>{w}</em>" if i % 2 and balanced else w for i, w in enumerate(words))
                if balanced
                else "*".join(words)
            )
    return "".join(pieces)
