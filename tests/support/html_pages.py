"""Read a page as a browser does, and check that it runs nothing and loads nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from justhtml import Element, JustHTML, Node, Template, Text

from grading.notebooks import sanitize_html

PAGE = {"section", "header", "main", "html", "head", "body", "meta", "title", "style"}


def parse_html(page: str, *, strict: bool = False, fragment: bool = False) -> JustHTML:
    """The tree that the HTML standard prescribes for any input. strict: raise on the first parse error."""
    return JustHTML(page, sanitize=False, strict=strict, fragment=fragment)


def text_of(node: Node) -> str:
    """All text in a node, as it is written, except style sheets."""
    return "".join(part.data or "" for part in _descendants(node) if isinstance(part, Text))


class Elements:
    """The elements of a page, in order, each with its attributes; and the text of the page."""

    def __init__(self, page: str) -> None:
        root = parse_html(page).root
        elements = (node for node in _descendants(root) if isinstance(node, Element))
        self.found = [
            (element.name, {name: value or "" for name, value in element.attrs.items()}) for element in elements
        ]
        self.text = text_of(root)

    def named(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.found if name == tag]


def assert_harmless(page: str) -> None:
    """The page runs nothing and loads nothing."""
    allowed = sanitize_html.TAGS | sanitize_html.MATH_TAGS | PAGE
    for tag, attributes in Elements(page).found:
        assert tag in allowed
        for name, value in attributes.items():
            assert not name.startswith("on"), (tag, name)
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


def _descendants(node: Node | Text) -> Iterator[Node | Text]:
    """A node and everything below it, in order; of a style sheet the element alone."""
    yield node
    if isinstance(node, Element) and node.name == "style":
        return
    if isinstance(node, Template) and node.template_content:
        yield from _descendants(node.template_content)
    for child in node.children or ():
        yield from _descendants(child)
