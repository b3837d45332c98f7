"""Templates of all pages, which escape everything that is not marked as HTML."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from course.report_html import inline_markdown

FOLDER = Path(__file__).parent
TOKENS = (FOLDER / "tokens.css").read_text(encoding="utf-8")
STYLE = TOKENS + (FOLDER / "page.css").read_text(encoding="utf-8")  # of every page that is wholly ours
HEADERS = {  # of every page that a server of ours sends
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


def page_templates(folder: Path) -> Environment:
    """An environment for the templates in `folder`, with `page_style` and a filter `prose` for graders' texts."""
    environment = Environment(
        loader=FileSystemLoader(folder), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters["prose"] = lambda text: Markup(inline_markdown(text))
    environment.globals["page_style"] = Markup(STYLE)
    return environment
