"""Sliders that work without a kernel, because all figures are drawn beforehand.

For pages of the site (`report.rendering_static_page`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from html import escape
from itertools import product
from typing import Any

from ..figures.themes import STYLE

Choices = Mapping[str, list[Any]]
MOST = 64  # figures; each adds about 10 kB to the page
SCRIPT = """
(() => {
  const all = document.currentScript.parentElement, screen = all.querySelector("[data-screen]");
  const sliders = [...all.querySelectorAll("input")];
  const frames = JSON.parse(all.querySelector("script[type='application/json']").textContent);
  const show = () => {
    let place = 0;
    for (const one of sliders) {
      const words = JSON.parse(one.dataset.values)[one.value];
      place = place * (1 + Number(one.max)) + Number(one.value);
      one.setAttribute("aria-valuetext", words);
      one.parentElement.nextElementSibling.textContent = words;
    }
    screen.innerHTML = frames[place];
  };
  sliders.forEach((one) => one.addEventListener("input", show));
  show();
})();
"""


def static_sliders(
    choices: Mapping[str, list[Any]], first: Mapping[str, Any], picture: Callable[[dict[str, Any]], str]
) -> str:
    """Return sliders and their figures as self-contained HTML.

    choices  the values of each slider, thinned out if they make too many figures
    first    the initial values
    picture  returns the HTML of the figure for given values
    """
    choices = _thinned(choices, first)
    # The style of all frames once, beside them
    frames = [picture(dict(zip(choices, v, strict=True))).replace(STYLE, "") for v in product(*choices.values())]
    sliders = "".join(_slider(option, values, first[option]) for option, values in choices.items())
    data = json.dumps(frames).replace("</", "<\\/")
    return (
        f'<div role="group" aria-label="Sliders and their figure">{STYLE}{sliders}'
        f'<div data-screen aria-live="polite"></div><script type="application/json">{data}</script>'
        f"<script>{SCRIPT}</script></div>"
    )


def _slider(option: str, values: list[Any], at: Any) -> str:
    words = escape(json.dumps([str(value) for value in values]), quote=True)
    place, label = values.index(at), escape(option.replace("_", " "))
    return (
        f'<p><label>{label} <input type="range" min="0" max="{len(values) - 1}" value="{place}" step="1" '
        f'data-values="{words}" aria-valuetext="{escape(str(at))}" style="width:min(22em,60vw);vertical-align:middle">'
        f"</label> <output>{escape(str(at))}</output></p>"
    )


def _thinned(choices: Choices, first: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Drop every other value of the longest option as needed, but keep initial values."""
    thinned = {option: list(values) for option, values in choices.items()}
    while _number(thinned) > MOST:
        longest = max(thinned, key=lambda option: len(thinned[option]))
        values = thinned[longest]
        thinned[longest] = values[values.index(first[longest]) % 2 :: 2]
    return thinned


def _number(choices: Choices) -> int:
    number = 1
    for values in choices.values():
        number *= len(values)
    return number
