"""What is left of a stranger's Markdown and HTML: nothing that runs or loads, and all that is for reading."""

from __future__ import annotations

import base64
import html
import random
import re

import pytest
from markupsafe import Markup

from grading.notebooks import sanitize_html

from ..support.html_pages import assert_harmless
from ..support.repository import ROOT

HOSTILE_MARKDOWN = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[a](javascript:alert(1))",
    "[a](JaVaScRiPt&colon;alert(1))",
    "[a](data:text/html;base64,PHNjcmlwdD4=)",
    "![a](https://example.org/x.png)",
    "![a](attachment:missing.png)",
    '![$\\text{" onerror=alert(1) x=}$](data:image/png;base64,AAAA)',
    '<span title="$\\text{<img src=x onerror=alert(1)>}$">a</span>',
    "$\\text{<script>alert(1)</script>}$",
    "$\\href{javascript:alert(1)}{x}$",
    '$\\color{red" onmouseover="alert(1)}{x}$',
    "$$\\begin{x}</math><script>alert(1)</script>\\end{x}$$",
    '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">',
    '<svg></p><style><a id="</style><img src=1 onerror=alert(1)>">',
    '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
    '<style>@import url(https://example.org)</style><p style="background:url(//example.org)">a</p>',
    '<a href="#exercise-double" id="exercise-double" class="exercise">a</a>',
    "<base href=https://example.org><link rel=stylesheet href=//example.org><embed src=x>",
    "```html\n<script>alert(1)</script>\n```",
    "\ue0000\ue001 \ue00099\ue001 $x$",
    "[" * 3000,
    "> " * 2000 + "a",
    "$" * 2001,
    # what one parser takes for text, and another for an element
    "<svg><style><img src=x onerror=alert(1)></style></svg>",
    "<svg><desc><style><!--</style><img src=x onerror=alert(1)>--></style></desc></svg>",
    "<svg><title><style><img src=x onerror=alert(1)></style></title></svg>",
    "<math><mi//xlink:href='data:x,<script>alert(1)</script>'><mglyph><style></math><img src onerror=alert(1)>",
    "<math><annotation-xml encoding='text/html'><style></style><img src=x onerror=alert(1)></annotation-xml></math>",
    "<form><math><mtext></form><form><mglyph><style></math><img src=x onerror=alert(1)>",
    "<template><style></template><img src=x onerror=alert(1)></style></template>",
    "<table><template><td><img src=x onerror=alert(1)></td></template></table>",
    "<title><a title='</title><img src=x onerror=alert(1)>'>",
    *(f"<{tag}><img title='</{tag}><img src=x onerror=alert(1)>'></{tag}>" for tag in ("noembed", "noframes", "xmp")),
    *(f"<{tag}><a title='</{tag}><script>alert(1)</script>'></{tag}>" for tag in ("textarea", "iframe", "select")),
    "<plaintext><script>alert(1)</script>",
    # comments and other things between angle brackets
    "<!--><img src=x onerror=alert(1)>-->",
    "<!--a--!><img src=x onerror=alert(1)>-->",
    "<!-- <!-- --><script>alert(1)</script> -->",
    "<![CDATA[<img src=x onerror=alert(1)>]]><?x <img src=x onerror=alert(1)>?>",
    "<svg><![CDATA[</svg><img src=x onerror=alert(1)>]]></svg>",
    "<!doctype a [<!entity x '<script>alert(1)</script>'>]>&x;",
    # attributes between odd blanks
    "<img\x0csrc=x\x0conerror=alert(1)>",
    "<p/onclick=alert(1)/style=position:fixed>a",
    "<p onclick\n=\n'alert(1)' ONMOUSEOVER\t=alert(1)>a",
    '<p title="a"onclick="alert(1)">a',
    "<p title=`a onclick=alert(1)`>a",
    "<p \x00onclick=alert(1) on\x00click=alert(1)>a",
    "<<img src=x onerror=alert(1)>",
    # addresses with control characters, and other schemes
    "<a href='java\tscr\nipt:alert(1)'>a</a>",
    "<a href='\x01javascript:alert(1)'>a</a>",
    "<a href='&#106;avascript&colon;alert(1)'>a</a>",
    "<a href=' javascript:alert(1)'>a</a><a href='\u00a0javascript:alert(1)'>a</a>",
    "<a href='vbscript:x'>a</a><a href='file:///etc/passwd'>a</a><a href='//example.org'>a</a><a href='x.html'>a</a>",
    "<a href='data:text/html,<script>alert(1)</script>'>a</a><a href='DATA:image/svg+xml,x'>a</a>",
    "<img src='data:image/svg+xml;base64,PHN2Zy8+'><img src='data:text/html;base64,AAAA'>",
    "<img src='data:image/png;base64,AAAA\" onerror=alert(1)'><img src='https://example.org/x.png'>",
    "<img srcset='https://example.org/x.png 1x' lowsrc=x dynsrc=x longdesc=x usemap=#x ismap>",
    "<a href=#x ping=https://example.org target=_top download>a</a>",
    "<blockquote cite=https://example.org><td background=https://example.org><q cite=javascript:alert(1)>",
    # styles that load
    *(
        f'<p style="{style}">a</p>'
        for style in (
            "list-style:url(//example.org)",
            "list-style:URL (//example.org)",
            "list-style:u\\72l(//example.org)",
            "list-style:\\75 rl(//example.org)",
            "list-style:url/**/(//example.org);list-style:ur/**/l(//example.org)",
            "background-color:image-set('https://example.org/x.png' 1x)",
            "list-style:-webkit-image-set(url(//example.org) 1x)",
            "list-style:image('https://example.org');list-style:src('https://example.org')",
            "width:expression(alert(1))",
            "color:var(--x, url(//example.org))",
            "color:red;} @import '//example.org'; p {color:red",
            "position:fixed;inset:0;z-index:9;color:red",
            "margin:-500px 0 0 -500px;color:red",
            "margin:/**/calc(0px - 500px)",
            "color:red&quot; onclick=&quot;alert(1)",
        )
    ),
    "a\ud800<b>b</b>",
]


