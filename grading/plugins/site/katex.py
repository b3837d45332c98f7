"""Formulas as KaTeX sets them, made when the page is: no script runs on the page, and no server is asked.

KaTeX is JavaScript, which QuickJS runs inside this process, so that nobody needs Node. It gives each formula twice: as
HTML with fonts for the eye, and as MathML for screen readers. The folder katex_files holds the files of `npm pack
katex` at version 0.19.1, unchanged: dist/katex.min.js, dist/katex.min.css, dist/fonts/*.woff2, and the licence. To
update it, copy these files from a newer package and run tests/plugins/site.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import quickjs

from grading.errors import SiteError

FILES = Path(__file__).with_name("katex_files")
STYLE = "katex.min.css"
# In an object, because the wrapper cannot read a string that JavaScript has put together from parts
FUNCTION = "function render(latex, display) { return {html: katex.renderToString(latex, {displayMode: display})}; }"
RULE = re.compile(r"([^{}]+)\{([^}]*)\}")
FACE = "@font-face"
FONT_FILE = re.compile(r"fonts/([\w-]+\.woff2)")
OTHER_FORMATS = re.compile(r',url\([^)]*\) format\("(?:woff|truetype)"\)')


@cache
def formula(latex: str, *, display: bool) -> str:
    """The HTML of a formula. Raises SiteError, which says why KaTeX cannot read it, and where."""
    try:
        made: dict[str, str] = _katex()(latex.strip(), display, run_gc=False)
    except quickjs.JSException as error:
        raise SiteError(str(error).partition("\n")[0]) from None
    return made["html"]


def write_styles(pages: Iterable[str], folder: Path) -> None:
    """Write KaTeX's style sheet, and the fonts that these pages' formulas use, to a folder."""
    classes = {name for page in pages for names in re.findall(r'class="([^"]*)"', page) for name in names.split()}
    style = OTHER_FORMATS.sub("", (FILES / STYLE).read_text(encoding="utf-8"))
    used = {
        _font(declarations)
        for selectors, declarations in RULE.findall(style)
        for selector in selectors.split(",")
        if selector != FACE and classes.issuperset(re.findall(r"\.([\w-]+)", selector))
    }
    (folder / "fonts").mkdir(parents=True, exist_ok=True)

    def keep(rule: re.Match[str]) -> str:
        if rule[1] == FACE:
            if _font(rule[2]) not in used:
                return ""
            for name in FONT_FILE.findall(rule[2]):
                shutil.copy(FILES / "fonts" / name, folder / "fonts")
        return rule[0]

    (folder / STYLE).write_text(RULE.sub(keep, style), encoding="utf-8")


def _font(declarations: str) -> tuple[str, bool, bool]:
    """Family, bold and italic of a font, or of what a rule asks for.

    A rule that names no family is for text, which is in Main.
    """
    family = re.search(r"KaTeX_\w+", declarations)
    return family[0] if family else "KaTeX_Main", "weight:700" in declarations, "style:italic" in declarations


@cache
def _katex() -> quickjs.Function:
    return quickjs.Function("render", f"{(FILES / 'katex.min.js').read_text(encoding='utf-8')}\n{FUNCTION}")
