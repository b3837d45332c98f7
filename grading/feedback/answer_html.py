"""HTML of one answer, made in a judge: what a student wrote as Markdown is parsed there alone (see `feedback.page`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat

from ..notebooks.named_pictures import all_pictures, gather_pictures
from ..notebooks.sanitize_html import from_markdown


def warm(about: dict[str, Any]) -> None:
    """Trigger lazy set-up once."""
    from_markdown("A *word* with $x_1$ and <b>bold</b>.")


def prepare(request: dict[str, Any], place: Path) -> None:
    """Do nothing: it takes no further rights."""


def run(request: dict[str, Any], data: bytes, about: None) -> Iterator[dict[str, Any]]:
    """Render `request["text"]` with the pictures of the notebook; yields one message, {"html": text}."""
    cells = nbformat.reads(data.decode(), as_version=4).cells
    for cell in cells:
        gather_pictures(cell)  # as `review.answer_texts` does
    yield {"html": str(from_markdown(request["text"], all_pictures(cells), deeper=2))}
