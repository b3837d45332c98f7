"""Colours of the parts of attention, and of cells: told apart by everybody, on a light and on a dark page."""

from __future__ import annotations

from itertools import combinations

import matplotlib
import matplotlib.pyplot as plt
import pytest
import torch

from course import figures
from course.figures import panels, style, themes
from course.figures.themes import DARK

matplotlib.use("Agg")

PARTS = [part for part in style.PARTS if part != "x"]
SHADES = {"light": style.PARTS, "dark": {part: DARK[colour] for part, colour in style.PARTS.items()}}
GROUNDS = {"light": "#ffffff", "dark": "#1e1e1e"}
# Machado, Oliveira and Fernandes 2009, full severity; in linear RGB
SEEN_BY = {
    "everybody else": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    "protanopes": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopes": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopes": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}


def linear(colour) -> torch.Tensor:
    values = torch.tensor(matplotlib.colors.to_rgb(colour), dtype=torch.float64)
    return torch.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def lab(colour, seen_by="everybody else") -> torch.Tensor:
    seen = (torch.tensor(SEEN_BY[seen_by], dtype=torch.float64) @ linear(colour)).clamp(0, 1)
    to_xyz = torch.tensor([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]).double()
    xyz = to_xyz @ seen / torch.tensor([0.9505, 1.0, 1.089]).double()
    x, y, z = torch.where(xyz > 0.008856, xyz ** (1 / 3), 7.787 * xyz + 16 / 116).tolist()
    return torch.tensor([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def luminance(colour) -> float:
    return float(linear(colour) @ torch.tensor([0.2126, 0.7152, 0.0722]).double())


@pytest.mark.parametrize("theme", GROUNDS)
@pytest.mark.parametrize("part", style.PARTS)
def test_each_part_has_a_contrast_of_3_with_the_page(part, theme):
    low, high = sorted((luminance(SHADES[theme][part]), luminance(GROUNDS[theme])))
    assert (high + 0.05) / (low + 0.05) >= 3


@pytest.mark.parametrize("theme", GROUNDS)
@pytest.mark.parametrize("who", SEEN_BY)
def test_parts_can_be_told_apart_by_everybody(who, theme):
    for first, second in combinations(PARTS, 2):
        apart = (lab(SHADES[theme][first], who) - lab(SHADES[theme][second], who)).norm()
        assert apart >= 16, (first, second)


def test_each_part_has_its_own_letter_and_a_colour_that_follows_the_theme():
    assert len({style.LETTERS[part] for part in style.PARTS}) == len(style.PARTS)
    assert all(f"{DARK[colour]})" in themes.STYLE for colour in style.PARTS.values())
    assert figures.colour("q") == style.PARTS["q"]
    with pytest.raises(ValueError, match="part is 'queries'"):
        figures.colour("queries")


@pytest.mark.parametrize(("kind", "first"), [("weights", 0.0), ("amounts", 0.0), ("scores", 0.5)])
def test_dark_is_high(kind, first):
    colours = style.cell_colours(kind)
    steps = [luminance(colours(first + (1 - first) * i / 40)) for i in range(41)]
    assert steps == sorted(steps, reverse=True)


def test_the_darkest_score_is_the_highest_not_the_lowest():
    colours = style.cell_colours("scores")
    assert luminance(colours(0.0)) > luminance(colours(0.75)) > luminance(colours(1.0))


def test_a_map_of_a_part_has_its_frame_and_its_scale():
    for part, kind in (("q", "scores"), ("weights", "weights"), ("scores", "scores")):
        ax = figures.heat_map(torch.tensor([[0.5, 0.25]]), part=part)
        (frame,) = ax.patches
        assert matplotlib.colors.to_hex(frame.get_edgecolor()) == style.PARTS[part]
        assert ax.get_images()[0].cmap.name == kind
        plt.close(ax.figure)


def test_later_positions_count_as_blocked_only_where_no_map_has_weight_on_them():
    causal = torch.tensor([[1.0, 0.0], [0.5, 0.5]])
    blocked = panels.never_seen(torch.stack([causal, causal]))
    assert blocked is not None
    assert blocked.tolist() == [[False, True], [False, False]]
    assert panels.never_seen(torch.stack([causal, causal.flip(0)])) is None
