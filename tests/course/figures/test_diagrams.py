"""The growing diagram, matrix products, broadcasting, a soft look-up and several heads."""

from __future__ import annotations

import matplotlib
import matplotlib.pyplot as plt
import pytest
import torch

from course import figures, sentence
from course.figures import diagram, style

matplotlib.use("Agg")

WEIGHTS = torch.softmax(sentence.x @ sentence.x.T, dim=-1)


@pytest.fixture(autouse=True)
def _no_figure_is_left_open():
    yield
    plt.close("all")


def texts(figure):
    return [text.get_text() for ax in figure.axes for text in ax.texts]


def fills(figure):
    """Colours of all filled shapes."""
    return {matplotlib.colors.to_hex(patch.get_facecolor()) for ax in figure.axes for patch in ax.patches}


@pytest.mark.parametrize("place", range(len(diagram.PARTS)))
def test_the_diagram_grows_by_one_part_a_lesson(place):
    part = list(diagram.PARTS)[place]
    words = figures.overview(part).get_label()
    assert f"In full colour, {part}: " in words
    known, _, later = words.partition(" To come, dashed: ")
    assert [name in known for name in diagram.PARTS] == [i <= place for i in range(len(diagram.PARTS))]
    assert [name in later for name in diagram.PARTS] == [i > place for i in range(len(diagram.PARTS))]


def test_what_is_known_is_grey_at_the_start_and_in_colour_at_the_end():
    assert style.PARTS["q"] in fills(figures.overview("dot products"))
    assert style.PARTS["q"] not in fills(figures.overview("softmax"))
    assert style.PARTS["q"] in fills(figures.overview("softmax", complete=True))
    assert style.PARTS["v"] not in fills(figures.overview("softmax", complete=True))


def test_the_learners_numbers_take_the_place_of_letters():
    drawn = figures.overview("softmax", complete=True, weights=WEIGHTS)
    cells = {matplotlib.colors.to_hex(style.cell_colours("weights")(float(w))) for w in WEIGHTS.flatten()}
    assert cells <= fills(drawn)
    assert not cells <= fills(figures.overview("softmax", complete=True))
    assert "A is 6 by 6." in drawn.get_label()


def test_a_blocked_score_in_the_diagram_is_hatched():
    scores = torch.zeros(2, 2).masked_fill(torch.ones(2, 2).triu(1).bool(), float("-inf"))
    hatched = [
        patch for patch in figures.overview("mask", scores=scores, complete=True).axes[0].patches if patch.get_hatch()
    ]
    assert len(hatched) == 1


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: figures.overview("attention"), "part is 'attention'"),
        (lambda: figures.overview("mask", masks=WEIGHTS), "unknown matrix 'masks'"),
        (lambda: figures.overview("softmax", weights=torch.zeros(9, 2)), "weights: expected"),
        (lambda: figures.broadcast(torch.zeros(3), torch.zeros(2)), r"\(3,\) and \(2,\) cannot be broadcast"),
        (lambda: figures.broadcast(torch.zeros(1, 1, 1), torch.zeros(2)), "at most two dimensions"),
        (lambda: figures.broadcast(torch.zeros(3), torch.zeros(3), "/"), "sign is '/'"),
    ],
)
def test_a_wrong_argument_is_named(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()


def test_three_products_show_x_its_matrices_and_their_results():
    W_q, W_k, W_v = torch.eye(3), 2 * torch.eye(3), torch.ones(3, 2)
    figure = figures.projections(sentence.x, W_q, W_k, W_v, words=sentence.words, features=sentence.FEATURES)
    titles = [ax.get_title() for ax in figure.axes]
    assert titles[0::3] == ["X  (6, 3)"] * 3
    assert titles[2::3] == ["Q = X $W_q$  (6, 3)", "K = X $W_k$  (6, 3)", "V = X $W_v$  (6, 2)"]
    assert [tick.get_text() for tick in figure.axes[0].get_xticklabels()] == sentence.FEATURES
    assert "2.8" in "".join(text.get_text() for text in figure.axes[5].texts)  # boat's 1.4, doubled
    assert "gives Q (6, 3), K (6, 3), V (6, 2)" in figure.get_label()


def test_broadcasting_shows_the_copies_and_says_what_is_stretched():
    figure = figures.broadcast(torch.tensor([[0.0], [10.0]]), torch.tensor([1.0, 2.0, 3.0]))
    a, b, result = ([text.get_text() for text in ax.texts if text.get_text().isdigit()] for ax in figure.axes)
    assert (a, b) == (["0"] * 3 + ["10"] * 3, ["1", "2", "3"] * 2)
    assert result == ["1", "2", "3", "11", "12", "13"]
    dark = [text.get_color() for ax in figure.axes[:2] for text in ax.texts if text.get_text() in ("10", "3")]
    assert dark[1:3] == [style.BLACK] * 2, "copies are pale, whatever their colour is"
    assert "a has the shape (2, 1) and is stretched from 1 column to 3" in figure.get_label()
    assert "b has the shape (3,) and is stretched from 1 row to 2" in figure.get_label()


def test_a_soft_lookup_shows_weights_values_and_their_sum():
    panels = {"a dictionary": torch.tensor([0.0, 1.0]), "soft": torch.tensor([0.25, 0.75])}
    figure = figures.soft_lookup(panels, "bank", ["boat", "river"], [4.0, 8.0])
    assert [text for text in texts(figure) if text in ("8.00", "7.00")] == ["8.00", "7.00"]
    assert "soft: boat 0.25, river 0.75; output 7.00" in figure.get_label()


def test_heads_are_drawn_one_below_the_other_and_joined():
    q = torch.randn(2, 6, 4, generator=torch.Generator().manual_seed(0))
    weights = torch.softmax(q @ q.mT, dim=-1)
    figure = figures.heads(q, q, q, weights, weights @ q, words=sentence.words)
    assert {"head 0", "head 1", "joined\n(6, 8)"} <= set(texts(figure))
    assert "side by side, are 6 by 8" in figure.get_label()


def test_the_sentence_has_simple_scores():
    scores = sentence.x @ sentence.x[sentence.words.index("bank")]
    torch.testing.assert_close(scores, torch.tensor([0.5, 2.0, 1.0, 0.5, 3.0, 3.25]))
    assert sentence.x.shape == (6, 3)
    assert sentence.x[0].equal(sentence.x[3])


def test_a_product_shows_the_three_matrices_and_frames_a_row():
    weights, rows = torch.tensor([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]]), torch.tensor([[2.0], [4.0], [9.0]])
    drawn = figures.product(weights, rows, framed=1)
    assert [ax.get_title() for ax in drawn.axes] == ["A  (2, 3)", "B  (3, 1)", "A @ B  (2, 1)"]
    assert {"@", "=", "9", "3"} <= set(texts(drawn))
    assert "A @ B, (2, 1). A thick frame is around row 1" in drawn.get_label()
    frames = [[patch.get_xy() for patch in ax.patches if not patch.get_fill()] for ax in drawn.axes]
    assert frames == [[(-0.5, 0.5)] * 2, [], [(-0.5, 0.5)] * 2]  # two lines: one is visible on any cell
    plain = figures.product(weights, rows)
    assert not any(ax.patches for ax in plain.axes) and "frame" not in plain.get_label()
