"""Sliders for a drawing function, and a strip of figures that needs no kernel.

A page that is exported, printed or has no kernel shows the strip; for a page of the site, every figure is drawn
beforehand (`static_sliders`). Only core widgets common to ipywidgets 7.7 and 8 are used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from html import escape
from typing import Any

from .. import figures
from ..figures.base import described
from ..notebook.stand_ins import as_in_this_cell
from ..report import display_html, in_notebook, rendering_static_page
from .static_sliders import static_sliders

# In a strip, a figure shrinks as far as it may before the strip wraps
IN_STRIP = "flex:1 1 {least}px;max-width:{width}px"
# ipywidgets gives sliders no accessible name, and reads the index of a value instead of the value
NAMES = """
(() => {
  const here = document.currentScript.closest(".jp-OutputArea") || document.body;
  const say = (handle, what, words) => handle.getAttribute(what) === words || handle.setAttribute(what, words);
  const name = () => {
    for (const handle of here.querySelectorAll(".noUi-handle, .ui-slider-handle")) {
      const slider = handle.closest(".widget-inline-hbox");
      say(handle, "role", "slider");
      say(handle, "aria-label", slider.querySelector("label").textContent);
      say(handle, "aria-valuetext", slider.querySelector(".widget-readout").textContent);
    }
  };
  const seen = {subtree: true, childList: true, characterData: true, attributeFilter: ["aria-valuetext"]};
  new MutationObserver(name).observe(here, seen);
  name();
})();
"""
Range = tuple[float, float, float] | list[Any]
Draw = Callable[..., Any]  # returns a figure, or its axes, with its description


def slider(
    draw: Draw,
    *given: Any,
    start: Any = None,
    strip: Sequence[Any] | Mapping[str, Sequence[Any]] | None = None,
    **options: Range,
) -> None:
    """Show a strip of figures of `draw`, and sliders to choose its arguments but the `given` ones.

    Each option is named after an argument of `draw` and is (first, last, step) or a list of values; without any, draw's
    own are taken (`with_choices`). `draw(*given, **values)` returns a figure with alt text; its errors are shown here.
    `start` is a dict of the sliders' first values, by default each option's first. `strip` is a list of such dicts,
    completed from `start`, or {option: list of its values}; by default, the first option's first, middle, last value.
    With a single option, plain values may replace dicts.
    """
    if not options:
        own = getattr(draw, "choices", None)
        if not own:
            raise ValueError("options is empty: name at least one argument of draw and its values")
        slider(partial(draw, *given), **own)
        return
    draw = partial(draw, *given)
    choices = {name: _choices(name, wanted) for name, wanted in options.items()}
    first = {name: values[0] for name, values in choices.items()}
    first = first if start is None else _filled(first, start)
    for name, value in first.items():
        if value not in choices[name]:
            raise ValueError(f"start has {name}={value!r}, which is not one of its choices")
    if isinstance(strip, Mapping):
        strip = [{name: value} for name, values in strip.items() for value in values]
    shown = [_filled(first, entry) for entry in (strip or _three(choices))]
    pictures = [figures.html(draw(**values), caption=_caption(values), style=IN_STRIP) for values in shown]
    page = f'<div style="display:flex;flex-wrap:wrap;gap:0.5em">{"".join(pictures)}</div>'
    if rendering_static_page():
        page = f"<noscript>{page}</noscript>{static_sliders(choices, first, lambda values: _picture(draw, values))}"
    moving = in_notebook() and not rendering_static_page()
    display_html(f"{page}<script>{NAMES}</script>" if moving else page, "\n".join(map(_caption, shown)))
    if moving:
        from IPython.display import display

        display(_sliders(draw, choices, first))


def _choices(name: str, wanted: Range) -> list[Any]:
    if isinstance(wanted, list):
        if not wanted:
            raise ValueError(f"{name}: expected at least one value, got an empty list")
        return wanted
    begin, end, step = wanted
    if step <= 0 or end < begin:
        raise ValueError(f"{name}: expected (first, last, step) with a step above 0, got {wanted}")
    whole = all(isinstance(number, int) for number in wanted)
    count = int((end - begin) / step + 1e-9) + 1
    return [begin + i * step if whole else round(begin + i * step, 10) for i in range(count)]


def _three(choices: Mapping[str, list[Any]]) -> list[dict[str, Any]]:
    name, values = next(iter(choices.items()))
    places = sorted({0, len(values) // 2, len(values) - 1})
    return [{name: values[place]} for place in places]


def _filled(first: Mapping[str, Any], entry: Any) -> dict[str, Any]:
    if not isinstance(entry, Mapping):
        if len(first) > 1:
            raise ValueError(f"expected a dict, since there are {len(first)} options; got {entry!r}")
        entry = {next(iter(first)): entry}
    unknown = set(entry) - set(first)
    if unknown:
        raise ValueError(f"unknown options {sorted(unknown)}; the options are {sorted(first)}")
    return {**first, **entry}


def _caption(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} = {value}" for name, value in values.items())


def _picture(draw: Draw, values: Mapping[str, Any]) -> str:
    drawn = draw(**values)
    return figures.html(drawn, caption=described(drawn)[1], fallback=False)


def _sliders(draw: Draw, choices: Mapping[str, list[Any]], first: Mapping[str, Any]) -> Any:
    """A box with one slider per option and the figure below them."""
    import ipywidgets as widgets

    longest = max(map(len, choices))
    handles = {
        name: widgets.SelectionSlider(
            options=[(str(value), value) for value in values],
            value=first[name],
            description=name.replace("_", " "),
            style={"description_width": f"{0.75 * longest + 1}em"},  # all tracks begin at one place
            layout=widgets.Layout(width="26em"),
        )
        for name, values in choices.items()
    }
    screen, later = widgets.HTML(_picture(draw, first)), as_in_this_cell(_picture)
    drawn: dict[tuple[int, ...], str] = {}

    def redraw(_change: Any) -> None:
        place = tuple(handle.index for handle in handles.values())
        if place not in drawn:
            try:
                drawn[place] = later(draw, {name: h.value for name, h in handles.items()})
            except Exception as error:
                screen.value = f"<pre>{escape(type(error).__name__)}: {escape(str(error))}</pre>"
                return
        screen.value = drawn[place]

    for handle in handles.values():
        handle.observe(redraw, names="value")
    return widgets.VBox([*handles.values(), screen])
