"""Lesson 10: pictures of what is there as the keys go by, and the properties by which going over tiles is judged."""

from __future__ import annotations

import math

import matplotlib
import matplotlib.pyplot as plt
import pytest
import torch
from matplotlib.patches import Rectangle

from course.checkers import NamedChecker
from course.figures import tiles
from course.harness.helpers import HELPERS
from course.harness.program import Observation

matplotlib.use("Agg")

SCORES, VALUES = torch.tensor([1.0, 3.0, -2.0, 0.5]), torch.tensor([2.0, -1.0, 4.0, 0.0])


@pytest.fixture(autouse=True)
def _no_figure_is_left_open():
    yield
    plt.close("all")


def history(read: int) -> list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
    """Maximum, sum and output after each of the first so many keys."""
    return [
        (part.max(), (part - part.max()).exp().sum(), part.softmax(0) @ VALUES[: len(part)])
        for part in (SCORES[: n + 1] for n in range(read))
    ]


def bars(ax) -> list[Rectangle]:
    return [patch for patch in ax.patches if isinstance(patch, Rectangle)]


@pytest.mark.parametrize("read", [1, 2, 3, 4])
def test_of_the_keys_that_were_read_the_last_one_stands_out(read):
    left, _ = tiles.running(SCORES, VALUES, history(read)).axes
    drawn = bars(left)
    assert [bar.get_height() for bar in drawn] == SCORES.tolist()
    assert [bool(bar.get_hatch()) for bar in drawn] == [place == read - 1 for place in range(4)]
    colours = [bar.get_facecolor() for bar in drawn]
    assert len(set(colours[: read - 1])) <= 1 and len(set(colours[read:])) <= 1
    assert not {colours[read - 1]} & {*colours[: read - 1], *colours[read:]}
    assert not set(colours[: read - 1]) & set(colours[read:])


def test_what_is_kept_is_told_beside_the_softmax_over_what_was_read():
    left, right = tiles.running(SCORES, VALUES, history(3)).axes
    told = [text.get_text() for text in right.texts]
    numbers = dict(zip(told[::2], told[1::2], strict=True))
    exact = f"{float(SCORES[:3].softmax(0) @ VALUES[:3]):.3f}"
    assert numbers["maximum m"] == "3.000"
    assert numbers["output"] == numbers["all of them at once:"] == exact
    assert numbers["m + log(sum)"] == f"{float(SCORES[:3].logsumexp(0)):.3f}"
    assert right.get_title() == "kept after 3 of 4 keys"
    assert [line.get_ydata()[0] for line in left.lines] == [0.0, 3.0]  # the axis, and the maximum


def test_an_output_that_was_not_rescaled_is_seen_to_differ_from_the_softmax():
    kept = history(2)
    kept[-1] = (*kept[-1][:2], kept[-1][2] + 1.0)
    _, right = tiles.running(SCORES, VALUES, kept).axes
    told = [text.get_text() for text in right.texts]
    numbers = dict(zip(told[::2], told[1::2], strict=True))
    assert numbers["output"] != numbers["all of them at once:"]


@pytest.mark.parametrize(("S", "tile", "widths"), [(24, 6, [6, 6, 6, 6]), (10, 4, [4, 4, 2]), (3, 8, [3])])
def test_a_map_of_scores_is_cut_as_a_slice_cuts_it(S, tile, widths):
    (ax,) = tiles.alive(T=5, S=S, tile=tile, at=0).axes
    drawn = bars(ax)
    assert [bar.get_width() for bar in drawn] == widths
    assert {bar.get_height() for bar in drawn} == {5}
    assert [bar.get_x() for bar in drawn] == list(range(0, S, tile))


@pytest.mark.parametrize("at", [0, 1, 3])
def test_one_tile_is_there_and_those_before_it_are_done(at):
    (ax,) = tiles.alive(T=8, S=24, tile=6, at=at).axes
    words = [text.get_text().split(":")[0] for text in ax.texts]
    assert words == ["done"] * at + ["there now"] + ["not made yet"] * (3 - at)
    assert ax.yaxis_inverted()  # queries downwards, as in every map


def test_a_map_of_tiles_hatches_the_blocked_ones_and_names_those_that_need_a_mask():
    (ax,) = tiles.kinds([["mixed", "blocked"], ["open", "mixed"]], tile=4).axes
    assert [bool(bar.get_hatch()) for bar in bars(ax)] == [False, True, False, False]
    assert [text.get_text() for text in ax.texts] == ["mask", "", "", "mask"]
    assert ax.yaxis_inverted()
    assert ax.figure.get_label().endswith("row 0: mixed, blocked; row 1: open, mixed.")


