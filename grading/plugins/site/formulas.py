"""Sphinx's formulas by KaTeX."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

from grading.errors import SiteError

from . import katex

log = logging.getLogger(__name__)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("katex", inline_renderers=(_inline, None), block_renderers=(_block, None))
    app.add_css_file(katex.STYLE)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(_formula(node, display=False))
    raise nodes.SkipNode


def _block(translator: Any, node: nodes.math_block) -> None:
    # A wide one scrolls, by keyboard too
    translator.body.append(f'<div class="formula" tabindex="0">{_formula(node, display=True)}</div>')
    raise nodes.SkipNode


def _formula(node: nodes.math | nodes.math_block, *, display: bool) -> str:
    try:
        return katex.formula(node.astext(), display=display)
    except SiteError as error:
        log.warning("%s", error, location=node)
        return ""
