"""Makes untrusted Markdown harmless in every renderer; harmless text stays.

nbgrader's formgrader shows Markdown raw, on the teacher's own Jupyter server. So a text is rendered, as nbconvert does
it and by CommonMark's rules, and the result is checked against a list of whole tags: nothing that runs, loads, links
anywhere but to another site, or replaces a part of the page. A text with anything else is rewritten from its parsed
tokens, with HTML as text, and checked again; if that fails it is shown as code. The TeX commands with which MathJax
makes links, styles and ids lose their backslash.

Does not cover: HTML (`sanitize_html`), the look of the learner's page (`feedback`).
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from markdown_it import MarkdownIt
from mistune import BlockState
from mistune.renderers.markdown import MarkdownRenderer
from nbconvert.filters import strip_files_prefix
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from .sanitize_html import without_gaps

Attachments = Mapping[str, Mapping[str, str]]

MAX_TEXT = 20_000  # characters; Markdown parsers take quadratic time on malicious text
BARE = r"</?(?:br|sub|sup|kbd|mark|details|summary)\s*/?>"  # HTML that is kept; it affects nothing beyond its cell
# HTML tags that are dropped without their text: left open, they would format the rest of the page
DROPPED = r"</?(?:b|i|u|em|strong|small|span|p|div|center)\s*/?>"
WORDS = r"""[^"<>]*"""
# A heading's id is its text, and the ids of the formgrader's own boxes are single words like these
HEADING_ID = r"""(?![a-z0-9_-]*")[^"<>]*"""
TAG = re.compile(
    rf"""{BARE}|</?(?:p|em|strong|del|s|code|pre|h[1-6]|ul|ol|li|dl|dt|dd|blockquote|table|thead|tbody|tr|th|td|span)>
    |</(?:a|div)>|<(?:br|hr)[ ]?/?>
    |<h[1-6][ ]id="{HEADING_ID}">|<a[ ]class="anchor-link"[ ]href="\#{WORDS}">
    |<a[ ]href="(?:https?://|mailto:|\#){WORDS}"(?:[ ]title="{WORDS}")?>
    |<img[ ]src="(?:data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]*|attachment:{WORDS})"
        [ ]alt="{WORDS}"(?:[ ]title="{WORDS}")?[ ]/>
    |<code[ ]class="language-[\w+\#.-]*">|<div[ ]class="highlight">|<span[ ]class="\w*">|<ol[ ]start="\d+">
    |<t[hd][ ]style="text-align:(?:left|right|center)">|<li[ ]class="task-list-item">
    |<input[ ]class="task-list-item-checkbox"[ ]type="checkbox"[ ]disabled(?:[ ]checked)?/>""",
    re.VERBOSE,
)
LINK = re.compile(r"https?://|mailto:|#", re.IGNORECASE)
PICTURE = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]*")
INFO = re.compile(r"(?!mermaid)[\w+#.-]*")  # a language; nbconvert copies the text of a diagram unchanged
TEX = re.compile(
    r"(?<!\\)\\++(?=(?:href|url|require|unicode|cssId|class|style|bbox|texttip|mathtip|toggle|action|data|csname|"
    r"includegraphics|html[A-Z]\w*|mmlToken)(?![A-Za-z]))"
)
CODE = re.compile(r"<(code|pre)\b")
COMMONMARK = MarkdownIt("commonmark").enable(["table", "strikethrough"])
NOT_SHOWN = "*(A text that cannot be shown here; it is in the submitted notebook.)*"


def cleaned(source: str, attachments: Attachments | None = None) -> str:
    """The text itself if it is harmless; else what can be kept of it."""
    attachments, source = attachments or {}, without_gaps(source)
    return next(
        (candidate for candidate in _attempts(source, attachments) if is_harmless(candidate, attachments)), NOT_SHOWN
    )


def _attempts(source: str, attachments: Attachments) -> Iterator[str]:
    if len(source) <= MAX_TEXT:
        yield source
        candidate = _rewrite(source, attachments)
        yield candidate
        yield without_commands(candidate)  # some commands only appear when two pieces of text meet
    yield as_code(source)


def is_harmless(source: str, attachments: Attachments) -> bool:
    """Whether all renderers turn the text into listed tags only."""
    try:
        return all(
            "<" not in TAG.sub("", page) and not TEX.search(html.unescape(without_code(page)))
            for page in _render(source, attachments)
        )
    except Exception:  # malicious text may stop a renderer, and with it the formgrader's page
        return False


def without_code(page: str) -> str:
    """The page without its <code> and <pre>; one that is not closed stays."""
    kept, begin = [], 0
    last = {name: page.rfind(f"</{name}>") for name in ("code", "pre")}
    for opened in CODE.finditer(page):
        name = opened[1]
        if begin <= opened.start() < last[name]:
            kept.append(page[begin : opened.start()])
            begin = page.index(f"</{name}>", opened.end()) + len(name) + 3
    return "".join([*kept, page[begin:]])


