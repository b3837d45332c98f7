"""The list of contents beside a page: its sections, and each exercise by its name."""

from __future__ import annotations

from collections import Counter
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

PREDICTS = "Predict: "  # begins the heading of a question, which is not a section


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("env-updated", _tidy)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _tidy(app: Sphinx, env: BuildEnvironment) -> None:
    for contents in env.tocs.values():
        entries = list(contents.findall(nodes.reference))
        times = Counter(entry.astext() for entry in entries)
        for entry in entries:
            text = entry.astext()
            if (times[text] > 1 or text.startswith(PREDICTS)) and not _below(entry):
                _remove(entry)  # "Predict first", six times in a lesson, says nothing in a list
            for code in entry.findall(nodes.literal):
                name = code.astext().partition("(")[0]  # the arguments are in the heading itself
                code.replace_self(nodes.literal("", "", nodes.Text(name)))


def _below(entry: nodes.reference) -> bool:
    """Whether an entry has entries below it."""
    return any(isinstance(child, nodes.bullet_list) for child in _item(entry).children)


def _remove(entry: nodes.reference) -> None:
    """Remove an entry, and the list that it leaves empty."""
    item = _item(entry)
    around = item.parent
    around.remove(item)
    if not around.children and isinstance(around.parent, nodes.list_item):
        around.parent.remove(around)


def _item(node: nodes.Element) -> nodes.Element:
    return node if isinstance(node, nodes.list_item) else _item(node.parent)
