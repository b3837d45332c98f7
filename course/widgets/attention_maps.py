"""The maps of scores, mask, weights and output as HTML tables, in the colours of the page's theme.

HTML is written in a millisecond, which matplotlib's figures are not. Numbers are text: they can be read aloud, enlarged
and copied. Cells with numbers keep their colours in every theme, with a contrast of 4.5 or more to their numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

import torch

from ..figures.style import ABOVE_0, BELOW_0, FAINT, GREY, INK, LETTERS, PALE, UNDEFINED, WEIGHTS, colour, ink_on
from ..figures.themes import DARK_PAGES, light_dark
from ..report import INK as PAGE_INK
from .attention_trace import Step, Trace

CLASS = "attn-alive"
TITLES = {"scores": "Scores", "mask": "Mask", "weights": "Weights", "output": "Output"}
SHADES = 24  # steps between the lowest and the highest colour
WIDE = 9  # words from which cells are narrow
HATCHED = f"repeating-linear-gradient(135deg,{light_dark(FAINT)} 0 1px,{light_dark(PALE)} 1px 5px)"
WRONG = "#d8203f"


def _shade(stops: Sequence[str], place: float) -> tuple[float, float, float]:
    """The colour at a place from 0 to 1: red, green, blue."""
    step = min(int(place * (len(stops) - 1)), len(stops) - 2)
    part = place * (len(stops) - 1) - step
    low, high = ([int(stop[i : i + 2], 16) / 255 for i in (1, 3, 5)] for stop in stops[step : step + 2])
    r, g, b = (a + (b - a) * part for a, b in zip(low, high, strict=True))
    return r, g, b


def _shades() -> Iterator[str]:
    for name in TITLES:
        yield f".{CLASS}-{name}{{--alive-tone:{light_dark(colour(name) if name in LETTERS else GREY)}}}"
    for place in range(SHADES + 1):
        part = place / SHADES
        signed = _shade(BELOW_0, 2 * part) if part < 0.5 else _shade(ABOVE_0, 2 * part - 1)
        for letter, (r, g, b) in (("w", _shade(WEIGHTS, part)), ("s", signed)):
            written = f"#{round(255 * r):02x}{round(255 * g):02x}{round(255 * b):02x}"
            yield f"{_T} .{letter}{place}{{background:{written};fill:{written};color:{ink_on((r, g, b, 1.0))}}}"


_T = f".{CLASS}.{CLASS}"  # twice: front ends have rules for tables, which would win otherwise
STYLE = f"""<style>{_T}{{color:{PAGE_INK};color-scheme:light;
font:14px/1.45 system-ui,-apple-system,"Segoe UI","DejaVu Sans",
sans-serif;margin:4px 0;max-width:100%}}
{",".join(f"{page} {_T}" for page in DARK_PAGES)}{{color-scheme:dark}}
{_T} p{{margin:4px 0;max-width:62em}}
{_T} .maps{{display:flex;flex-wrap:wrap;gap:12px 24px;align-items:flex-start}}
{_T} .map{{border-top:4px solid var(--alive-tone);padding-top:4px;width:min-content;min-width:min(15em,100%);
max-width:100%;margin:4px 0;box-sizing:border-box}}
{_T} .scroll{{overflow-x:auto;max-width:100%;padding:3px}}
{_T} table{{border-collapse:separate;border-spacing:1px;border:0;margin:0;width:auto;font-size:12px;table-layout:auto;
display:table;color:inherit;background:none}}
{_T} caption{{caption-side:top;text-align:left;padding:0 0 4px;color:inherit;white-space:nowrap;font-size:14px}}
{_T} caption b{{font-weight:700}}
{_T} :is(thead,tbody,tr,tr:hover){{background:none;border:0}}
{_T} :is(th,td){{padding:0;border:0;height:26px;min-width:38px;line-height:1;vertical-align:middle;text-align:center;
font-variant-numeric:tabular-nums;white-space:nowrap}}
{_T} th{{font-weight:400;background:none;color:inherit;min-width:0}}
{_T} tbody th{{text-align:right;padding-right:6px}}
{_T} thead th{{height:auto;vertical-align:bottom;padding:0}}
{_T} thead th span{{writing-mode:vertical-rl;transform:rotate(180deg);padding:4px 0;display:inline-block}}
{_T} td{{forced-color-adjust:none;color:{INK}}}
{_T} td.sum{{forced-color-adjust:auto;color:inherit;background:none;padding:0 4px}}
{_T} :is(td.open,td.shut){{box-shadow:inset 0 0 0 1px {light_dark(FAINT)};color:inherit}}
{_T} td.open{{background:none}}
{_T} td.shut{{background:{HATCHED}}}
{_T} td.none{{background:{UNDEFINED};color:{INK}}}
{_T} td.bad{{outline:3px solid {WRONG};outline-offset:-2px;font-weight:700}}
{_T} td.sum.bad{{color:inherit}}
{_T} td.bar{{min-width:0;background:none;border:0}}
{_T} svg{{display:block;width:208px;height:26px;max-width:none}}
{_T} .many :is(th,td){{height:21px;min-width:29px;font-size:10px}} {_T} .many tbody th{{font-size:11px}}
{_T} .many svg{{height:21px}}
{_T} .fault{{border-left:5px solid {WRONG};padding:0 0 0 8px}}
{_T} .note{{color:color-mix(in srgb,{PAGE_INK} 80%,transparent)}}
{_T} .hidden{{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}}
{_T}.unseen{{height:1px;margin:0;overflow:hidden;opacity:0}}
{_T} .key{{display:inline-block;width:18px;height:14px;vertical-align:-2px;forced-color-adjust:none;
box-shadow:inset 0 0 0 1px {light_dark(FAINT)};background:{HATCHED}}}
{_T} .key.bad{{background:#fff;box-shadow:none;outline:3px solid {WRONG};outline-offset:-2px}}
{_T} code{{background:none;color:inherit;padding:0}}
.{CLASS}-live,.{CLASS}-live :is(.widget-html,.widget-html-content){{min-width:0;max-width:100%}}
@media (forced-colors:active){{{_T}{{color-scheme:light dark}} {_T} .map{{border-color:CanvasText}}}}
@media print{{{_T}{{color-scheme:light;color:{INK}}}}}
{"".join(_shades())}</style>""".replace("\n", "")


def page(trace: Trace) -> str:
    """The sentence of a trace in words, and its four maps; needs STYLE."""
    maps = "".join(_map(trace, name) for name in TITLES)
    unknown = ", ".join(f"“{word}”" for word in trace.sentence.unknown)
    notes = [
        f"The model does not know {unknown}: the maps leave it out." if unknown else "",
        f"The maps show the first {len(trace.sentence.words)} words." if trace.sentence.cut else "",
    ]
    key = (
        '<p class="note">A row is a word that looks (query), a column a word that it looks at (key). '
        '<span class="key"></span> blocked &nbsp; <span class="key bad"></span> wrong</p>'
    )
    printed = f"<details><summary>Your functions printed</summary><pre>{escape(trace.printed[:2000])}</pre></details>"
    return (
        f'<div class="{CLASS}">{"".join(f"<p>{escape(note)}</p>" for note in notes if note)}'
        f'<p class="says">{escape(where_it_looks(trace))}{_problems(trace)}</p>{key}'
        f'<div class="maps">{maps}</div>{printed if trace.printed else ""}</div>'
    )


def says(trace: Trace) -> str:
    """Where the last word looks and what is wrong, in a sentence for each."""
    return " ".join([where_it_looks(trace), *trace.faults])


def where_it_looks(trace: Trace) -> str:
    """How many words there are, and where the last one looks."""
    words, weights = trace.sentence.words, trace.weights.values
    if not words:
        return "Type a sentence."
    parts = [f"{len(words)} word{'' if len(words) == 1 else 's'}."]
    if weights is not None and weights[-1].isfinite().all():
        best = int(weights[-1].argmax())
        parts.append(f"“{words[-1]}” looks most at “{words[best]}”, with a weight of {float(weights[-1, best]):.2f}.")
    return " ".join(parts)


def _problems(trace: Trace) -> str:
    """How many problems there are, and for screen readers the first of them; the others are below its map."""
    if not (count := len(trace.faults)):
        return ""
    where = f"{count} problem{'' if count == 1 else 's'}, below the map{'' if count == 1 else 's'}."
    return f" <b>✗ {where}</b> {_said(escape(trace.faults[0]))}"


def _map(trace: Trace, name: str) -> str:
    title, letter = TITLES[name], LETTERS.get(name)
    step: Step = getattr(trace, name)
    words = trace.sentence.words
    symbol = f" <i>{letter}</i>" if letter else ""
    caption = f"<caption><b>{title}{symbol}</b> · {escape(step.whose)}</caption>"
    said = "".join(f'<p class="fault">✗ {escape(fault)}</p>' for fault in step.faults)
    said += f'<p class="note">{escape(step.note)}</p>' if step.note else ""
    if step.values is None or not words:
        table = f"<table>{caption}</table>"
    else:
        rows = _strips(step.values) if name == "output" else _rows(trace, name, step)
        head = _head(name, words, step.values)
        body = "".join(f'<tr><th scope="row">{escape(w)}</th>{row}</tr>' for w, row in zip(words, rows, strict=True))
        many = ' class="many"' if len(words) >= WIDE else ""
        table = f"<table{many}>{caption}<thead><tr><td></td>{head}</tr></thead><tbody>{body}</tbody></table>"
    # Scrolls sideways where it is wider than the page, by keyboard too
    return (
        f'<div class="map {CLASS}-{name}"><div class="scroll" tabindex="0" role="group" '
        f'aria-label="{title}, {escape(step.whose)}{": see what is wrong below" if step.faults else ""}">'
        f"{table}</div>{said}</div>"
    )


def _head(name: str, words: Sequence[str], values: torch.Tensor) -> str:
    if name == "output":
        return f'<th scope="col">{values.shape[-1]} numbers per word</th>'
    head = "".join(f'<th scope="col"><span>{escape(word)}</span></th>' for word in words)
    return f'{head}<th scope="col"><span>sum</span></th>' if name == "weights" else head


def _rows(trace: Trace, name: str, step: Step) -> Iterator[str]:
    """The cells of each row of a (T, T) map."""
    assert step.values is not None
    blocked, values = trace.blocked.tolist(), step.values.tolist()
    marks = step.marked.tolist() if step.marked is not None else [[False] * len(values)] * len(values)
    finite = step.values[step.values.isfinite()] if name == "scores" else step.values
    limit = max(float(finite.abs().max()), 1e-9) if finite.numel() and name == "scores" else 1.0
    decimals = 2 if name == "weights" or (limit < 10 and len(values) < WIDE) else 1 if limit < 100 else 0
    wrong = set(step.wrong_rows)
    for r, row in enumerate(values):
        cells = [_cell(name, value, blocked[r][c], marks[r][c], limit, decimals) for c, value in enumerate(row)]
        if name == "weights":
            mark = ' class="sum bad"' if r in wrong else ' class="sum"'
            cells.append(f"<td{mark}>{_number(sum(row), 2)}{_said(' wrong') if r in wrong else ''}</td>")
        yield "".join(cells)


def _cell(name: str, value: float, blocked: bool, bad: bool, limit: float, decimals: int) -> str:
    mark = " bad" if bad else ""
    said = _said("wrong") if bad else ""
    if name == "mask":
        return f'<td class="{"shut" if blocked else "open"}{mark}">{_said("blocked" if blocked else "open")}{said}</td>'
    if name == "weights" and blocked and value == 0 and not bad:
        return f'<td class="shut">{_said("blocked")}</td>'
    if not math.isfinite(value):
        return f'<td class="none{mark}">{_number(value, decimals)}{said}</td>'
    place = (value + limit) / (2 * limit) if name == "scores" else value
    shade = f"{name[0]}{round(SHADES * min(max(place, 0.0), 1.0))}"
    return f'<td class="{shade}{mark}">{_number(value, decimals)}{said}</td>'


def _strips(values: torch.Tensor) -> Iterator[str]:
    """One cell per row, with a bar of coloured numbers."""
    finite = values[values.isfinite()]
    limit = max(float(finite.abs().max()), 1e-9) if finite.numel() else 1.0
    places = (values / limit + 1).nan_to_num(nan=-1, posinf=-1, neginf=-1).mul(SHADES / 2).round().int().tolist()
    for row, row_places in zip(values.tolist(), places, strict=True):
        boxes = "".join(
            f'<rect x="{c}" width="1.05" height="1" class="s{place}"/>' if place >= 0
            else f'<rect x="{c}" width="1.05" height="1" fill="none" stroke="{WRONG}" stroke-width=".2"/>'
            for c, place in enumerate(row_places)
        )  # fmt: skip
        label = f"from {_number(min(row), 2)} to {_number(max(row), 2)}"
        yield (
            f'<td class="bar"><svg role="img" aria-label="{label}" viewBox="0 0 {len(row)} 1" '
            f'preserveAspectRatio="none">{boxes}</svg></td>'
        )


def _said(text: str) -> str:
    """Text for screen readers only."""
    return f'<span class="hidden">{text}</span>'


def _number(value: float, decimals: int) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:.{decimals}f}" if abs(value) < 1e4 else f"{value:.0e}"
    return (text if float(text) else text.lstrip("-")).replace("-", "−")
