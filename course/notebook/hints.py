"""`hint`: the next hint for an exercise."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..harness.serialization import PackingError
from ..report import display_markdown
from .session import current


def hint(f: Any) -> None:
    """Show the next hint for the exercise `f`.

    A rerun of the notebook shows the same hints again.
    """
    session = current()
    name = session.name_of(f)
    try:
        lesson, hints = session.lesson_of(name), session.exercise_data(name)["hints"]
    except (LookupError, OSError, PackingError) as error:
        print(error)
        return
    if not hints:
        print(f"There are no hints for {name}.")
        return
    known = session.store.get(lesson, name)
    index = session.hints.next_hint(name, len(hints), already_shown=known.hints)
    session.store.record(lesson, name, replace(known, hints=max(known.hints, index + 1)))
    again = " (the last one)" if index == len(hints) - 1 else ""
    display_markdown(f"**Hint {index + 1} of {len(hints)}{again}.** {hints[index]}")
