"""Makes safe HTML of a student's Markdown, HTML outputs, equations and code.

Only what is listed is kept. The result runs nothing and loads nothing: no scripts, handlers, frames, forms or
`javascript:` addresses, and no picture from outside the page. Equations become MathML, built from the parsed formula
element by element and inserted after the cleaning, because cleaners cannot be trusted with MathML inside HTML. Does
not cover: the look of the page around it (`feedback`).
"""

from __future__ import annotations

import html
import re
import secrets
from functools import lru_cache
from typing import Any
from xml.etree.ElementTree import Element

import nh3
from latex2mathml.converter import convert_to_element
from markupsafe import Markup, escape
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from pygments.token import STANDARD_TYPES


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


MAX_FORMULA = 4_000  # characters; a longer one is shown as written
SECTION = "section-"  # how ids of headings begin; no other id is let through
FORMATTER = HtmlFormatter(style="xcode", nowrap=True)  # every colour has a contrast of 4.5 on the page's grey
DARK = HtmlFormatter(style="github-dark", nowrap=True)  # and on its dark grey

TAGS = _words(
    "a abbr b blockquote br caption code col colgroup dd del details dfn div dl dt em figcaption figure h1 h2 h3 h4 h5"
    " h6 hr i img ins kbd li mark ol p pre q s samp small span strong sub summary sup table tbody td tfoot th thead tr"
    " u ul var"
)
PLAIN_ATTRIBUTES = _words("alt aria-label colspan dir height lang open role rowspan scope span start title width")
CLASSES = frozenset(STANDARD_TYPES.values()) | {"highlight"}
PICTURE = re.compile(r"data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]+")
LINK = re.compile(r"(https?://|mailto:|#)", re.IGNORECASE)
PROPERTIES = _words(
    "color background-color border border-bottom border-collapse border-left border-radius border-right border-spacing"
    " border-top display flex flex-basis flex-direction flex-grow flex-shrink flex-wrap align-items justify-content gap"
    " font-family font-size font-style font-weight height line-height list-style list-style-type max-width min-width"
    " overflow overflow-x padding padding-bottom padding-left padding-right padding-top text-align text-decoration"
    " vertical-align white-space width margin"
)
# Of CSS's functions only those that load nothing; no backslash, which allows many spellings of `url`
STYLE = re.compile(r"(?:[^\\(]|(?<![\w-])(?:rgba?|hsla?|calc)\()*", re.IGNORECASE)
UNSEEN = _words("script style template title noscript")  # removed with their content; other tags leave their text

MAX_TEXT = 20_000  # characters of Markdown, and of text that is shown as written
MAX_CODE = 20_000  # of highlighted code; pygments takes quadratic time on some
MAX_SHOWN = 100_000  # of code without highlighting
MAX_GAP = 50  # empty lines in a row: pygments takes the square of their number
GAP = re.compile(rf"(?<!\s)\s{{{MAX_GAP},}}")
# Costs of HTML's parsing rules: nested tags, and references, cost the square of their number; <b> and the like, left
# open, are repeated with all their attributes in every following block; a tag's attributes, each compared with all
# before it, cost the square of their number, too. Whatever may separate two attributes is counted everywhere; in a
# picture's bytes that is one character of 64.
MAX_MARKS = 20_000
MAX_PARTED = 40_000
PARTS = re.compile(r"""\s+|[/"']""")
PICTURES_SHARE = 48
# A browser lays out a cell that spans a thousand columns as a thousand columns. Tables that people make name no more
# columns and rows than a few for each of their cells
SPANS = re.compile(r' (?:colspan|rowspan|span)="([^"]*)"')
CELLS = re.compile(r"<(?:td|th|col|colgroup)\b")
SPANS_PER_CELL, FREE_SPANS, MOST_ROWS = 4, 100, 65_534
MAX_REPEATED = 50_000_000
REPEATED = re.compile(r"<(?:a|b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)\b", re.IGNORECASE)


MATH_TAGS = _words(
    "math menclose mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow mspace msqrt mstyle msub"
    " msubsup msup mtable mtd mtext mtr munder munderover"
)
MATH_ATTRIBUTES = _words(
    "accent accentunder columnalign columnlines columnspacing display displaystyle fence form height largeop"
    " linethickness lspace mathvariant maxsize minsize movablelimits notation rowlines rowspacing rspace scriptlevel"
    " separator stretchy symmetric width"
)
TAG = re.compile(r"""<(?:[^<>"']|"[^"]*"|'[^']*')*+>""")


