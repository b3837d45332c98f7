"""Points of criteria when a teacher gives an exercise other points, and the file that tells a notebook so."""

from __future__ import annotations

import pytest

from course.outline import Outline, read_outline, scale_points

SHARES = [[1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5], [2, 1], [0.25] * 8, [3], [1, 1, 1], [0.5, 2.5]]


@pytest.mark.parametrize("points", SHARES, ids=str)
@pytest.mark.parametrize("total", [1, 2, 3, 4, 5, 7, 10, 20, 100])
def test_scaled_points_sum_to_the_total_and_keep_the_proportions(points, total):
    scaled = scale_points(points, total)
    assert sum(scaled) == total
    assert min(scaled) > 0
    for new, old in zip(scaled, points, strict=True):
        assert new == pytest.approx(old * total / sum(points), rel=0.34)


def test_points_that_scale_exactly_stay_exact():
    assert scale_points([1, 0.5, 0.5], 4) == [2, 1, 1]
    assert scale_points([1, 0.5, 0.5], 2) == [1, 0.5, 0.5]


def test_points_of_any_number_are_scaled_in_proportion():
    assert scale_points([3, 2], 0.3) == pytest.approx([0.18, 0.12])


def test_an_outline_survives_its_file():
    outline = Outline("Autumn", {"02_softmax": {"softmax": 8.0}, "01_dot_products": {}})
    assert read_outline(outline.to_json()) == outline
    assert list(read_outline(outline.to_json()).lessons) == ["02_softmax", "01_dot_products"]


@pytest.mark.parametrize("text", ["[]", "{}", '{"title": "x", "lessons": [1]}', '{"title": "", "lessons": {"a": 3}}'])
def test_what_is_no_outline_is_refused(text):
    with pytest.raises(ValueError, match="outline"):
        read_outline(text)
