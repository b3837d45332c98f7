"""What every picture of the course keeps to: described in words, one scale for weights, nothing left open."""

from __future__ import annotations

import base64
import io
import re
import subprocess
import sys
from html.parser import HTMLParser
from itertools import pairwise

import matplotlib
import matplotlib.pyplot as plt
import pytest
import torch

from course import figures
from course.figures import attention, base, distributions, style, themes, vectors
from course.report import STATIC_PAGE_ENV
from grading.notebooks.sanitize_html import from_html

matplotlib.use("Agg")

WORDS = ["one", "two", "three"]


class Page(HTMLParser):
    """Elements in order, and an error for tags that do not nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag != "img":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data

    def attributes(self, tag: str) -> dict[str, str | None]:
        return next(attributes for name, attributes in self.elements if name == tag)


@pytest.fixture(autouse=True)
def _no_figure_is_left_open():
    plt.close("all")
    yield
    assert plt.get_fignums() == []


def test_a_script_says_in_words_what_a_figure_shows(capsys):
    figures.show(a_map(), alt="A map of two rows.")
    assert capsys.readouterr().out == "A map of two rows.\n"


def picture(html: str) -> bytes:
    source = Page(html).attributes("img")["src"]
    assert source is not None
    return base64.b64decode(source.removeprefix("data:image/png;base64,"), validate=True)


def a_map(**options):
    return figures.heat_map(torch.tensor([[0.25, 0.75], [1.0, 0.0]]), **options)


def the_scale(ax):
    image = ax.get_images()[0]
    return image.norm.vmin, image.norm.vmax, image.cmap.name


def close(ax):
    plt.close(ax.figure)


def test_a_shown_figure_is_valid_html_that_stands_on_its_own(displayed):
    figures.show(a_map(), alt='a "map" of <weights> & more', caption="x < y")
    (bundle,) = displayed
    assert bundle["text/plain"] == 'a "map" of <weights> & more'
    page = Page(bundle["text/html"])
    assert page.attributes("svg")["aria-label"] == page.attributes("img")["alt"] == 'a "map" of <weights> & more'
    assert page.text == f"{re.sub('</?style>', '', themes.STYLE)}x < y"
    assert "http" not in bundle["text/html"]
    assert picture(bundle["text/html"]).startswith(b"\x89PNG")


@pytest.mark.parametrize("alt", ["", "  ", None])
def test_a_figure_without_a_description_is_refused_and_closed(displayed, alt):
    with pytest.raises(ValueError, match="alt"):
        figures.show(a_map(), alt=alt)
    assert displayed == []


def test_a_described_figure_needs_no_other_words_and_takes_them(displayed):
    figures.show(figures.with_alt_text(a_map(), "two by two"))
    figures.show(figures.with_alt_text(a_map(), "two by two"), alt="four cells")
    assert [bundle["text/plain"] for bundle in displayed] == ["two by two", "four cells"]
    assert [Page(bundle["text/html"]).attributes("img")["alt"] for bundle in displayed] == ["two by two", "four cells"]


def test_the_caption_of_a_figure_comes_before_the_one_that_is_given(displayed):
    figures.show(figures.with_alt_text(a_map(), "two by two", "Own."), caption="Given.")
    figures.show(base.with_caption(figures.with_alt_text(a_map(), "two by two"), "Own."))
    assert [Page(bundle["text/html"]).text.rpartition("}")[2] for bundle in displayed] == ["Own. Given.", "Own."]
    drawn = figures.with_alt_text(a_map(), "two by two", "Own.")
    assert "Own." not in figures.html(drawn), "a slider has its values there"


def test_the_same_arguments_give_the_same_bytes():
    first, second = (figures.html(a_map(title="t", rows=WORDS[:2]), alt="a map") for _ in range(2))
    assert first == second


def the_ids(html: str) -> set[str]:
    return set(re.findall(r' id="([^"]*)"', html))


def test_ids_of_different_figures_differ_and_each_reference_has_its_element():
    first, second = (figures.html(a_map(title=title, blocked=torch.eye(2) > 0), alt="a map") for title in "ab")
    for html in (first, second):
        assert set(re.findall(r'(?:url\(|href=")#([\w-]+)', html)) == the_ids(html) != set()
    assert not the_ids(first) & the_ids(second)


def test_colours_of_the_style_follow_the_theme_and_those_of_cells_do_not():
    html = figures.html(a_map(title="t", rows=WORDS[:2], blocked=torch.eye(2) > 0), alt="a map", fallback=False)
    drawing = html[html.index("<svg") :]
    assert not [colour for colour in (style.INK, style.PALE, style.FAINT, style.GROUND) if colour in drawing]
    assert f"fill:{style.WHITE}" in drawing
    assert "image-rendering:pixelated" in drawing


@pytest.mark.parametrize("static", [False, True])
def test_letters_are_outlines_where_a_fallback_is_beside_them_and_text_elsewhere(monkeypatch, static):
    monkeypatch.setenv(STATIC_PAGE_ENV, "1" if static else "")
    html = figures.html(a_map(title="of < both"), alt="a map")
    assert ("of &lt; both" in html, "<img" in html) == (static, not static)


def test_only_the_fallback_passes_through_the_sanitizer():
    kept = from_html(figures.html(a_map(title="t", blocked=torch.eye(2) > 0), alt="a map", caption="a caption"))
    page = Page(kept)
    assert [tag for tag, _ in page.elements] == ["figure", "img", "figcaption"]
    assert page.attributes("img")["alt"] == "a map"
    assert page.text == "a caption"
    assert picture(kept).startswith(b"\x89PNG")


def test_a_wide_figure_stays_legible_on_a_narrow_screen():
    wide = figures.html(figures.row(3)[0], alt="three panels")
    narrow = figures.html(figures.row(1)[0], alt="one panel")
    assert f"min-width:{base.LEAST_WIDTH}px" in wide
    assert "overflow-x:auto" in wide
    assert "min-width" not in narrow


def test_weights_have_one_scale_whatever_their_values():
    for values in (torch.rand(2, 3), 0.01 * torch.rand(2, 3), 40 * torch.rand(2, 3)):
        ax = figures.heat_map(values)
        assert the_scale(ax) == (0.0, 1.0, "weights")
        close(ax)


def test_scores_have_a_scale_that_is_symmetric_about_zero():
    ax = figures.heat_map(torch.tensor([[-3.0, 1.0], [2.0, float("-inf")]]), kind="scores")
    low, high, name = the_scale(ax)
    assert (low, high) == (-3.0, 3.0)
    assert name == "scores"
    close(ax)
    ax = figures.heat_map(torch.zeros(2, 2), kind="scores", limit=5.0)
    assert the_scale(ax)[:2] == (-5.0, 5.0)
    close(ax)


def test_numbers_are_written_into_small_maps_and_a_colour_bar_stands_beside_large_ones():
    small, large = figures.heat_map(torch.rand(8, 8)), figures.heat_map(torch.rand(9, 9))
    assert len(small.texts) == 64
    assert len(small.figure.axes) == 1
    assert len(large.texts) == 0
    assert len(large.figure.axes) == 2
    for ax in (small, large):
        close(ax)


def test_blocked_cells_are_hatched_and_hold_no_number():
    blocked = torch.tensor([[False, True], [True, True]])
    ax = a_map(blocked=blocked)
    assert [patch.get_hatch() for patch in ax.patches] == ["///"] * 3
    assert [text.get_text() for text in ax.texts] == ["0.25"]
    close(ax)


def test_infinite_and_undefined_scores_can_be_drawn():
    values = torch.tensor([[float("-inf"), float("inf")], [float("nan"), -0.001]])
    ax = figures.heat_map(values, kind="scores")
    assert [text.get_text() for text in ax.texts] == ["−∞", "∞", "nan", "0.00"]
    figures.html(ax, alt="a map with infinities")


def test_numbers_stand_out_from_every_colour_of_all_scales():
    def luminance(colour):
        linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in colour[:3]]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for kind in ("weights", "scores", "amounts"):
        for step in range(256):
            colour = style.cell_colours(kind)(step)
            assert matplotlib.colors.to_hex(colour) not in themes.DARK  # it stays as it is on a dark page
            ground = luminance(colour)
            ink = luminance(matplotlib.colors.to_rgb(style.ink_on(colour)))
            assert (max(ground, ink) + 0.05) / (min(ground, ink) + 0.05) >= 4.5


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: figures.heat_map(torch.zeros(3)), "heat map"),
        (lambda: figures.heat_map(torch.zeros(2, 2), kind="colours"), "kind"),
        (lambda: figures.bars(torch.zeros(2, 2)), "bars"),
    ],
)
def test_a_wrong_argument_is_named(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()
    plt.close("all")


def test_bars_carry_their_numbers():
    ax = figures.bars(torch.tensor([0.5, -1.25, 2.0]), WORDS)
    assert [text.get_text() for text in ax.texts] == ["0.50", "−1.25", "2.00"]
    assert [label.get_text() for label in ax.get_xticklabels()] == WORDS
    close(ax)


def test_curves_differ_by_more_than_colour_and_carry_their_names():
    ax = figures.curves(range(9), {name: [k * n for k in range(9)] for n, name in enumerate("abcdefg")})
    style = {(line.get_linestyle(), line.get_marker()) for line in ax.get_lines()}
    assert len(style) == 7
    assert sorted(text.get_text() for text in ax.texts) == list("abcdefg")
    figures.html(ax, alt="seven lines")


def test_names_of_curves_that_end_together_are_pushed_apart():
    ax = figures.curves(range(3), {name: [k, 1, 0] for k, name in enumerate("abcd")})
    heights = sorted(text.xyann[1] for text in ax.texts)
    assert all(upper - lower >= 12 for lower, upper in pairwise(heights))
    figures.html(ax, alt="four lines")


def test_the_name_of_a_level_stands_where_no_curve_runs():
    for heights, place in (([2.0, 1.0, 0.5, 0.5], "bottom"), ([2.0, 1.0, 1.1, 1.1], "top")):
        ax = figures.losses({"a": heights}, {"level": 1.0})
        (name,) = [text for text in ax.texts if text.get_text() == "level: 1.00"]
        assert name.get_va() == place
        close(ax)


def test_a_grid_has_as_many_panels_as_asked_for():
    figure, axes = base.grid(5, 3, width=2, height=1, above=0.5)
    assert len(axes) == len(figure.axes) == 5
    assert figure.get_size_inches().tolist() == [6, 2.5]
    plt.close(figure)


def test_tensors_with_gradients_are_drawn_and_left_alone():
    values = torch.rand(2, 2, requires_grad=True)
    ax = figures.heat_map(values)
    assert values.grad is None
    assert values.requires_grad
    close(ax)


def test_a_row_shares_its_width_out_as_told():
    figure, axes = figures.row(2, ratios=[1, 3])
    widths = [ax.get_position().width for ax in axes]
    assert widths[1] == pytest.approx(3 * widths[0])
    plt.close(figure)


def test_topics_are_imported_when_they_are_first_asked_for():
    code = (
        "import sys, course, course.figures as f; assert 'matplotlib' not in sys.modules;"
        "assert 'course.figures.vectors' not in sys.modules; f.vectors.arrows; assert 'vectors' in dir(f)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="no attribute 'poems'"):
        figures.poems  # noqa: B018


# ------------------------------------------------------------------------------------------------ lesson 01's


def the_shadow(ax):
    """The end of the thick bar that `arrows` draws."""
    line = max(ax.get_lines(), key=lambda line: line.get_linewidth())
    return [float(data[1]) for data in line.get_data()]


@pytest.mark.parametrize(
    ("a", "b", "foot"),
    [((2, 0), (1, 2), (1, 0)), ((2, 1), (-1, 2), (0, 0)), ((2, 1), (-2, -1.5), (-2.2, -1.1))],
)
def test_the_shadow_of_an_arrow_ends_where_the_dot_product_says(a, b, foot):
    figure, (ax,) = figures.row(1)
    vectors.arrows(torch.tensor(a), torch.tensor(b), ax=ax, title="a · b = -1")
    assert the_shadow(ax) == pytest.approx(foot)
    assert ax.get_title() == "a · b = −1"
    plt.close(figure)


def test_products_are_written_below_their_factors():
    figure = vectors.multiply_and_add(torch.tensor([1.0, 2.0]), torch.tensor([4.0, -5.0]), total=-6.0)
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert texts == ["1", "2", "4", "−5", "4", "−10", "add: −6"]
    plt.close(figure)


def test_one_cell_frames_a_query_a_key_and_their_score():
    queries, keys = torch.rand(2, 4), torch.rand(3, 4)
    figure = vectors.one_cell(
        queries,
        keys,
        queries @ keys.T,
        WORDS[:2],
        WORDS,
        list("abcd"),
        query=1,
        key=2,
    )
    frames = [ax.patches[-1] for ax in figure.axes]
    assert [(f.get_x(), f.get_y(), f.get_width()) for f in frames] == [
        (-0.5, 0.5, 4),
        (-0.5, 1.5, 4),
        (1.5, 0.5, 1),
    ]
    figure.savefig(io.BytesIO())  # the layout is settled when it is drawn
    boxes = [ax.get_window_extent() for ax in figure.axes]
    cells = [box.width / columns for box, columns in zip(boxes, (4, 4, 3), strict=True)]
    assert max(cells) == pytest.approx(min(cells), rel=0.02)
    assert "the row two of 2 queries, the row three of 3 keys" in figure.get_label()
    assert f"holds {queries[1] @ keys[2]:.2f}" in figure.get_label()
    plt.close(figure)


def test_who_answers_tells_in_words_how_many_directions_each_key_wins():
    keys = torch.tensor([[1.0, 0.0], [0.1, 0.0], [-1.0, 0.0]])
    winners = {"cosine": torch.tensor([0, 1, 2, 2]), "dot product": torch.tensor([0, 0, 2, 2])}
    figure = vectors.who_answers(keys, "ABC", winners)
    assert [ax.get_title() for ax in figure.axes] == list(winners)
    assert "cosine: A 1, B 1, C 2; dot product: A 2, B none, C 2" in figure.get_label()
    plt.close(figure)


def test_a_budget_marks_the_equal_share_beside_the_bars_and_never_through_a_number():
    figure = distributions.budget(torch.tensor([0.2, 0.3, 0.26, 0.24]), list("abcd"), "temperature 5")
    (ax,) = figure.axes
    figure.draw_without_rendering()
    numbers = [text.get_window_extent() for text in ax.texts]
    dashes = [ax.transData.transform(segment) for segment in ax.collections[0].get_segments()]
    for (left, height), (right, _) in dashes:
        assert not [box for box in numbers if box.x0 < right and left < box.x1 and box.y0 < height < box.y1]
    assert "“b”; dashes mark the equal share, 0.25" in figure.get_label()
    plt.close(figure)


def test_cooling_draws_names_that_differ_in_capitals_once_and_tells_both_ends():
    figure = distributions.cooling(
        lambda scores, tau: torch.softmax(scores / tau, dim=-1),
        lambda weights: torch.special.entr(weights).sum(-1),
        torch.tensor([0.0, 0.0, 3.0]),
        ["The", "the", "river"],
    )
    assert [line.get_label() for line in figure.axes[0].lines] == ["The", "river"]
    assert "The 0.00 to 0.33, river 1.00 to 0.34" in figure.get_label()
    assert "entropy, 0.00 to 1.10, where ln 3 is 1.10" in figure.get_label()
    plt.close(figure)


def test_every_step_of_a_query_is_told_in_words():
    query, key, value = torch.tensor([1.0, 0.0]), torch.eye(2), torch.tensor([[4.0], [8.0]])
    weights = torch.softmax(key @ query, dim=-1)
    told = []
    for number in (1, 2, 3, 4):
        figure = attention.step(
            number, query, key, value, weights, weights @ value, ["yes", "no"], "yes", (["up", "down"], ["worth"])
        )
        told.append(figure.get_label())
        plt.close(figure)
    for words, part in zip(
        told, ("1.00 up, 0.00 down", "highest belongs to yes", "the most, 0.73", "5.08 worth"), strict=True
    ):
        assert part in words


def test_numbers_of_maps_side_by_side_have_one_size_whether_one_is_negative_or_not():
    figure, axes = figures.row(2)
    for ax, sign in zip(axes, (1, -1), strict=True):
        figures.heat_map(sign * torch.full((6, 5), 1.25), ax=ax, kind="scores")
    sizes = {text.get_fontsize() for ax in axes for text in ax.texts}
    assert len(sizes) == 1
    plt.close(figure)


def test_territories_go_round_without_a_gap():
    keys = torch.tensor([[1.0, 0.0], [-1.0, 0.0]])
    winners = torch.tensor([0] * 90 + [1] * 180 + [0] * 90)
    figure, (ax,) = figures.row(1)
    vectors.territories(keys, "AB", winners, ax=ax)
    wedges = sorted((w.theta1, w.theta2, w.get_hatch() or "") for w in ax.patches if hasattr(w, "theta1"))
    assert [hatch for *_, hatch in wedges] == ["///", ""]
    assert sum(end - begin for begin, end, _ in wedges) == pytest.approx(360)
    plt.close(figure)


def test_one_winner_owns_the_whole_circle():
    figure, (ax,) = figures.row(1)
    vectors.territories(torch.tensor([[1.0, 0.0]]), "A", torch.zeros(360, dtype=torch.int64), ax=ax)
    (wedge,) = [w for w in ax.patches if hasattr(w, "theta1")]
    assert wedge.theta2 - wedge.theta1 == pytest.approx(360)
    plt.close(figure)


def test_moves_mark_every_end_and_name_every_point():
    points = {"one": torch.tensor([0.0, 0.0]), "two": torch.tensor([1.0, -1.0])}
    ends = {"here": torch.tensor([1.0, 0.0]), "there": torch.tensor([0.0, -1.0])}
    ax = attention.moves(points, points["one"], ends, axes=("east", "north"))
    assert {"one", "two"} <= {text.get_text() for text in ax.texts}
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["here", "there"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("east", "north")
    plt.close(ax.figure)
