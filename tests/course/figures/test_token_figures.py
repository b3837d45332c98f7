"""Figures of lesson 14 say in words what they show."""

import matplotlib
import matplotlib.pyplot as plt
import pytest
import torch

from course.figures import html, tokens

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def _no_figure_is_left_open():
    yield
    plt.close("all")


def test_pieces_are_as_wide_as_their_bytes_and_count_beside_their_row():
    figure = tokens.cuts({"pieces": [b"the ", b"cat"], "bytes": [bytes([b]) for b in b"the cat"]})
    (ax,) = figure.axes
    widths = [round(patch.get_width() + 0.12, 6) for patch in ax.patches]
    assert widths == [4, 3, *[1] * 7]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["pieces: 2", "bytes: 7"]
    assert "the␣ | cat" in figure.get_label()


def test_a_piece_that_is_no_text_is_shown_in_hexadecimal():
    assert "c3 | b6" in tokens.cuts({"bytes": [b"\xc3", b"\xb6"]}).get_label()


def test_a_token_that_cannot_be_drawn_is_hatched():
    figure = tokens.choices({"all": torch.tensor([0.5, 0.3, 0.2]), "two": torch.tensor([0.6, 0.4, 0.0])}, "abc")
    hatched = [[bool(patch.get_hatch()) for patch in ax.patches] for ax in figure.axes]
    assert [sum(bars) for bars in hatched] == [0, 1]
    assert "two: a 0.60, b 0.40; 1 at 0" in figure.get_label()


def test_rejected_tokens_are_hatched_and_the_target_adds_one():
    figure = tokens.drafts([(["a", "b", "c"], 1, "d"), (["e", "f", "g"], 3, "h")])
    (ax,) = figure.axes
    assert [bool(patch.get_hatch()) for patch in ax.patches] == [False, True, True, False, *[False] * 4]
    assert "call 0: 1 of 3 accepted (a, b, c), then d" in figure.get_label()


@pytest.mark.parametrize(
    "draw",
    [
        lambda: tokens.cuts({"bytes": [b"a", b" "]}),
        lambda: tokens.choices({"all": torch.tensor([0.5, 0.5])}, ["a", "b"]),
        lambda: tokens.drafts([(["a"], 0, "b")]),
    ],
)
def test_figures_can_be_shown_in_both_themes(draw):
    assert "<svg" in html(draw(), fallback=False)
