"""The HTML of a report. Colours are in `STYLE`, under classes that begin with `attn-`.

Text takes the colour of the page around it, and every other colour is mixed with that one: so it can be read in light
and dark themes of JupyterLab, Notebook, VS Code, Colab and of pages, and of those that a front end may have later.
Marks and words show each status, not only colours; without the style the page reads the same.

Rules for code repeat the class: JupyterLab's own, of `.jp-RenderedHTMLCommon :not(pre) > code`, would win otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape

from .report import INK, MARKS, ONE_LINE, Example, Report, Row

STYLE = f"""
.attn-report {{ --attn-ink: {INK};
  --attn-quiet: color-mix(in srgb, var(--attn-ink) 78%, transparent);
  --attn-line: color-mix(in srgb, var(--attn-ink) 25%, transparent);
  --attn-ground: color-mix(in srgb, var(--attn-ink) 5%, transparent);
  --attn-differs: color-mix(in srgb, #f5a800 30%, transparent);
  color: var(--attn-ink); border: 1px solid var(--attn-line); border-left: 5px solid var(--attn-tone);
  border-radius: 4px; padding: 8px 12px; margin: 4px 0; max-width: 60em; overflow-wrap: break-word;
  font: 14px/1.45 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }}
.attn-good {{ --attn-tone: color-mix(in srgb, #0a9150 62%, {INK}); }}
.attn-part {{ --attn-tone: color-mix(in srgb, #c47f00 62%, {INK}); }}
.attn-bad {{ --attn-tone: color-mix(in srgb, #d8203f 62%, {INK}); }}
.attn-person {{ --attn-tone: color-mix(in srgb, #7d4bc0 62%, {INK}); }}
.attn-plain {{ --attn-tone: color-mix(in srgb, {INK} 72%, transparent); }}
.attn-report p, .attn-report ul, .attn-report details {{ margin: 6px 0 0; padding: 0; border: 0; }}
.attn-report p.attn-head, .attn-report details p {{ margin: 0; }}
.attn-mark {{ color: var(--attn-tone); font-weight: bold; }}
.attn-report .attn-headline {{ font-weight: 600; }}
.attn-report .attn-quiet {{ color: var(--attn-quiet); }}
.attn-report.attn-report code {{ background: var(--attn-ground); color: inherit; padding: 0 3px; border-radius: 2px;
  font-size: 13px; }}
.attn-report.attn-report pre {{ background: var(--attn-ground); color: inherit; margin: 6px 0 0; padding: 6px 10px;
  border: 0; border-radius: 3px; font-size: 13px; line-height: 1.4; white-space: pre-wrap; word-break: normal;
  overflow-wrap: anywhere; }}
.attn-report mark {{ background: var(--attn-differs); color: inherit; text-decoration: underline;
  text-underline-offset: 2px; }}
.attn-report summary {{ cursor: pointer; color: var(--attn-quiet); }}
.attn-report ul {{ list-style: none; }}
.attn-report li {{ margin: 3px 0; }}
@media (forced-colors: active) {{ .attn-report mark {{ background: Mark; color: MarkText; }} }}
"""


def to_html(report: Report, *, style: bool = True, links: Mapping[str, str] | None = None) -> str:
    """The report as HTML that needs nothing else.

    style  whether its style comes with it; a page with many reports has it once
    links  section -> the address that leads there; None: headings of the notebook that shows the report
    """
    mark, word, tone = MARKS[report.status]
    head = f'<span class="attn-mark" title="{word}">{mark}</span> <code>{escape(report.exercise)}</code>: {report.head}'
    if report.status in ONE_LINE and not report.unfolded:
        head += f". {inline_markdown(report.headline)}" if report.headline else ""
    parts = [
        f'<div class="attn-report attn-{tone}" role="group" aria-label="{escape(report.exercise)}: {word}">'
        f'<p class="attn-head">{head}</p>',
    ]
    if report.headline and (report.status not in ONE_LINE or report.unfolded):
        parts.append(f'<p class="attn-headline">{inline_markdown(report.headline)}</p>')
    if report.example:
        parts.append(_examples([report.example]))
    if report.advice:
        parts.append(f"<p>{inline_markdown(report.advice)}</p>")
    parts += [f"<p>{inline_markdown(note)}</p>" for note in report.notes]
    if report.see:
        section = inline_markdown(report.see)
        if place := heading_anchor(report.see) if links is None else links.get(report.see):
            # Some front ends would open a new page otherwise, where a notebook has no such heading
            section = f'<a href="{escape(place)}" target="_self">{section}</a>'
        parts.append(f"<p>Look at: {section}</p>")
    if report.ask:
        parts.append(f"<p>Stuck? <code>{escape(report.ask)}</code></p>")
    rows = "\n".join(map(_row, report.rows))
    rows = f"<ul>{rows}</ul>" if rows else ""
    if report.unfolded:
        parts.append(rows)
    elif report.folded:
        rest = "\n".join([rows, *_rest(report)])
        parts.append(f"<details><summary>{_summary(report)}</summary>\n{rest}</details>")
    return "\n".join([*filter(None, parts), "</div>", *([f"<style>{STYLE}</style>"] if style else [])])


def heading_anchor(section: str) -> str:
    """The address of a heading in a notebook; "" if front ends do not agree on it.

    JupyterLab, Jupyter Notebook and nbconvert make the same id from a heading without equations. A browser encodes
    characters other than these, and JupyterLab then finds no such id.
    """
    text = re.sub(r"[`*]", "", section)
    return f"#{text.replace(' ', '-')}" if re.fullmatch(r"[\w .,:;?!()=+'/-]+", text, re.ASCII) else ""


def _summary(report: Report) -> str:
    criteria = sum(bool(row.points) for row in report.rows)
    right = sum(bool(row.points) and row.status == "right" for row in report.rows)
    if not criteria:
        return "Details"
    if right < criteria:
        return f"Points for each requirement, all failing cases ({right} of {criteria} met)"
    return "Points for each requirement, printed output" if report.output else "Points for each requirement"


def _rest(report: Report) -> Iterator[str]:
    for note in report.output:
        yield f"<p>{inline_markdown(note.title)}</p><pre>{escape(note.text)}</pre>"
    for text in report.details:
        yield f'<p class="attn-quiet">{inline_markdown(text)}</p>'


def _row(row: Row) -> str:
    mark, word, tone = MARKS[row.status]
    points = f' <span class="attn-quiet">({escape(row.points)})</span>' if row.points else ""
    head = f'<span class="attn-mark" title="{word}">{mark}</span> {inline_markdown(row.name)}{points}'
    return f'<li class="attn-{tone}">{head}{_examples(row.cases)}</li>'


def _examples(examples: Sequence[Example]) -> str:
    text = "\n".join(line for example in examples for line in _lines(example))
    return f"<pre>{text}</pre>" if text else ""


def _lines(example: Example) -> list[str]:
    """The lines of `Example.lines` as HTML, with the wrong entries marked in place of the line of carets."""
    lines = [escape(line) for line in Example(example.call, example.problem).lines()]
    if example.expected:
        lines += [
            f"    expected {_marked(example.expected, example.marks)}",
            f"         got {_marked(example.got, example.marks)}",
        ]
    return lines + [escape(line) for line in Example("", code=example.code, printed=example.printed).lines()]


def _marked(value: str, marks: Sequence[tuple[int, int]]) -> str:
    parts, last = [], 0
    for start, end in marks:
        parts += [escape(value[last:start]), f"<mark>{escape(value[start:end])}</mark>"]
        last = end
    return "".join([*parts, escape(value[last:])])


def inline_markdown(text: str) -> str:
    """Escape text and format `code` and *emphasis* as in Markdown."""
    pieces = []
    for index, piece in enumerate(text.split("`")):
        if index % 2:
            pieces.append(f"<code>{escape(piece)}</code>")
        else:
            words = escape(piece).split("*")
            balanced = len(words) % 2 == 1
            pieces.append(
                "".join(f"<em>{w}</em>" if i % 2 else w for i, w in enumerate(words)) if balanced else "*".join(words)
            )
    return "".join(pieces)
