"""Maps that stand side by side, of lessons 05 to 07: numbers of one size, queries downwards and keys across."""

from __future__ import annotations

import matplotlib
import matplotlib.pyplot as plt
import pytest
import torch

from course.figures import masks, multi_head, rope

matplotlib.use("Agg")

WORDS = ["one", "two", "three", "four", "five", "six"]
NARROW, WIDE = torch.full((6, 6), 0.5), torch.full((6, 6), -12.25)
NOTHING = torch.zeros(6, 6, dtype=torch.bool)


@pytest.fixture(autouse=True)
def _no_figure_is_left_open():
    yield
    plt.close("all")


def test_numbers_of_panels_that_are_compared_have_one_size():
    figure = masks.before_and_after(WIDE, NOTHING, NARROW, WORDS)
    texts = [text for ax in figure.axes for text in ax.texts]
    assert len({len(text.get_text()) for text in texts}) > 1
    assert len({text.get_fontsize() for text in texts}) == 1


@pytest.mark.parametrize(
    "figure",
    [
        lambda: masks.tables(dict.fromkeys("abcd", NOTHING), per_row=2),
        lambda: masks.weights(dict.fromkeys("abcd", (NARROW, None)), WORDS, per_row=2),
        lambda: rope.maps(dict.fromkeys("abcd", NARROW), dict.fromkeys("abcd", WORDS)),
    ],
    ids=["tables", "weights", "maps"],
)
def test_the_outer_panels_name_queries_and_keys(figure):
    axes = figure().axes
    assert [ax.get_ylabel() for ax in axes] == ["queries", "", "queries", ""]
    assert [bool(ax.get_xlabel()) for ax in axes[2:]] == [True, True]


def test_heads_side_by_side_name_queries_and_keys():
    axes = multi_head.side_by_side(torch.stack([NARROW, NARROW]), rows=WORDS).axes
    assert [ax.get_ylabel() for ax in axes] == ["queries", ""]
    assert [ax.get_xlabel() for ax in axes] == ["keys", "keys"]


def test_heads_without_and_with_a_mask_are_hatched_where_it_blocks():
    def attention(x, mask=None):
        return x, torch.full((1, 2, 6, 6), 0.5)

    figure = multi_head.without_and_with(attention, torch.zeros(6, 8), ~torch.ones(6, 6).tril().bool(), WORDS)
    hatched = [sum(1 for patch in ax.patches if patch.get_hatch()) for ax in figure.axes]
    assert hatched == [0, 0, 15, 15]


def test_addresses_are_written_and_marked_with_their_head():
    matrix = torch.arange(8).view(2, 4)
    by_head = torch.stack([matrix[:, :2], matrix[:, 2:]])
    plain, cut = multi_head.addresses({"matrix": matrix, "heads": by_head}, band=2, width=4).axes
    assert [text.get_text() for text in plain.texts] == list("01234567")
    assert [text.get_text() for text in cut.texts] == ["head 0", *"0145", "head 1", *"2367"]
    assert len(plain.lines) == len(cut.lines) == 4  # a dot for each number of head 1


def test_a_turned_vector_is_described():
    figure = rope.turned(torch.tensor([[2.0, 0.0], [0.0, 2.0]]), [0, 3])
    assert [text.get_text() for text in figure.axes[0].texts if text.get_text()] == ["0", "3"]
    assert "Their directions: 0: 0°, 3: 90°." in figure.get_label()


def test_weights_in_cells_too_small_for_numbers_have_none():
    weights = torch.full((3, 3), 0.33)

    def numbers(cell):
        drawn = masks.weights({"weights": (weights, None)}, cell=cell)
        return [text.get_text() for text in drawn.axes[0].texts]

    assert numbers(0.4) == ["0.33"] * 9
    assert numbers(0.16) == []
