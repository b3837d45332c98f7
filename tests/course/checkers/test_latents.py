"""Lesson 13: the checker of attention to latents, and the helper that makes ids comparable."""

from __future__ import annotations

import pytest
import torch

from course.checkers import NamedChecker
from course.harness.helpers import HELPERS
from course.harness.program import Observation

RIGHT = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([0.5, 0.25])
LIMITS = NamedChecker(
    "computed_from_latents", {"largest": [4, 10], "products": 1000, "plain": 5000, "copied": [2, 4, 30]}
)


def measured(shape=(4, 10), products=1000, result=RIGHT) -> Observation:
    return Observation({"result": [result, list(shape), products]})


def judged(seen: Observation) -> tuple[str, str]:
    """The tag and the text of a finding."""
    found = LIMITS(seen, measured())
    return ("", "") if found is None else (getattr(found, "tag", ""), getattr(found, "text", str(found)))


@pytest.mark.parametrize(("shape", "products"), [((4, 10), 1000), ((60,), 1200), ((1,), 0)])
def test_half_as_much_memory_and_a_fifth_more_multiplications_are_allowed(shape, products):
    assert judged(measured(shape, products)) == ("", "")


@pytest.mark.parametrize(
    ("shape", "products", "tag"),
    [
        ((4, 30), 5000, "plain"),
        ((4, 30), 3000, "half plain"),
        ((4, 10), 5000, "too many"),
        ((8, 30), 1000, "copied"),
        ((61,), 1000, "too large"),
    ],
)
def test_each_way_to_take_too_much_has_its_tag(shape, products, tag):
    assert judged(measured(shape, products))[0] == tag


def test_a_finding_tells_what_was_taken_and_what_is_enough():
    _, text = judged(measured((4, 30), 5000))
    assert "5,000 multiplications; 1,000 are enough" in text
    assert "4 x 30, 120 elements; 40 are enough" in text


def test_a_wrong_result_is_wrong_however_little_it_takes():
    assert judged(measured((1,), 0, (RIGHT[0] + 0.1, RIGHT[1])))[1] == "the result is wrong"


def test_a_product_that_broadcasts_over_heads_is_measured_as_a_copy():
    queries, latent = torch.ones(2, 8, 3, 20), torch.ones(2, 50, 20)
    _, shape, products = HELPERS["measured"](lambda q, c: q @ c[:, None].mT, queries, latent)
    assert torch.Size(shape).numel() == 2 * 8 * 50 * 20
    _, shape, same = HELPERS["measured"](lambda q, c: q.flatten(1, 2) @ c.mT, queries, latent)
    assert torch.Size(shape).numel() == 2 * 8 * 3 * 50
    assert products == same == 2 * 8 * 3 * 50 * 20


@pytest.mark.parametrize(
    ("given", "numbered"),
    [
        ([[7, 3], [7, 9]], [[0, 1], [0, 2]]),
        ([[[5]], [[5], [2]]], [[[0]], [[0], [1]]]),
        ([0, 1, 2], [0, 1, 2]),
        ([4, 4], [0, 0]),
        ((3, [True, "3", 3.0, None]), [0, [True, "3", 3.0, None]]),
    ],
)
def test_whole_numbers_are_numbered_by_their_first_appearance(given, numbered):
    found = HELPERS["renumbered"](given)
    assert found == numbered
    assert [type(item) for item in found] == [type(item) for item in numbered]
