"""A sentence that the learner types, and the scores, mask, weights and output of the learner's own functions.

Below the cell, or in its place where no widget runs, is a picture of the first sentence, which needs no kernel. Only
core widgets common to ipywidgets 7.7 and 8 are used.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from html import escape
from typing import Any

from ..notebook.session import current
from ..report import display_html, in_notebook, rendering_static_page, shell
from ..sample_models import sentence
from .attention_maps import CLASS, STYLE, page, says
from .attention_trace import Tracer, model, read

SENTENCE = " ".join(sentence.words)
# Speaks what is said below the controls when the learner has stopped typing; core widgets cannot
SPEAKS = """
(() => {
  const status = document.querySelector(".ID-status");
  let last = document.querySelector(".ID-still .says").textContent, seen = null;
  setInterval(() => {
    const live = document.querySelector(".ID-live");
    if (!live || !status.isConnected) return;
    live.setAttribute("role", "group");
    live.setAttribute("aria-label", "Your attention, alive");
    const now = live.querySelector(".says")?.textContent ?? "";
    if (now && now === seen && now !== last) status.textContent = last = now;
    seen = now;
  }, 400);
})();
"""


def show(
    *,
    softmax: Callable[..., Any] | None = None,
    attention: Callable[..., Any] | None = None,
    mask: Callable[..., Any] | None = None,
    scale: Callable[..., Any] | float | None = None,
    text: str = SENTENCE,
    layer: int = 0,
    head: int = 0,
    masked: bool = True,
) -> None:
    """Show a sentence to type, and its maps by the learner's functions.

    softmax    softmax(x, dim=-1), or masked_softmax(scores, mask)
    attention  attention(query, key, value) with or without `mask=` and `scale=`; returns (output, weights)
    mask       causal_mask(T), bool (T, T), True = blocked
    scale      the factor of the dot products; or scaled_dot_product_attention, which is an `attention`

    A missing function is the built-in's. `text`, `layer`, `head` and `masked` (whether later words are blocked) are
    where the controls begin. After a function's cell has run again, the next key shows the new one.
    """
    own = current().stand_ins.own  # a stand-in would hide the mistakes of the learner's function
    softmax, attention, mask, scale = own(softmax), own(attention), own(mask), own(scale)
    for name, given in (("softmax", softmax), ("attention", attention), ("mask", mask)):
        if given is not None and not callable(given):
            raise TypeError(f"{name}: expected a function, got {type(given).__name__}; pass its name without (…)")
    if callable(scale):
        if attention is not None:
            raise TypeError("attention and scale are both attention functions: pass one of them")
        attention, scale = scale, None
    tracer = Tracer(softmax, attention, mask, None if scale is None else float(scale))
    trace = tracer.trace(read(text, layer, head), masked)
    name = f"{CLASS}-{uuid.uuid4().hex[:8]}"  # unlike that of any other output in the notebook
    still = f'{STYLE}<p class="{CLASS}">Sentence: {escape(text)}</p>{page(trace)}'
    if rendering_static_page() or not in_notebook():
        display_html(still, says(trace))
        return
    # A front end that shows the widget hides the picture
    hides = f"<style>body:has(.{name}-live) .{name}-still{{display:none}}</style>"
    status = f'<div class="{CLASS} unseen"><div class="{name}-status" role="status"></div></div>'
    script = f"<script>{SPEAKS.replace('ID', name)}</script>"
    display_html(f'{hides}<div class="{name}-still">{still}</div>{status}{script}', says(trace))
    from IPython.display import display

    with current().stand_ins.closed():
        display(_widget(tracer, name, text, layer, head, masked))


def _widget(tracer: Tracer, name: str, text: str, layer: int, head: int, masked: bool) -> Any:
    """The controls, and the page that follows them."""
    import ipywidgets as widgets

    style = {"description_width": "initial"}
    typed = widgets.Text(text, description="Sentence", style=style, layout=widgets.Layout(width="min(34em, 95%)"))
    # Not a Dropdown: JupyterLab keeps the arrow keys for itself, except in fields to type into
    choices = [
        widgets.BoundedIntText(
            chosen,
            min=0,
            max=count - 1,
            description=f"{label} (0 to {count - 1})",
            continuous_update=True,
            style=style,
            layout=widgets.Layout(width="10.5em"),
        )
        for label, chosen, count in (("Layer", layer, len(model().blocks)), ("Head", head, model().n_heads))
    ]
    block = widgets.Checkbox(
        masked and tracer.takes_mask,
        description="Block later words",
        indent=False,
        disabled=not tracer.takes_mask,
        layout=widgets.Layout(width="auto"),
    )
    screen = widgets.HTML(layout=widgets.Layout(max_width="100%"))
    controls = [typed, *choices, block]

    def redraw(_change: Any = None) -> None:
        tracer.follow(shell().user_ns)
        layer, head = (choice.value for choice in choices)
        screen.value = page(tracer.trace(read(typed.value, layer, head), block.value))

    redraw()
    for control in controls:
        control.observe(redraw, names="value")
    row = widgets.HBox(controls, layout=widgets.Layout(flex_flow="row wrap", grid_gap="0 16px"))
    box = widgets.VBox([widgets.HTML(STYLE), row, screen])
    for css_class in (f"{CLASS}-live", f"{name}-live"):
        box.add_class(css_class)
    return box
