"""Sliders: a strip of pictures that stands without them, then core widgets that redraw."""

from __future__ import annotations

from types import SimpleNamespace

import ipywidgets
import matplotlib
import matplotlib.pyplot as plt
import pytest
import torch

from course import figures
from course.figures import base
from course.figures.base import LEAST_WIDTH
from course.widgets import sliders

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def _no_figure_is_left_open():
    plt.close("all")
    yield
    assert plt.get_fignums() == []


@pytest.fixture
def kernel(monkeypatch, displayed):
    """As in a notebook that runs."""
    monkeypatch.setattr("IPython.get_ipython", lambda: SimpleNamespace(kernel=object()))


@pytest.fixture
def drawn():
    """A drawing function that notes what it was called with."""
    calls: list[dict] = []

    def draw(**values):
        calls.append(values)
        return figures.with_alt_text(figures.bars(map(float, values.values())), f"bars of {values}")

    draw.calls = calls
    return draw


def widgets_in(box):
    yield box
    for child in getattr(box, "children", ()):
        yield from widgets_in(child)


def test_a_drawing_function_brings_its_own_choices_and_gets_what_is_given(displayed):
    calls = []

    @base.with_choices(k=[1, 2, 3], t=(0, 4, 2), start={"k": 2}, strip={"t": [4, 0]})
    def draw(first, *, k, t):
        calls.append((first, k, t))
        return figures.with_alt_text(figures.bars([1.0]), "a bar")

    sliders.slider(draw, "given")
    assert calls == [("given", 2, 4), ("given", 2, 0)]
    calls.clear()
    sliders.slider(draw, "given", k=[1], t=[9])
    assert calls == [("given", 1, 9)]


def test_without_a_kernel_the_strip_stands_alone(displayed, drawn):
    sliders.slider(drawn, k=(0, 10, 5), t=[1.0, 2.0])
    (bundle,) = displayed
    assert drawn.calls == [{"k": 0, "t": 1.0}, {"k": 5, "t": 1.0}, {"k": 10, "t": 1.0}]
    assert bundle["text/html"].count("<img") == 3
    assert bundle["text/plain"].splitlines() == [
        "k = 0, t = 1.0",
        "k = 5, t = 1.0",
        "k = 10, t = 1.0",
    ]


def test_every_picture_of_the_strip_is_described(displayed, drawn):
    sliders.slider(drawn, k=(0, 2, 1))
    for k in range(3):
        assert f'alt="bars of {{&#x27;k&#x27;: {k}}}"' in displayed[0]["text/html"]


@pytest.mark.full
@pytest.mark.parametrize(("inches", "least"), [(4.0, 184), (9.0, LEAST_WIDTH)])
def test_a_strip_wraps_before_a_figure_is_cut(displayed, inches, least):
    sliders.slider(lambda k: figures.with_alt_text(figures.row(1, width=inches)[0], f"axes {k}"), k=[1, 2, 3])
    assert displayed[0]["text/html"].count(f"flex:1 1 {least}px") == 3


@pytest.mark.parametrize(
    ("strip", "expected"),
    [
        ([{"t": 2}, {"k": 3, "t": 1}], [{"k": 1, "t": 2}, {"k": 3, "t": 1}]),
        ({"t": [1, 2]}, [{"k": 1, "t": 1}, {"k": 1, "t": 2}]),
    ],
)
def test_a_strip_is_filled_up_from_the_start(displayed, drawn, strip, expected):
    sliders.slider(drawn, k=[1, 2, 3], t=[1, 2], start={"k": 1}, strip=strip)
    assert drawn.calls == expected


def test_with_one_option_plain_values_will_do(displayed, drawn):
    sliders.slider(drawn, k=[1, 2, 3], start=2, strip=[3, 1])
    assert drawn.calls == [{"k": 3}, {"k": 1}]


def test_in_a_notebook_the_sliders_follow_the_strip_and_redraw(displayed, drawn, kernel):
    sliders.slider(drawn, k=(0, 4, 2), start=2, strip=[0])
    strip, box = displayed
    assert "text/html" in strip
    handle, screen = box.children
    assert handle.value == 2
    assert "bars of {&#x27;k&#x27;: 2}" in screen.value
    handle.value = 4
    assert "bars of {&#x27;k&#x27;: 4}" in screen.value
    before = len(drawn.calls)
    handle.value = 2
    handle.value = 4
    assert len(drawn.calls) == before + 1, "what was drawn once is kept"


@pytest.mark.full
def test_only_core_widgets_are_used(displayed, drawn, kernel):
    sliders.slider(drawn, k=(0, 4, 2), t=[1, 2])
    kinds = {type(widget) for widget in widgets_in(displayed[1])}
    assert kinds <= {ipywidgets.VBox, ipywidgets.HTML, ipywidgets.SelectionSlider}
    for kind in kinds:
        assert kind.__module__.startswith("ipywidgets.")


def test_an_error_in_the_drawing_is_raised_at_once_and_shown_later(displayed, kernel):
    def draw(k):
        if k > 1:
            raise RuntimeError("no <picture> here")
        return figures.with_alt_text(figures.bars(torch.ones(2)), "two bars")

    with pytest.raises(RuntimeError, match="no <picture>"):
        sliders.slider(draw, k=[1, 2])
    displayed.clear()
    sliders.slider(draw, k=[1, 2], strip=[1])
    handle, screen = displayed[1].children
    handle.value = 2
    assert screen.value == "<pre>RuntimeError: no &lt;picture&gt; here</pre>"


@pytest.mark.full
def test_a_range_holds_its_ends_and_no_rounding(displayed, drawn):
    sliders.slider(drawn, t=(0.1, 0.7, 0.2), strip=[0.1, 0.3, 0.5, 0.7])
    assert [call["t"] for call in drawn.calls] == [0.1, 0.3, 0.5, 0.7]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "options"),
        ({"k": []}, "k"),
        ({"k": (0, 5, 0)}, "k"),
        ({"k": (5, 0, 1)}, "k"),
        ({"k": [1, 2], "start": 3}, "k=3"),
        ({"k": [1, 2], "start": {"t": 1}}, "'t'"),
        ({"k": [1, 2], "t": [1], "strip": [1]}, "dict"),
    ],
)
def test_a_wrong_option_is_named(displayed, drawn, options, message):
    with pytest.raises(ValueError, match=message):
        sliders.slider(drawn, **options)
    assert displayed == []
