"""HTML of one answer, made in a judge: what a student wrote as Markdown is parsed there alone (see `feedback.page`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import nbformat

from ..judge.job import AnswerRequest
from ..judge.messages import RenderedPage
from ..notebooks.named_pictures import all_pictures, gather_pictures
from ..notebooks.sanitize_html import from_markdown


def warm(lesson: None) -> None:
    """Trigger lazy set-up once."""
    from_markdown("A *word* with $x_1$ and <b>bold</b>.")


def prepare(request: AnswerRequest, place: Path) -> None:
    """Do nothing: it takes no further rights."""


def run(request: AnswerRequest, data: bytes, ready: None) -> Iterator[RenderedPage]:
    """Render the answer with the pictures of the notebook; yields one message."""
    cells = nbformat.reads(data.decode(), as_version=4).cells
    for cell in cells:
        gather_pictures(cell)  # as `review.answer_texts` does
    yield RenderedPage(str(from_markdown(request.text, all_pictures(cells), deeper=2)))
