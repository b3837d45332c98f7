"""A console of rich on which what a student wrote moves no cursor and sets no colour."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.segment import Segment

from .safe_text import harmless


class SafeConsole(Console):
    """rich's own control sequences are segments of their own; the text of all others passes through `harmless`."""

    def _render_buffer(self, buffer: Iterable[Segment]) -> str:
        return super()._render_buffer(
            segment if segment.control else Segment(harmless(segment.text), segment.style) for segment in buffer
        )
