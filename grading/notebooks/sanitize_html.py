"""Makes HTML that is safe to open of what a student wrote: Markdown, HTML of outputs, equations, code.

What is kept is listed; everything else goes. The result runs nothing and loads nothing: no scripts, handlers, frames,
forms or `javascript:` addresses, no picture that is not in the page itself. Equations become MathML, built from the
parsed formula element by element and put in after the cleaning, since cleaners cannot be trusted with MathML inside
HTML. Does not cover: how the page around it looks (`feedback`).
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


MAX_FORMULA = 4_000  # characters; a longer one is shown as it was written
SECTION = "section-"  # ids of headings begin so, and no other id is let through
FORMATTER = HtmlFormatter(style="xcode", nowrap=True)  # every colour has a contrast of 4.5 on the page's grey

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
# Of CSS's functions only those that load nothing; no backslash, by which `url` can be spelled in many ways
STYLE = re.compile(r"(?:[^\\(]|(?<![\w-])(?:rgba?|hsla?|calc)\()*", re.IGNORECASE)
BACKWARDS = re.compile(r"margin[^;]*(?:-|calc)", re.IGNORECASE)  # over what else is on the page
UNSEEN = _words("script style template title noscript")  # go with what they hold; other tags leave their text

MAX_TEXT = 20_000  # characters of Markdown, and of what is shown as it was written
MAX_CODE = 20_000  # of code whose parts are marked; pygments takes quadratic time over some
MAX_SHOWN = 100_000  # of code without marks
# What HTML's own rules for parsing cost: tags nested in tags, and references, the square of their number; <b> and its
# like, left open, are repeated with all their attributes in every block that follows; a tag's attributes, each held
# against all before it, the square of their number, too. What may part two attributes is counted wherever it stands,
# which in the bytes of a picture is one character of 64.
MAX_MARKS = 20_000
MAX_PARTED = 40_000
PARTS = re.compile(r"""\s+|[/"']""")
PICTURES_SHARE = 48
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
TAG = re.compile(r"""<(?:[^>"']|"[^"]*"|'[^']*')*>""")


def _allowed(tag: str, name: str, value: str) -> str | None:
    """The value of an attribute, None where it is not to be kept."""
    match name:
        case "src":
            kept = tag == "img" and PICTURE.fullmatch(value) is not None
        case "href":
            kept = tag == "a" and LINK.match(value) is not None
        case "style":
            kept = STYLE.fullmatch(value) is not None and BACKWARDS.search(value) is None
        case "class":
            kept = value in CLASSES
        case "id":
            kept = value.startswith(SECTION)
        case _:
            kept = name in PLAIN_ATTRIBUTES
    return value if kept else None


CLEANER = nh3.Cleaner(
    tags=set(TAGS),
    clean_content_tags=set(UNSEEN),
    attributes={"*": set(PLAIN_ATTRIBUTES) | {"style", "class", "id"}, "img": {"src"}, "a": {"href"}},
    attribute_filter=_allowed,
    url_schemes={"http", "https", "mailto", "data"},  # `data` is for pictures alone: see _allowed
    filter_style_properties=set(PROPERTIES),
    link_rel=None,  # no link opens a window that could reach back, and the page's policy sends no referrer
)


def from_markdown(source: str, attachments: dict[str, Any] | None = None, *, deeper: int = 0) -> Markup:
    """A Markdown text; `deeper` is how many levels its headings go down, to fit under the page's own."""
    if len(source) > MAX_TEXT:
        return _as_text(source)
    renderer = _Renderer(attachments or {}, deeper)
    try:
        text = str(MarkdownWithMath(renderer=renderer).render(source))
    except Exception:  # what a stranger nests in Markdown may be beyond its parser
        return _as_text(source)
    # In a tag, where a formula may stand in an attribute, as its text; everywhere else as MathML
    plain = TAG.sub(lambda tag: renderer.as_text(tag[0]), from_html(text))
    return Markup(renderer.places.sub(lambda place: equation(*renderer.equations[int(place[1])]), plain))


def from_html(source: str) -> Markup:
    """HTML of an output, or of rendered Markdown."""
    if _costs_too_much(source):
        return _as_text(source)
    whole = source.encode("utf-8", errors="replace").decode()  # half a character is none that a parser takes
    return Markup(CLEANER.clean(whole).replace("<img>", ""))


