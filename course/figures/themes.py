"""Figures as inline SVG in the colours of the page's theme.

Matplotlib draws a figure in the colours of `style`. `themed` writes each of them as a CSS variable that has a shade
for a light and one for a dark ground. Colours of cells, and the text on them, stay as they are.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from html import escape
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from .style import FAINT, GREY, GROUND, INK, LIGHT, PALE, PALE_BLUE, PALE_ORANGE, PALETTE, PARTS, TEXT_PALETTE

CLASS = "attn-figure"
# JupyterLab, Notebook 7 and nbconvert; VS Code; Colab; the site
DARK_PAGES = (
    "[data-jp-theme-light=false]",
    ".vscode-dark",
    ".vscode-high-contrast:not(.vscode-high-contrast-light)",
    "html[theme=dark]",
    "html[data-theme=dark]",
)
_PAGE = "var(--jp-layout-color0,var(--vscode-editor-background,var(--pst-color-background,Canvas)))"
_DARK_PALETTE = ("#4aa8e8", "#ff8a3d", "#2bc79a", "#e59cc6", "#f2b33d", "#9ad4f7", "#f2f2f2")
# In the order of PARTS; the output's is PALETTE's black
_DARK_PARTS = ("#a6a6a6", "#77b4ee", "#e8713c", "#25e59a", "#ecc040", "#cc55f5", "#f2f2f2")
DARK = {
    INK: "#e6e6e6",
    GREY: "#b3b3b3",
    FAINT: "#858585",
    LIGHT: "#4a4a4a",
    PALE: "#2f2f2f",
    PALE_BLUE: "#1d3a52",
    PALE_ORANGE: "#4d3018",
    **dict(zip((*PALETTE, *TEXT_PALETTE), _DARK_PALETTE * 2, strict=True)),
    **dict(zip(PARTS.values(), _DARK_PARTS, strict=True)),
}
_NAMES = {light.lower(): f"--f{number}" for number, light in enumerate(DARK)}
_GROUND = "--fg"
_FORCED = "".join(f"{_NAMES[colour.lower()]}:CanvasText;" for colour in (INK, GREY, PALETTE[-1]))
STYLE = (
    f"<style>.{CLASS}{{color-scheme:light;{_GROUND}:{_PAGE};"
    + "".join(f"{_NAMES[light.lower()]}:light-dark({light},{dark});" for light, dark in DARK.items())
    + f"}}{','.join(f'{page} .{CLASS}' for page in DARK_PAGES)}{{color-scheme:dark}}"
    f"@media (forced-colors:active){{.{CLASS}.{CLASS}.{CLASS}{{color-scheme:light dark;{_FORCED}{_GROUND}:Canvas}}}}"
    f"@media print{{.{CLASS}.{CLASS}.{CLASS}{{color-scheme:light;{_GROUND}:#fff}}}}"
    f".{CLASS}>img{{display:none}}</style>"  # shown where a front end removes styles and drawings
)
_VARIABLES = {**{colour: f"var({name})" for colour, name in _NAMES.items()}, GROUND: f"var({_GROUND})"}

_COLOUR = re.compile(r"#[0-9a-f]{6}\b")
_FRACTION = re.compile(r"-?\d*\.\d{2,}")
_WHOLE = re.compile(r"-?\d+")
_UNTURNED = re.compile(r"rotate\(-?0 .*\)")
_SHIFT = re.compile(r"translate\(([-\d.]+) ([-\d.]+)\)")
_REFERENCE = re.compile(r"#([\w-]+)")
_FONT = re.compile(r"font-family:([^;]*);?")
_GAP = re.compile(r"\s*([A-Za-z])\s*|\s+")
_GLYPH, _UNITS = "scale(0.015625)", 16  # matplotlib's glyphs have 6400 units per em; 400 are enough


def light_dark(colour: str) -> str:
    """A colour of `style` as CSS, with its shade for a dark ground; needs a `color-scheme`."""
    return f"light-dark({colour},{DARK[colour]})"


def themed(drawn: str, alt: str, style: str) -> str:
    """Convert matplotlib's SVG to a compact <svg> with alt text, whose ids occur in no other figure."""
    root = ElementTree.fromstring(drawn)
    whole = "".join(_written(child) for child in root)
    prefix = "f" + hashlib.sha256(drawn.encode()).hexdigest()[:8]
    used = {name: f"{prefix}{number}" for number, name in enumerate(dict.fromkeys(_REFERENCE.findall(whole)))}
    whole = re.sub(r' id="([^"]*)"', lambda found: f' id="{used[found[1]]}"' if found[1] in used else "", whole)
    whole = re.sub(r'(url\(|href=")#([\w-]+)', lambda found: f"{found[1]}#{used[found[2]]}", whole)
    # Matplotlib leaves black out, which is the default
    ink = _VARIABLES[PALETTE[-1].lower()]
    look = f"fill:{ink};font-family:DejaVu Sans,Verdana,sans-serif;stroke-linejoin:round;stroke-linecap:butt;{style}"
    box = root.get("viewBox")
    return f'<svg role="img" aria-label="{escape(alt)}" viewBox="{box}" style="{look}">{whole}</svg>'