def as_code(source: str) -> str:
    """The text as it was written, in a code block, cut to the limit."""
    shown, cut = source[:MAX_TEXT], ""
    if len(source) > MAX_TEXT:
        cut = f"\n\n… cut: {len(source):,} characters in all"
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", shown)), default=0))
    return f"{fence}\n{shown}\n{fence}{cut}"


def without_commands(text: str) -> str:
    """The text without the backslashes of TeX's link, style and id commands."""
    return TEX.sub("", text)


def formula(latex: str) -> str:
    """A formula in which nothing can be mistaken for a tag."""
    return without_commands(latex).replace("<", r"\lt ").replace(">", r"\gt ")


def _render(source: str, attachments: Attachments) -> Iterator[str]:
    renderer = IPythonRenderer(escape=False, attachments={name: dict(data) for name, data in attachments.items()})
    yield str(strip_files_prefix(MarkdownWithMath(renderer=renderer).render(source)))  # as in the formgrader
    yield COMMONMARK.render(source)


def _rewrite(source: str, attachments: Attachments) -> str:
    try:
        writer: Any = _Writer(attachments)  # nbconvert's parser is typed for HTML renderers only
        return str(MarkdownWithMath(renderer=writer).render(source)).strip("\n")
    except Exception:  # nested too deeply for the parser
        return as_code(source)


def _as_text(tags: str) -> str:
    """Escape by references, because in HTML blocks backslashes do nothing."""
    return re.sub(r"[\\`*_\[\]$#<&|]", lambda found: f"&#{ord(found[0])};", without_commands(tags))


class _Writer(MarkdownRenderer):
    """Writes parsed Markdown as Markdown; HTML becomes text."""

    def __init__(self, attachments: Attachments) -> None:
        super().__init__()
        self.attachments = attachments

    def render_referrences(self, state: BlockState) -> Iterable[str]:
        return ()  # links contain their addresses

    def text(self, token: dict[str, Any], state: BlockState) -> str:
        return re.sub(r"[\[\]$]", r"\\\g<0>", super().text({**token, "raw": without_commands(token["raw"])}, state))

    def inline_html(self, token: dict[str, Any], state: BlockState) -> str:
        pieces = re.split(f"({BARE})", re.sub(DROPPED, "", token["raw"]))
        return "".join(piece if number % 2 else _as_text(piece) for number, piece in enumerate(pieces))

    def block_html(self, token: dict[str, Any], state: BlockState) -> str:
        return self.inline_html(token, state).strip("\n") + "\n\n"

    def link(self, token: dict[str, Any], state: BlockState) -> str:
        url = str(token["attrs"]["url"])
        if LINK.match(url):
            return super().link({**token, "label": None}, state)
        return f"{self.render_children(token, state)} ({self.codespan({'raw': url}, state)})"

    def image(self, token: dict[str, Any], state: BlockState) -> str:
        url = str(token["attrs"]["url"])
        if PICTURE.fullmatch(url) or url.removeprefix("attachment:") in self.attachments:
            return "!" + super().link({**token, "label": None}, state)
        return self.link({**token, "type": "image"}, state)

    def heading(self, token: dict[str, Any], state: BlockState) -> str:
        text = self.render_children(token, state)
        if re.fullmatch(r"[a-z0-9_\\-]*", text):
            return f"**{text}**\n\n" if text else ""
        return super().heading(token, state)

    def block_code(self, token: dict[str, Any], state: BlockState) -> str:
        info = token.get("attrs", {}).get("info", "")
        return super().block_code({**token, "attrs": {"info": info if INFO.fullmatch(info) else ""}}, state)

    def inline_math(self, token: dict[str, Any], state: BlockState) -> str:
        return f"${formula(token['raw'])}$"

    def block_math(self, token: dict[str, Any], state: BlockState) -> str:
        return f"$${formula(token['raw'])}$$"

    def latex_environment(self, token: dict[str, Any], state: BlockState) -> str:
        name, body = token["attrs"]["name"], formula(token["attrs"]["body"])
        return f"\\begin{{{name}}}{body}\\end{{{name}}}"

    def def_list(self, token: dict[str, Any], state: BlockState) -> str:
        return self.render_children(token, state) + "\n"

    def def_list_head(self, token: dict[str, Any], state: BlockState) -> str:
        return self.render_children(token, state).strip("\n") + "\n"

    def def_list_item(self, token: dict[str, Any], state: BlockState) -> str:
        return ": " + self.render_children(token, state).strip("\n").replace("\n", "\n  ") + "\n"
