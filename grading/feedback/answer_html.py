"""HTML of one answer, made in a judge: what a student wrote as Markdown is parsed there alone (see `feedback.page`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..notebooks.sanitize_html import from_markdown


def warm(about: dict[str, Any]) -> None:
    """Trigger lazy set-up once."""
    from_markdown("A *word* with $x_1$ and <b>bold</b>.")


def prepare(request: dict[str, Any], place: Path) -> None:
    """Do nothing: it takes no further rights."""


def run(request: dict[str, Any], data: bytes, about: None) -> Iterator[dict[str, Any]]:
    """Render `request["text"]`; yields one message, {"html": text}. The notebook itself is not read."""
    yield {"html": str(from_markdown(request["text"], deeper=2))}