def _costs_too_much(source: str) -> bool:
    tags = source.count("<")
    if tags + source.count("&") > MAX_MARKS:
        return True
    if sum(1 for _ in PARTS.finditer(source)) > MAX_PARTED + len(source) // PICTURES_SHARE:
        return True
    return tags * len(source) > MAX_REPEATED and REPEATED.search(source) is not None


def _as_text(source: str) -> Markup:
    """As it was written, as far as a page has room."""
    cut = f"\n… cut: {len(source):,} characters in all" if len(source) > MAX_TEXT else ""
    return Markup("<pre>{}{}</pre>").format(source[:MAX_TEXT], cut)


def equation(latex: str, display: bool = False) -> Markup:
    """A formula as MathML; as its own text where it is none that can be read."""
    latex = latex.strip()
    return Markup(_mathml(latex, display) if len(latex) <= MAX_FORMULA else _as_written(latex))


def code(source: str) -> Markup:
    """Python code with its parts marked by pygments' classes, one <code>; what is too long, without marks, and cut."""
    if len(source) > MAX_CODE:
        shown, cut = (
            source[:MAX_SHOWN],
            f"\n… cut: {len(source):,} characters in all" if len(source) > MAX_SHOWN else "",
        )
        return Markup("<code>{}{}</code>").format(shown, cut)
    return Markup("<code>{}</code>").format(Markup(highlight(source, PythonLexer(), FORMATTER).rstrip("\n")))


def styles_of_code() -> str:
    return str(FORMATTER.get_style_defs(".code"))


def slug(text: str) -> str:
    """What a heading is linked by."""
    return SECTION + "-".join(re.findall(r"\w+", html.unescape(re.sub(r"<[^>]*>", "", text)).lower()))


class _Renderer(IPythonRenderer):
    """nbconvert's, with equations set aside, and nothing that stops at a missing attachment."""

    def __init__(self, attachments: dict[str, Any], deeper: int) -> None:
        super().__init__(escape=False, attachments=attachments, exclude_anchor_links=True)
        self.deeper = deeper
        self.equations: list[tuple[str, bool]] = []
        self.mark = secrets.token_hex(8)  # where an equation goes; nothing that was written can hold it
        self.places = re.compile(f"{self.mark}-([0-9]+)-")

    def as_text(self, rendered: str) -> str:
        """With the equations' own text in their places."""
        return self.places.sub(lambda place: html.escape(self.equations[int(place[1])][0]), rendered)

    def heading(self, text: str, level: int, **attrs: Any) -> str:
        level = min(level + self.deeper, 6)
        return f'<h{level} id="{html.escape(slug(self.as_text(text)))}">{text}</h{level}>\n'

    def image(self, text: str, url: str, title: str | None = None) -> str:
        if url.startswith("attachment:") and url.removeprefix("attachment:") not in self.attachments:
            return f"<em>{html.escape(text)}</em>"
        return str(super().image(text, url, title))

    def block_math(self, body: str) -> str:
        return self._put(body, display=True)

    def inline_math(self, body: str) -> str:
        return self._put(body)

    def latex_environment(self, name: str, body: str) -> str:
        return self._put(f"\\begin{{{name}}}{body}\\end{{{name}}}", display=True)

    def _put(self, latex: str, display: bool = False) -> str:
        self.equations.append((latex, display))
        return f"{self.mark}-{len(self.equations) - 1}-"


@lru_cache(maxsize=4096)
def _mathml(latex: str, display: bool) -> str:
    try:
        tree = convert_to_element(latex, display="block" if display else "inline")
        written = _written(tree)
    except Exception:  # whatever the converter makes of a formula that is none
        return _as_written(latex)
    named = f' alttext="{html.escape(latex)}"'
    return f'<math xmlns="http://www.w3.org/1998/Math/MathML"{named}{written.removeprefix("<math")}'


def _written(element: Element) -> str:
    """MathML of listed elements and attributes only. The converter leaves character references in its texts."""
    if element.tag not in MATH_TAGS:
        raise ValueError(element.tag)
    attributes = "".join(
        f' {name}="{html.escape(html.unescape(value))}"'
        for name, value in element.attrib.items()
        if name in MATH_ATTRIBUTES
    )
    inner = "".join([_text(element.text), *(_written(child) + _text(child.tail) for child in element)])
    return f"<{element.tag}{attributes}>{inner}</{element.tag}>"


def _text(text: str | None) -> str:
    return html.escape(html.unescape(text or ""))


def _as_written(latex: str) -> str:
    return str(Markup("<code>{}</code>").format(escape(latex)))