def grows(shortest: int, longest: int) -> list[str]:
    """Texts of which a parser makes much more than they are."""
    open_tags = "".join(f"<b title={number}>" for number in range(longest))
    return [
        "<div>" * longest,
        "&a" * longest,
        f"{open_tags}{'<p>x' * longest}",
        f"<b title='{'<' + 'a' * longest}'>{'<p>x' * shortest}",
    ]


@pytest.mark.parametrize("source", HOSTILE_MARKDOWN)
def test_hostile_text_becomes_harmless(source: str) -> None:
    for made in (sanitize_html.from_markdown(source), sanitize_html.from_html(source)):
        assert_harmless(made)
        assert sanitize_html.from_html(made) == made or "<math" in made  # nothing new is made of what is cleaned twice
        assert 'id="exercise' not in made
        assert 'class="exercise' not in made


@pytest.mark.parametrize("source", grows(3_000, 30_000), ids=lambda source: source[:9])
def test_what_would_grow_in_the_parser_is_shown_as_it_was_written(source: str) -> None:
    for made in (sanitize_html.from_html(source), sanitize_html.from_markdown(source)):
        assert made.startswith(Markup("<pre>{}").format(source[:1000]))
        assert f"cut: {len(source):,} characters in all" in made
        assert len(made) < 10 * sanitize_html.MAX_TEXT


@pytest.mark.parametrize("source", grows(20, 100), ids=lambda source: source[:9])
def test_a_little_of_the_same_is_read(source: str) -> None:
    assert not sanitize_html.from_html(source).startswith("<pre>")


@pytest.mark.parametrize("parted", [" ", "/", '="" ', "=''"])
def test_a_tag_of_very_many_attributes_is_shown_as_it_was_written(parted: str) -> None:
    source = f"<p {parted.join(f'a{number}' for number in range(110_000))}>text"
    assert sanitize_html.from_html(source).startswith("<pre>&lt;p a0")


def test_a_picture_of_two_megabytes_is_kept() -> None:
    data = base64.b64encode(random.Random(0).randbytes(1_400_000)).decode()
    assert sanitize_html.from_html(f'<img alt="a" src="data:image/png;base64,{data}">').count(data) == 1


