"""Where nothing explains a wrong result, a sentence says what is true of all failing cases, or of one."""

from __future__ import annotations

import pytest
import torch

from course.harness.compare import Reference, compare
from course.harness.descriptions import describe, describe_shape
from course.harness.difference import Difference
from course.harness.options import Options
from course.harness.program import Observation

X = torch.tensor([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0], [2.5, 0.25, 6.0]])
V = torch.tensor([1.0, 2.0, 4.0, 7.0])
W = torch.softmax(X, -1)
CAUSAL, PADDING = torch.ones(4, 4).triu(1).bool(), torch.arange(4) > 2


def difference(right: torch.Tensor, got: torch.Tensor, where: str = "the result") -> Difference:
    same = right.eq(got) if right.dtype == torch.bool else torch.isclose(right, got, rtol=1e-5, atol=1e-7)
    return Difference(where, right, got, ~same)


def said(*cases: tuple[torch.Tensor, torch.Tensor]) -> str:
    """The sentence on these cases, each a right result and a wrong one."""
    failing = {i: [difference(*case)] for i, case in enumerate(cases)}
    found = describe(failing, failing)
    assert found is not None
    assert found.sentences.keys() == found.differences.keys()
    return next(iter(found.sentences.values()))


def at(place: tuple[int | slice, ...], right: torch.Tensor = X) -> tuple[torch.Tensor, torch.Tensor]:
    """A right result, and one that is wrong in these entries, by different numbers."""
    got = right.clone()
    numbers = torch.arange(1.0, got[place].numel() + 1)
    got[place] += (numbers**2 * (-1) ** numbers).reshape(got[place].shape)
    return right, got


