"""A page as a browser reads it, and what no page of ours may hold."""

from __future__ import annotations

import re
from typing import Any

import html5lib

from grading.notebooks import sanitize_html

PAGE = {"section", "header", "main", "html", "head", "body", "meta", "title", "style"}


class Elements:
    """What a browser finds, by the parser that HTML's standard prescribes: all elements, all text but styles."""

    def __init__(self, page: str) -> None:
        tree = html5lib.parse(page, namespaceHTMLElements=False)
        self.found: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self._read(tree)

    def _read(self, element: Any) -> None:
        if not isinstance(element.tag, str):  # a comment
            return
        tag = element.tag.rpartition("}")[2]
        self.found.append((tag, dict(element.attrib)))
        if tag != "style":
            self.text += element.text or ""
        for child in element:
            self._read(child)
            self.text += child.tail or ""

    def named(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.found if name == tag]


def assert_harmless(page: str) -> None:
    """It runs nothing and loads nothing."""
    allowed = sanitize_html.TAGS | sanitize_html.MATH_TAGS | PAGE
    for tag, attributes in Elements(page).found:
        assert tag in allowed
        for name, value in attributes.items():
            assert not str(name).startswith("on"), (tag, name)
            assert name not in ("srcdoc", "action", "formaction", "xlink:href", "background", "srcset")
            if name == "src":
                assert re.match(r"data:image/(png|jpeg|gif|webp);base64,", value), value
            if name == "href":
                assert re.match(r"https?://|mailto:|#", value, re.I), value
            if name == "style":
                assert "\\" not in value
                assert set(re.findall(r"([\w-]*)\(", value.lower())) <= {"rgb", "rgba", "hsl", "hsla", "calc"}
                assert "position" not in value
                assert "margin:-" not in value and "margin:calc" not in value
