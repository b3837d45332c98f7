"""Templates of all pages, which escape everything that is not marked as HTML."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from course.report_html import inline_markdown


def page_templates(folder: Path) -> Environment:
    """An environment for templates in `folder`, with a filter `prose` for graders' texts."""
    environment = Environment(
        loader=FileSystemLoader(folder), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters["prose"] = lambda text: Markup(inline_markdown(text))
    return environment
