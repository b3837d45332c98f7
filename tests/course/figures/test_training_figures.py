"""Lesson 08's pictures: each shows what it was given, and says so in its description."""

from __future__ import annotations

import matplotlib
import matplotlib.pyplot as plt
import pytest
import torch

from course import figures
from course.figures import training, training_runs
from course.models import small_lm, training_bugs
from course.models.right_functions.lesson_08 import generate

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def _no_figure_is_left_open():
    yield
    plt.close("all")


def drawn(figure):
    """A figure, or that of some axes, and the words that describe it."""
    return figure.figure, figure.figure.get_label()


def texts(figure):
    return [text.get_text() for ax in figure.axes for text in ax.texts]


def curve(ax, label):
    (line,) = [line for line in ax.get_lines() if line.get_label() == label]
    return [list(map(float, data)) for data in line.get_data()]


def test_each_letter_is_above_its_target():
    figure, alt = drawn(training.batch(["the ", "ship"], ["he b", "hips"]))
    places = {text.get_position(): text.get_text() for text in figure.axes[0].texts}
    assert "".join(places[t, 0.0] for t in range(4)) == "the␣"
    assert "".join(places[t, 1.0] for t in range(4)) == "he␣b"
    assert "".join(places[t, 3.4] for t in range(4)) == "hips"
    assert "'the ' above 'he b'" in alt


def test_surprise_has_one_scale_for_all_rows_and_its_mean_above():
    figure, alt = drawn(training.surprise("ab", {"one": torch.tensor([1.0, 3.0]), "two": torch.tensor([0.5, 0.5])}))
    assert len({ax.get_ylim() for ax in figure.axes}) == 1
    assert figure.axes[0].get_title(loc="left") == "one: 2.00 on average"
    assert "greatest at 'b' with 3.0" in alt


def test_losses_are_means_over_so_many_steps_in_the_middle_of_them():
    curves = {"a": [4.0, 2.0, 3.0, 1.0, 5.0], "b": ([0, 5], [2.0, 1.0])}
    figure, alt = drawn(figures.losses(curves, {"line": 3.25}, every=2))
    (ax,) = figure.axes
    assert curve(ax, "a") == [[1.5, 3.5, 5.0], [3.0, 2.0, 5.0]]
    assert curve(ax, "b") == [[0, 5], [2, 1]]
    assert texts(figure) == ["line: 3.25"]
    assert "Dotted lines: line at 3.25." in alt


@pytest.mark.parametrize(("path", "told"), [([2.0, 0.0], "2.00, 0.00"), ([1.0, -1.1, 1.21], "1.00, -1.10, 1.21")])
def test_a_descent_visits_its_places_on_the_parabola(path, told):
    figure, alt = drawn(training.descent(path, "rate"))
    x, y = figure.axes[0].get_lines()[1].get_data()
    assert list(x) == path
    assert list(y) == pytest.approx([at**2 / 2 for at in path])
    assert told in alt


def test_a_page_says_its_title_in_one_line():
    _, alt = drawn(training.page("to sea", torch.zeros(6), "warm,\nby a stand-in"))
    assert alt.startswith("warm, by a stand-in: 'to sea'")


def test_small_maps_carry_numbers_and_large_ones_share_a_colour_bar():
    for size, numbers, axes in ((3, 9, 4), (9, 0, 5)):
        weights = torch.full((2, size, size), 0.25)
        figure, alt = drawn(training.heads({"before": weights, "after": weights}, "abcdefghi"[:size]))
        assert [len(ax.texts) for ax in figure.axes[:4]] == [numbers] * 4
        assert len(figure.axes) == axes
        assert [ax.get_title() for ax in figure.axes[:4:3]] == ["before, head 0", "after, head 1"]
        assert "before: 0.25 on itself" in alt


def test_a_page_holds_every_token_and_underlines_those_that_were_a_surprise():
    pieces = ["to", " sea", "\n", "to", " ships", "\nto"]
    figure, alt = drawn(training.page(pieces, torch.tensor([0, 5.0, 0, 3.5, 1.0, 0]), "title", width=7))
    (ax,) = figure.axes
    lines = {}
    for text in ax.texts:
        x, y = text.get_position()
        lines.setdefault(int(y), {})[int(x)] = text.get_text()
    shown = ["".join(line.get(x, "") for x in range(8)) for _, line in sorted(lines.items())]
    assert shown == ["to sea¶", "to", "ships", "to"]  # " ships" does not fit beside "to"
    assert len(ax.patches) == len(pieces)
    underlined = {(int(line.get_ydata()[0]), *line.get_xdata()) for line in ax.get_lines()}
    assert underlined == {(0, 3, 6), (1, 0, 2)}
    assert "'to sea to ships to', 1.58 nats" in alt


def test_a_model_writes_a_page_that_is_longer_than_its_window():
    lm = small_lm.load()
    lm.block_size = 16
    figure, alt = drawn(training_runs.written(generate, lm, lm, temperature=0))
    assert alt.startswith("temperature 0: 'The captain")
    assert len(figure.axes[0].patches) == 62


def test_the_block_is_drawn_with_the_names_of_its_parts():
    figure, alt = drawn(training.block())
    assert {"norm_1", "attention", "norm_2", "mlp"} <= set(texts(figure))
    assert "added to it again" in alt


def test_what_was_not_a_number_can_be_shown():
    nan = float("nan")
    losses = figures.losses({"a": [nan, 1.0], "b": [nan, nan]})
    for picture in (losses, training.page("a", torch.tensor([nan])), training.block()):
        assert figures.html(picture).startswith("<figure")


def test_each_bug_has_a_panel_with_its_last_losses_and_the_curve_without_a_bug():
    recorded = training_bugs.load()
    figure, alt = drawn(training.training_bugs(recorded))
    assert len(figure.axes) == len(recorded.runs) == 9
    for ax, (bug, run) in zip(figure.axes, recorded.runs.items(), strict=True):
        assert ax.get_title().split("\n") == [
            ax.get_title().split(". ")[0] + f". {bug}",
            f"{run.training[1][-1]:.2f}, held out {run.held_out[1][-1]:.2f}",
        ]
        assert curve(ax, "no bug") == [list(data) for data in recorded.right.training]
        assert f"{bug}: training" in alt
    assert {"uniform", "unigram", "bigram"} <= set(texts(figure))