@pytest.mark.parametrize("private", ["\ue0000\ue001", "&#xE000;0&#xE001;", "&#xE000;7&#xE001;"])
def test_characters_of_private_use_stand_for_nothing(private: str) -> None:
    made = sanitize_html.from_markdown(f'$x$ {private} [a](https://example.org "{private}") ![{private}](x)')
    assert made.count("<math") == 1
    assert html.unescape(private) in made


def test_long_code_is_shown_without_colours_and_cut() -> None:
    made = sanitize_html.code("a." * 500_000)
    assert made.startswith("<code>a.a.a.")
    assert made.endswith("… cut: 1,000,000 characters in all</code>")
    assert len(made) < 1.1 * sanitize_html.MAX_SHOWN


@pytest.mark.parametrize("line", [" " * 99, "a" + " " * 99 + "b", " " * 99 + "\r"])
def test_a_long_gap_within_a_line_is_kept(line: str) -> None:
    assert sanitize_html.without_gaps(line) == line


def test_many_empty_lines_are_counted_and_the_indent_that_follows_is_kept() -> None:
    assert sanitize_html.without_gaps("a" + " \n" * 100 + "  b") == "a\n\n… 99 empty lines left out\n\n  b"
    assert sanitize_html.without_gaps(few := "a" + "\n" * 51 + "b") == few


def test_a_large_table_is_kept() -> None:
    rows = "".join(f"<tr>{'<td>0.25</td>' * 20}</tr>" for _ in range(60))
    assert (
        sanitize_html.from_html(f"<table><thead><tr><th><b>a</b></th></tr></thead><tbody>{rows}</tbody></table>").count(
            "<td>"
        )
        == 1200
    )


@pytest.mark.parametrize(
    "style",
    ["color:rgb(1, 2, 3)", "background-color:hsla(1, 2%, 3%, 0.5)", "width:calc(50% - 1em)", "font-family:serif"],
)
def test_styles_that_load_nothing_are_kept(style: str) -> None:
    kept = sanitize_html.from_html(f'<p style="{style};position:fixed">a</p>')
    assert kept.replace(" ", "") == f'<p style="{style}">a</p>'.replace(" ", "")


def test_figures_tables_and_details_are_kept() -> None:
    picture = "data:image/png;base64,iVBORw0KGgo="
    figure = (
        f'<figure style="margin:0.5em 0;max-width:100%"><img alt="two &lt; three" src="{picture}" '
        'style="width:300px;height:auto"><figcaption>A caption</figcaption></figure>'
    )
    made = sanitize_html.from_html(figure)
    for piece in (picture, 'alt="two &lt; three"', "max-width:100%", "width:300px", "<figcaption>A caption"):
        assert piece in made.replace("two < three", "two &lt; three")
    text = "<details>\n<summary>Answer</summary>\n\nIt is **one**.\n\n</details>\n\n| a | b |\n|---|---|\n| 1 | $x$ |\n"
    made = sanitize_html.from_markdown(text)
    for piece in ("<details>", "<summary>Answer</summary>", "<strong>one</strong>", "<table>", "<math"):
        assert piece in made


def test_every_equation_of_the_course_becomes_mathml() -> None:
    dollars = re.compile(r"(?<!\\)\$\$(.+?)\$\$|(?<![\\$])\$([^$]+?)\$", re.S)
    seen = 0
    for text in sorted((ROOT / "source").glob("[0-9]*_*.py")):
        prose = "\n".join(re.findall(r"^# %% \[markdown\].*?(?=^# %%|\Z)", text.read_text(), re.M | re.S))
        prose = re.sub(r"^# ?", "", re.sub(r"`[^`\n]*`", "", prose), flags=re.M)
        for display, inline in dollars.findall(prose):
            seen += 1
            made = sanitize_html.equation(display or inline, bool(display))
            assert made.startswith("<math "), (text.name, display or inline)
            assert "\\" not in re.sub(r'alttext="[^"]*"', "", made), (text.name, display or inline)
    assert seen > 100


def test_links_to_headings_lead_to_them() -> None:
    heading = "From $\\sqrt{d_k}$ to `softmax`, *at last*"
    assert f'id="{sanitize_html.slug(heading)}"' in sanitize_html.from_markdown(f"## {heading}")
