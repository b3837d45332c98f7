"""Sphinx's formulas as MathML, made when the page is: no script, no server elsewhere, read out by screen readers."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from ..notebooks.sanitize_html import equation


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(str(equation(node.astext())))
    raise nodes.SkipNode


def _block(translator: Any, node: nodes.math_block) -> None:
    # A wide one scrolls, by keyboard too
    translator.body.append(f'<div class="formula" tabindex="0">{equation(node.astext(), display=True)}</div>')
    raise nodes.SkipNode