CASES = {
    "Every sign in the result is wrong.": (X, -X),
    "The result has the wrong sign.": (torch.tensor(3.0), torch.tensor(-3.0)),
    "The result is inverted: True where it should be False, and False where it should be True.": (CAUSAL, ~CAUSAL),
    "The result is transposed: its rows and columns are swapped.": (X, X.T),
    "Every entry of the result is 0.": (X, 0 * X),
    "Every entry of the result is 0.3333.": (W, torch.full((3, 3), 1 / 3)),
    "Every entry of the result is 4 times what it should be.": (X, 4 * X),
    "Every entry of the result is -0.3333 times what it should be.": (X, X / -3),
    "Every entry of the result is too large by 0.5.": (X, X + 0.5),
    "Every entry of the result is too small by 2.": (V, V - 2),
    "Every entry of the result is 1 divided by what it should be.": (V, 1 / V),
    "Every entry of the result is 1 minus what it should be.": (W, 1 - W),
    "Every entry of the result is the square of what it should be.": (V, V**2),
    "Every entry of the result is the square root of what it should be.": (V, V**0.5),
    "Every entry of the result is the exponential of what it should be.": (X, X.exp()),
    "Every entry of the result is the logarithm of what it should be.": (W, W.log()),
    "Every entry of the result is what it should be without its sign.": (X - 2, (X - 2).abs()),
    "Every entry of the result is 3 times what it should be, minus 1.": (X, 3 * X - 1),
    "The entries of the result are in reverse order.": (V, V.flip(0)),
    "The rows of the result are in reverse order.": (X, X.flip(0)),
    "The columns of the result are in another order: 2, 0, 1.": (X, X[:, [2, 0, 1]]),
    "The slices along dimension 0 of the result are swapped.": (torch.stack([X, 2 * X]), torch.stack([2 * X, X])),
    "Each row of the result but the first is what the row before it should be.": (X, torch.cat([X[:1] + 9, X[:2]])),
    "Each entry of the result but the last is what the entry after it should be.": (
        V,
        torch.tensor([2.0, 4.0, 7.0, 0.0]),
    ),
    "The result is transposed, and every sign in it is wrong.": (X, -X.T),
    "The result is transposed and inverted.": (CAUSAL, ~CAUSAL.T),
    "Each row of the result has the right entries in another order.": (X, X.sort(-1).values),
    "The result has the right entries in the wrong places.": (
        X,
        X.flatten()[[3, 1, 2, 0, 8, 5, 6, 4, 7]].reshape(3, 3),
    ),
    "Each column of the result sums to 1 instead of each row.": (W, torch.softmax(X, 0)),
    "No row of the result sums to 1.": (W, W.exp() / 3),
    "Each row of the result sums to 1, as after a softmax, but should not.": (X, W),
    "Only entries of the result that should be 0 are wrong.": (W.tril(), W),
    "Entries of the result that should be 0 are not.": (X.abs().tril(), (X.abs() ** 1.5 + 0.1)),
    "Entries of the result that should be 0 are not, and the others are too small.": (
        X.abs().tril(),
        X.abs() * 0.9 - 0.1,
    ),
    "In the result, only the diagonal is wrong.": (X, X + torch.diag(torch.tensor([1.0, -2.0, 0.3]))),
    "In the result, only what is above the diagonal is wrong.": (X, X + X.triu(1) ** 2),
    "In the result, only what is below the diagonal is wrong: all wrong entries are 0.": (X, X.triu()),
    "In the result, only what is beside the diagonal is wrong: all wrong entries are 0.": (X, torch.diag(X.diag())),
    "The wrong entries of the result are False above the diagonal, and True below it.": (
        CAUSAL | PADDING,
        torch.ones(4, 4).tril(-1).bool() | PADDING,
    ),
    "Only the last row of the result is wrong.": at((2, slice(None))),
    "Only the first column of the result is wrong.": at((slice(None), 0)),
    "Only the first row of the result is right.": at((slice(1, None), slice(None))),
    "Only the last column of the result is right.": at((slice(None), slice(0, 2))),
    "Only the last slice along dimension 0 of the result is wrong.": at((1,), torch.stack([X, 2 * X])),
    "Only the first slice along dimension 0 of the result is right.": at((slice(1, None),), torch.stack([X, 2 * X, X])),
    "Only every second entry of the result is wrong.": at((slice(1, None, 2),), torch.arange(6.0)),
    "The first 2 entries of the result are right, and all after them wrong.": at((slice(2, None),), torch.arange(6.0)),
    "Only the first entry of the result is right: all wrong entries are 0.": (V + 1, V * 2 * (V == 1)),
    "All 9 entries of the result are too large.": (X, X + X.abs() ** 1.5 + 0.1),
    "5 of 9 entries of the result are too small.": (X, torch.where(X > 0.75, X - X**2, X)),
    "All 9 entries of the result are too far from 0.": (X, X * 1.0004),
    "All 9 entries of the result are too close to 0.": (X, X / (1 + X.abs())),
    "All 2 entries of the result are wrong.": (torch.tensor([3.0, 2.0]), torch.tensor([0.0, 7.0])),
    "The result is too large.": (torch.tensor(3.0), torch.tensor(4.0)),
    "2 of 2 entries of the result are True and should be False.": (PADDING[:2], ~PADDING[:2]),
    "The result is False where it should be True.": (torch.tensor(True), torch.tensor(False)),
    "1 of 3 entries of the result is True and should be False.": (
        torch.tensor([True, False, True]),
        torch.tensor([True, True, True]),
    ),
    "Every entry of the result is NaN.": (X, X * torch.nan),
    "The result is infinite.": (torch.tensor(3.0), torch.tensor(torch.inf)),
    "2 of 9 entries of the result are NaN.": (X, torch.where(X > 3.5, torch.nan, X)),
    "Entries of the result that should be 0 are NaN.": (W.tril(), W.masked_fill(W.tril() == 0, torch.nan)),
}


@pytest.mark.parametrize(("text", "case"), CASES.items(), ids=CASES)
def test_what_a_wrong_result_has_in_common_with_the_right_one_is_said(text, case):
    assert said(case) == text


def test_what_holds_in_one_case_by_chance_is_not_said_of_all():
    powers, others, wrong = torch.tensor([0.1, 0.5]), torch.tensor([0.2, 0.3, 0.7]), torch.tensor([0.1, 0.7, 0.3])
    assert said((powers, powers**2)) == "Every entry of the result is the square of what it should be."
    assert said((powers, powers**2), (others, wrong)) == (
        "In this case, every entry of the result is the square of what it should be."
    )
    assert said((others, wrong)) == "All 3 entries of the result are wrong."