# The property `in_tiles`

RIGHT = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([0.5, 0.25])
LIMITS = NamedChecker("computed_in_tiles", {"scores": [4, 10], "products": 1000})


def measured(result: object = RIGHT, shape: tuple[int, ...] = (4, 10), products: int = 1000) -> Observation:
    return Observation({"result": [result, list(shape), products]})


def judged(seen: Observation) -> str | None:
    found = LIMITS(seen, measured())
    return None if found is None else getattr(found, "text", found)


@pytest.mark.parametrize("shape", [(4, 10), (1,), (4, 15), (60,)])
def test_half_a_tile_is_left_as_room(shape):
    assert judged(measured(shape=shape)) is None


@pytest.mark.parametrize("shape", [(4, 16), (4, 10, 2), (4, 100), (61,)])
def test_a_tensor_that_is_too_large_is_reported_with_the_limit(shape):
    times = " x ".join(map(str, shape))
    assert judged(measured(shape=shape)) == f"you created a tensor of {times}; the largest allowed is 4 x 10"


def test_a_shape_of_any_length_from_a_kernel_is_shortened():
    said = judged(measured(shape=(2,) * 4000))
    assert said is not None
    assert len(said) < 200


def test_keys_are_read_once_with_a_fifth_to_spare():
    assert judged(measured(products=1200)) is None
    assert "2.0 times the multiplications" in str(judged(measured(products=2000)))


@pytest.mark.parametrize(
    ("result", "fault"),
    [
        ((RIGHT[0] + 0.1, RIGHT[1]), "the result is wrong"),
        ((RIGHT[0], RIGHT[1] * math.nan), "the result is wrong"),
        ((RIGHT[0], RIGHT[1][:, None]), "wrong shapes"),
        (RIGHT[0], "wrong shapes"),
        ((RIGHT[0], "text"), "wrong shapes"),
    ],
)
def test_what_takes_little_memory_and_is_wrong_is_wrong(result, fault):
    assert fault in str(judged(measured(result)))


def test_rounding_is_another_criterions_matter():
    assert judged(measured((RIGHT[0] + 1e-4, RIGHT[1].double()))) is None


def test_what_helpers_measure_is_what_the_property_judges():
    query, key = torch.ones(4, 3), torch.ones(30, 3)

    def at_once(query, key):
        return (query @ key.mT).sum(-1)

    def in_parts(query, key):
        return sum((query @ part.mT).sum(-1) for part in key.split(10))

    def seen(function):
        return Observation({"result": HELPERS["measured"](function, query, key)})

    asked = NamedChecker("computed_in_tiles", {"scores": [4, 10], "products": 4 * 30 * 3})
    assert asked(seen(in_parts), seen(at_once)) is None
    found = asked(seen(at_once), seen(in_parts))
    assert "a tensor of 4 x 30" in getattr(found, "text", "")

    def twice(query, key):
        in_parts(query, key)
        return in_parts(query, key)

    assert "2.0 times the multiplications" in getattr(asked(seen(twice), seen(at_once)), "text", "")


# The property `gradients_are_finite`


def with_gradients(value: object, **gradients: torch.Tensor | None) -> Observation:
    return Observation({"result": value}, gradients=gradients or None)


FINITE = NamedChecker("finite_gradients", {})


@pytest.mark.parametrize("broken", [math.nan, math.inf, -math.inf])
def test_a_nonfinite_gradient_is_reported_by_its_input(broken):
    seen = with_gradients(torch.zeros(2), query=torch.zeros(2), lse=torch.tensor([0.0, broken]))
    assert FINITE(seen, seen) == "the gradient for `lse` is NaN or infinite"


def test_no_gradient_and_minus_infinity_in_a_result_are_fine():
    seen = with_gradients((torch.zeros(2), torch.tensor([-math.inf, 0.0])), query=None, lse=torch.ones(2))
    assert FINITE(seen, seen) is None


def test_nan_in_any_part_of_a_result_is_reported():
    seen = with_gradients((torch.zeros(2), torch.tensor([math.nan, 0.0])), query=torch.zeros(2))
    assert FINITE(seen, seen) == "the result is NaN"