def _filter_attribute(tag: str, name: str, value: str) -> str | None:
    """The value of an attribute; None if it may not stay."""
    match name:
        case "src":
            allowed = tag == "img" and PICTURE.fullmatch(value) is not None
        case "href":
            allowed = tag == "a" and LINK.match(value) is not None
        case "style":
            allowed = STYLE.fullmatch(value) is not None and not _moves_backwards(value)
        case "class":
            allowed = value in CLASSES
        case "id":
            allowed = value.startswith(SECTION)
        case _:
            allowed = name in PLAIN_ATTRIBUTES
    return value if allowed else None


def _moves_backwards(style: str) -> bool:
    """Whether a margin may be negative: the element would cover other parts of the page."""
    margins = (part.partition("margin")[2] for part in style.lower().split(";"))
    return any("-" in margin or "calc" in margin for margin in margins)


CLEANER = nh3.Cleaner(
    tags=set(TAGS),
    clean_content_tags=set(UNSEEN),
    attributes={"*": set(PLAIN_ATTRIBUTES) | {"style", "class", "id"}, "img": {"src"}, "a": {"href"}},
    attribute_filter=_filter_attribute,
    url_schemes={"http", "https", "mailto", "data"},  # `data` for pictures only: see _filter_attribute
    filter_style_properties=set(PROPERTIES),
    link_rel=None,  # no link opens a window that could reach back, and the page's policy sends no referrer
)


def from_markdown(source: str, attachments: dict[str, Any] | None = None, *, deeper: int = 0) -> Markup:
    """Render Markdown; its headings move `deeper` levels down to fit the page's own."""
    source = without_gaps(source)
    if len(source) > MAX_TEXT:
        return _as_text(source)
    renderer = _Renderer(attachments or {}, deeper)
    try:
        text = str(MarkdownWithMath(renderer=renderer).render(source))
    except Exception:  # untrusted Markdown may be nested too deeply for the parser
        return _as_text(source)
    # In a tag, where a formula may be in an attribute, its text; everywhere else MathML
    plain = TAG.sub(lambda tag: renderer.as_text(tag[0]), from_html(text))
    shown = renderer.places.sub(lambda place: equation(*renderer.equations[int(place[1])]), plain)
    address = rf"data:image/png;base64,{renderer.mark}(\d{{8}})"
    return Markup(re.sub(address, lambda place: renderer.pictures[int(place[1])], shown))


def from_html(source: str) -> Markup:
    """Sanitize HTML of an output or of rendered Markdown."""
    if _costs_too_much(source):
        return _as_text(source)
    whole = source.encode("utf-8", errors="replace").decode()  # no parser accepts half a surrogate pair
    return Markup(_without_huge_spans(CLEANER.clean(whole).replace("<img>", "")))


def _without_huge_spans(cleaned: str) -> str:
    """Remove all spans if they add up to many more columns and rows than there are cells."""
    tags = TAG.findall(cleaned)
    spanned = sum(_span(value) for tag in tags for value in SPANS.findall(tag))
    if spanned <= FREE_SPANS + SPANS_PER_CELL * sum(1 for tag in tags if CELLS.match(tag)):
        return cleaned
    return TAG.sub(lambda tag: SPANS.sub("", tag[0]), cleaned)


def _span(value: str) -> int:
    """The number of columns or rows; like a browser, read the leading digits of a text."""
    digits = re.match(r"\s*\+?([0-9]{1,6})", value)
    return (int(digits[1]) or MOST_ROWS) if digits else 1  # 0 rows: all that follow


def _costs_too_much(source: str) -> bool:
    tags = source.count("<")
    if tags + source.count("&") > MAX_MARKS:
        return True
    if sum(1 for _ in PARTS.finditer(source)) > MAX_PARTED + len(source) // PICTURES_SHARE:
        return True
    return tags * len(source) > MAX_REPEATED and REPEATED.search(source) is not None


def _as_text(source: str) -> Markup:
    """The text as it was written, cut to the limit."""
    cut = f"\n… cut: {len(source):,} characters in all" if len(source) > MAX_TEXT else ""
    return Markup("<pre>{}{}</pre>").format(source[:MAX_TEXT], cut)


def equation(latex: str, display: bool = False) -> Markup:
    """A formula as MathML; as its own text if it cannot be read."""
    latex = latex.strip()
    return Markup(_mathml(latex, display) if len(latex) <= MAX_FORMULA else _plain_formula(latex))


def without_gaps(text: str, note: str = "…") -> str:
    """The text with a note in place of many empty lines in a row."""
    return GAP.sub(lambda gap: _shortened(gap[0], note), text)