def test_of_single_numbers_a_relation_is_said_where_enough_of_them_agree():
    numbers = [(torch.tensor(v), torch.tensor(2 * v)) for v in (1.0, -3.0, 5.0)]
    assert said(*numbers) == "The result is 2 times what it should be."
    assert said(*numbers[:2]) == "The result is too far from 0."
    assert said(*numbers, (torch.tensor(1.0), torch.tensor(9.0))) == "The result is too far from 0."


def test_a_case_whose_values_are_hidden_is_not_shown_but_must_agree():
    twice, more = difference(X, 2 * X), difference(X, 2 * X + 1)
    hidden = describe({0: [twice], 1: [more]}, {0})
    assert hidden is not None
    assert list(hidden.sentences) == [0]
    assert hidden.sentences[0].startswith("In this case, every entry of the result is 2 times")
    assert describe({0: [twice]}, set()) is None


def test_the_part_that_says_most_is_shown():
    output, weights = difference(X, X.exp() - X, "`output`"), difference(W, torch.softmax(X, 0), "`weights`")
    found = describe({0: [output, weights]}, {0})
    assert found is not None
    assert found.sentences[0] == "Each column of `weights` sums to 1 instead of each row."
    assert found.differences[0] is weights


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ("the result", "The result is too small."),
        ("the result[1]", "Item 1 of the result is wrong."),
        ("the result['W_q']", "`W_q` of the result is wrong."),
    ],
)
def test_an_item_may_be_a_label_which_is_neither_small_nor_large(where, text):
    found = describe({0: [Difference(where, 7, 5)]}, {0})
    assert found is not None
    assert found.sentences[0] == text


def test_texts_and_enormous_numbers_have_no_description():
    assert describe({0: [Difference("the result", "a", "b")]}, {0}) is None
    assert describe({0: [Difference("the result", 3, 10**60)]}, {0}) is None


def test_a_comparison_finds_every_wrong_part():
    right = Observation(values={"result": (X, W, V)})
    seen = Observation(values={"result": (2 * X, W, -V)})
    finding = compare(seen, Reference(right, right, Options(), result_names=("output", "weights", "total")))
    assert finding is not None and finding.difference is not None
    assert [finding.difference.where, *(other.where for other in finding.others)] == ["`output`", "`total`"]


def test_no_result_is_too_strange_to_be_described():
    generator = torch.Generator().manual_seed(0)
    strange = torch.tensor([torch.nan, torch.inf, -torch.inf, 0.0, 1.0, -1.0, 1e308, 1e-320])
    for shape in [(), (1,), (3,), (1, 1), (2, 2), (2, 3, 3), (2, 1, 3, 3)]:
        for _ in range(30):
            right = strange[torch.randint(8, shape, generator=generator)]
            got = strange[torch.randint(8, shape, generator=generator)]
            bad = ~(right == got)
            if bad.any():
                assert describe({0: [Difference("the result", right, got, bad)]}, {0}) is not None


@pytest.mark.parametrize(
    ("found", "wanted", "text"),
    [
        ((), (3,), "the result is a single number"),
        ((3,), (3, 1), "the result lacks the last dimension"),
        ((4,), (3, 4), "the result lacks dimension 0"),
        ((3,), (3, 3), "the result lacks a dimension"),
        ((1, 1), (), "the result has 2 dimensions of size 1 too many"),
        ((3, 1), (3,), "the result has a dimension of size 1 too many"),
        ((2, 3, 4), (2, 3), "the result has 3 dimensions instead of 2"),
        ((2,), (), "the result has 1 dimension, but should be a single number"),
        ((2, 4, 3), (2, 3, 4), "in the shape of the result, dimensions 1 and 2 are swapped"),
        ((4, 2, 3), (2, 3, 4), "the result has its dimensions in another order"),
        ((2, 5), (2, 3), "the last dimension of the result has size 5 instead of 3"),
        ((5, 3), (2, 3), "dimension 0 of the result has size 5 instead of 2"),
        ((5,), (2,), "the result has size 5 instead of 2"),
        ((5, 4), (2, 3), ""),
    ],
)
def test_how_a_shape_is_wrong(found, wanted, text):
    assert describe_shape("the result", found, wanted) == text
