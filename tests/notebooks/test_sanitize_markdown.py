"""Markdown put together at random from what attacks are made of, rendered, and read by an independent HTML parser."""

from __future__ import annotations

import random
import re

import pytest
from markdown_it import MarkdownIt
from nbconvert.filters import markdown2html, strip_files_prefix

from grading.notebooks import sanitize_markdown

from ..support.html_pages import Elements

WRITTEN = """<|>|"|'|`|``|```|~~~|\\|\\\\|$|$$|[|]|(|)|](|]:|![|*|_|**|&|;|&lt;|&#60;|&#x3c;|&colon;|&Tab;|#|-|+|1.
img|src=x|onerror=x()|<img src=x onerror=x()>|<script>|</script>|x()|javascript:|JaVaScRiPt:|data:text/html,|/|%
<!--|-->|<!|<?|?>|<![CDATA[|]]>|<details>|</details>|<summary>|<a href=|<a href="javascript:x()">|</a>|<b|<svg
<style>|</style>|<p style="|files/|attachment:a.png|https://example.org|mailto:a@b.c|<javascript:x()>|<https://a.b/">
mermaid|html|text|\\begin{a}|\\end{a}|\\href{javascript:x()}{y}|[1]: javascript:x()|[1]|![a](x "y")
<template>|<noscript>|<iframe srcdoc="|<base href=|<form action=|<input autofocus onfocus=x()|<meta http-equiv=refresh
\ue000|\u200b|\x00|\x0c|\xa0|\u2028|é|a|b c|onload=x()|{|}|^|<br>|<br/|<sub>|<kbd onclick=x()>|<mark>x</mark>
:|=|!|?|[a](javascript:x())|vbscript:|<math>|title|~~|[x]"""
SPACES = [" ", "  ", "\n", "\n\n", "\n    ", "\n> ", "\n- ", "\n| a | b |\n|---|---|\n| ", "|", "\t", "  \n"]
PIECES = [*WRITTEN.replace("\n", "|").split("|"), *SPACES]
FORBIDDEN = {
    *("script", "iframe", "object", "embed", "form", "base", "meta", "link", "style", "svg", "math", "button"),
    *("textarea", "select", "template", "noscript", "video", "audio", "source", "frame", "frameset", "area", "map"),
}


def dangers(page: str) -> list[str]:
    """What a browser would find in a page that runs, loads, or leads where it should not."""
    found = []
    for tag, attributes in Elements(f"<!DOCTYPE html><div>{page}</div>").found:
        found += [tag] if tag in FORBIDDEN else []
        for name, value in attributes.items():
            link = name in ("href", "src") and not re.match(
                r"https?://|mailto:|#|attachment:|data:image/(png|jpeg|gif|webp);", value, re.IGNORECASE
            )
            if link or str(name).startswith("on") or name in ("srcdoc", "action", "formaction", "srcset", "xlink:href"):
                found.append(f"{tag} {name}={value}")
    return found


@pytest.mark.quick_cases("0")
@pytest.mark.parametrize("seed", range(8))
def test_every_renderer_makes_a_harmless_page_of_any_cleaned_text(seed: int) -> None:
    chosen, dangerous = random.Random(seed), 0
    plain = MarkdownIt("commonmark").enable("table")
    for _ in range(150):
        source = "".join(chosen.choices(PIECES, k=chosen.randint(1, 40)))
        made = sanitize_markdown.cleaned(source)
        dangerous += bool(dangers(plain.render(source)))
        for page in (strip_files_prefix(markdown2html(made)), plain.render(made)):
            assert not dangers(page), (source, made)
            assert "\\href" not in re.sub(r"<(code|pre)\b.*?</\1>", "", page, flags=re.DOTALL), (source, made)
    assert dangerous > 10