def _shortened(gap: str, note: str) -> str:
    lines = f"{gap}|".splitlines()  # the end of a line, empty ones, and the indent of the next
    empty = len(lines) - 2
    if empty <= MAX_GAP:
        return gap
    return f"\n\n{note} {empty:,} empty lines left out\n\n{lines[-1][:-1]}"


def code(source: str) -> Markup:
    """Highlight Python code in one <code>; long code is plain, and then cut."""
    source = without_gaps(source, "# …")
    if len(source) > MAX_CODE:
        shown, cut = (
            source[:MAX_SHOWN],
            f"\n… cut: {len(source):,} characters in all" if len(source) > MAX_SHOWN else "",
        )
        return Markup("<code>{}{}</code>").format(shown, cut)
    return Markup("<code>{}</code>").format(Markup(highlight(source, PythonLexer(), FORMATTER).rstrip("\n")))


def styles_of_code() -> str:
    light, dark = ("\n".join(theme.get_token_style_defs(".code")) for theme in (FORMATTER, DARK))
    return f"{light}\n@media screen and (prefers-color-scheme: dark) {{\n{dark}\n}}"


def slug(text: str) -> str:
    """The id of a heading, for links."""
    return SECTION + "-".join(re.findall(r"\w+", html.unescape(re.sub(r"<[^<>]*>", "", text)).lower()))


class _Renderer(IPythonRenderer):
    """nbconvert's renderer, with equations set aside; attachments may be missing."""

    def __init__(self, attachments: dict[str, Any], deeper: int) -> None:
        super().__init__(escape=False, attachments=attachments, exclude_anchor_links=True)
        self.deeper = deeper
        self.equations: list[tuple[str, bool]] = []
        self.pictures: list[str] = []
        self.mark = secrets.token_hex(8)  # stands for an equation; no written text can contain it
        self.places = re.compile(f"{self.mark}-([0-9]+)-")

    def as_text(self, rendered: str) -> str:
        """Put the equations' own text in their places."""
        return self.places.sub(lambda place: html.escape(self.equations[int(place[1])][0]), rendered)

    def heading(self, text: str, level: int, **attrs: Any) -> str:
        level = min(level + self.deeper, 6)
        return f'<h{level} id="{html.escape(slug(self.as_text(text)))}">{text}</h{level}>\n'

    def image(self, text: str, url: str, title: str | None = None) -> str:
        """Set attachments aside: their length would count as a cost of the HTML."""
        if url.startswith("attachment:"):
            bundle = self.attachments.get(url.removeprefix("attachment:"), {})
            found = [
                address for pair in bundle.items() if PICTURE.fullmatch(address := "data:{};base64,{}".format(*pair))
            ]
            if not found:
                return f"<em>{html.escape(text)}</em>"
            self.pictures.append(found[0])
            url = f"data:image/png;base64,{self.mark}{len(self.pictures) - 1:08}"
        return str(super().image(text, url, title))

    def block_math(self, body: str) -> str:
        return self._set_aside(body, display=True)

    def inline_math(self, body: str) -> str:
        return self._set_aside(body)

    def latex_environment(self, name: str, body: str) -> str:
        return self._set_aside(f"\\begin{{{name}}}{body}\\end{{{name}}}", display=True)

    def _set_aside(self, latex: str, display: bool = False) -> str:
        self.equations.append((latex, display))
        return f"{self.mark}-{len(self.equations) - 1}-"


@lru_cache(maxsize=4096)
def _mathml(latex: str, display: bool) -> str:
    try:
        tree = convert_to_element(latex, display="block" if display else "inline")
        written = _to_mathml(tree)
    except Exception:  # the converter may raise anything on an invalid formula
        return _plain_formula(latex)
    alttext = f' alttext="{html.escape(latex)}"'
    return f'<math xmlns="http://www.w3.org/1998/Math/MathML"{alttext}{written.removeprefix("<math")}'


def _to_mathml(element: Element) -> str:
    """Write listed MathML only; the converter's texts hold character references."""
    if element.tag not in MATH_TAGS:
        raise ValueError(element.tag)
    attributes = "".join(
        f' {name}="{html.escape(html.unescape(value))}"'
        for name, value in element.attrib.items()
        if name in MATH_ATTRIBUTES
    )
    inner = "".join([_text(element.text), *(_to_mathml(child) + _text(child.tail) for child in element)])
    return f"<{element.tag}{attributes}>{inner}</{element.tag}>"


def _text(text: str | None) -> str:
    return html.escape(html.unescape(text or ""))


def _plain_formula(latex: str) -> str:
    return str(Markup("<code>{}</code>").format(escape(latex)))
