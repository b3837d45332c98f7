"""Protection of the names that a lesson imports from being rebound."""

from __future__ import annotations

from typing import Any

from ..report import display_markdown, shell

NAMES = ("begin", "check", "hint", "predict", "use", "progress", "figures", "interactive")
_originals: dict[str, Any] = {}


def restore_course_names() -> None:
    """From now on, restore the course's names after every cell, with a message."""
    ipython = shell()
    if ipython is None:
        return
    _originals.update({name: value for name in NAMES if _is_ours(value := ipython.user_ns.get(name))})
    if _restore in ipython.events.callbacks["post_run_cell"]:
        ipython.events.unregister("post_run_cell", _restore)
    ipython.events.register("post_run_cell", _restore)


def _restore(_: object = None) -> None:
    names = shell().user_ns
    for name, own in _originals.items():
        if name in names and names[name] is not own:
            kind = type(names[name]).__name__
            names[name] = own
            display_markdown(
                f"**`{name}` belongs to the lesson.** This cell replaced it with a value of type `{kind}`; the "
                f"course's `{name}` is back. Choose another name for yours, and run the cell again."
            )


def _is_ours(value: Any) -> bool:
    known = getattr(value, "__spec__", None) or value  # a module, or a function
    home = getattr(known, "__module__", None) if known is value else known.name
    return isinstance(home, str) and home.startswith("course.")