def _written(element: Element) -> str:
    """An element as HTML has it: without namespaces, and without groups that do nothing."""
    tag = element.tag.rpartition("}")[2]
    if tag in ("metadata", "style"):
        return ""
    inner = "".join(map(_written, element))
    if tag in ("text", "tspan"):
        inner = escape((element.text or "").strip("\n"), quote=False) + inner
    attributes = "".join(f' {name}="{escape(value)}"' for name, value in _attributes(tag, element))
    unseen = tag == "path" and 'style="fill:none"' in attributes
    if unseen or (tag in ("g", "defs") and not inner):
        return ""
    if tag == "g" and not attributes.replace(f' id="{element.get("id")}"', ""):
        return inner
    return f"<{tag}{attributes}>{inner}</{tag}>"


def _attributes(tag: str, element: Element) -> Iterator[tuple[str, str]]:
    glyph = element.get("transform") == _GLYPH
    for key, value in element.attrib.items():
        name = key.rpartition("}")[2]
        if name == "style":
            yield name, _FONT.sub(_font, _rounded(_coloured(value).replace(": ", ":").replace("; ", ";")))
        elif name == "fill":  # of a hatching's ground; an attribute takes no variable
            yield "style", f"fill:{_coloured(value)}"
        elif name == "d":
            text = _WHOLE.sub(lambda number: str(round(int(number[0]) / _UNITS)), value) if glyph else _rounded(value)
            yield name, _GAP.sub(lambda gap: gap[1] or " ", text).strip()
        elif name == "transform" and _UNTURNED.fullmatch(value):
            continue
        elif name == "transform" and glyph:
            yield name, f"scale({_UNITS / 64:g})"
        elif name == "transform" and tag == "use" and (shift := _SHIFT.fullmatch(value)):
            yield from (("x", _rounded(shift[1])), ("y", _rounded(shift[2])))
        elif name == "href" and value.startswith("data:"):
            yield name, "".join(value.split())
        elif name != "version":
            yield name, _rounded(value)


def _coloured(style: str) -> str:
    return _COLOUR.sub(lambda found: _VARIABLES.get(found[0], found[0]), style)


def _rounded(text: str) -> str:
    """Round numbers to a hundredth of a point, smaller ones (scales) to four digits."""
    return _FRACTION.sub(lambda found: _short(float(found[0])), text)


def _short(number: float) -> str:
    return f"{round(number, 2):g}" if abs(number) >= 1 else f"{number:.4g}"


def _font(found: re.Match[str]) -> str:
    """The whole figure has one font; only where letters are in columns is it another."""
    return "font-family:monospace;" if "mono" in found[1].lower() else ""
