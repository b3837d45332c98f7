"""A rich console on which a student's text can move no cursor and set no colour."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.segment import Segment

from .safe_text import harmless


class SafeConsole(Console):
    """Passes text through `harmless`, except segments that are rich's control sequences."""

    def _render_buffer(self, buffer: Iterable[Segment]) -> str:
        return super()._render_buffer(
            segment if segment.control else Segment(harmless(segment.text), segment.style) for segment in buffer
        )
