"""Sliders of a page without a kernel: which pictures are drawn, and what says where a slider stands."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest

from course import figures
from course.report import STATIC_PAGE_ENV
from course.widgets import sliders, static_sliders


def picture(values):
    return f"<b>{values}</b></script>"


def parts(page):
    frames = json.loads(re.search(r'<script type="application/json">(.*?)</script>', page)[1])
    return frames, [json.loads(unescape(words)) for words in re.findall(r'data-values="(.*?)"', page)]


def test_there_is_a_picture_for_every_place_of_the_sliders_in_the_order_that_the_script_counts():
    frames, values = parts(
        static_sliders.static_sliders({"a": [1, 2, 3], "b": ["x", "y"]}, {"a": 2, "b": "y"}, picture)
    )
    assert values == [["1", "2", "3"], ["x", "y"]]
    assert frames == [picture({"a": a, "b": b}) for a in (1, 2, 3) for b in ("x", "y")]


def test_a_slider_has_a_name_and_says_its_value_and_not_its_place():
    page = static_sliders.static_sliders({"key_at": [0.5, 1.0, 2.0]}, {"key_at": 1.0}, picture)
    assert 'value="1"' in page and 'aria-valuetext="1.0"' in page
    assert re.search(r"<label>key at <input[^>]*></label> <output>1.0</output>", page)


def test_too_many_pictures_are_thinned_out_and_where_the_sliders_stand_stays():
    choices = {"m": list(range(13)), "n": list(range(13))}
    frames, (m, n) = parts(static_sliders.static_sliders(choices, {"m": 1, "n": 6}, picture))
    assert len(frames) == len(m) * len(n) <= static_sliders.MOST
    assert "1" in m and "6" in n


@pytest.mark.parametrize("on", [True, False])
def test_on_a_page_every_picture_is_drawn_and_the_strip_is_for_those_without_script(monkeypatch, on):
    shown = []
    monkeypatch.setattr("course.report.shell", object)
    monkeypatch.setattr("IPython.display.display", lambda data, raw=False: shown.append(data))
    monkeypatch.setenv(STATIC_PAGE_ENV, "1" if on else "")

    def draw(k):
        return figures.with_alt_text(figures.bars([float(k)]), f"one bar of {k}")

    sliders.slider(draw, k=(1, 4, 1), strip=[1, 4])
    (bundle,) = shown
    page = bundle["text/html"]
    assert [f"one bar of {k}" in page for k in (1, 2, 3, 4)] == [True, on, on, True]
    assert page.startswith("<noscript>") is on
