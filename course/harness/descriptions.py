"""Sentences on how wrong results differ from right ones, where no known mistake explains them.

A sentence is true by construction: a relation is computed for all entries of a case, and a place is named only if it
has every wrong entry. A sentence that holds in every failing case comes first, because in a single one it may be an
accident; a sentence that holds in some cases only speaks of the case that the report shows.

Does not cover: known mistakes (`diagnose.py`), common slips (`slips.py`), how two values are printed (`difference.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial

import torch

from .difference import Difference
from .sentences import as_sentence
from .tolerance import Tolerance

MOST_ENTRIES = 5000  # of a result that is searched for a permutation
SOME = 1 / 3  # of the failing cases, in which a place must be the same to be looked for in any of them
ENOUGH_NUMBERS = 3  # of a single number each, for a relation between them
LISTED = 6  # slices whose order a sentence lists
HALF_PRECISION = 1e-2  # rounding of a sum in half precision
CLOSE_TO_ONE = 1e-3  # how far from 1 a factor still counts as 1
Shape = tuple[int, ...]
Saying = str | None  # on a case; "": it holds, but of so few entries that it tells nothing; None: it is false


@dataclass(frozen=True)
class Description:
    """Sentences on the cases that show the same, by the cases' indices, and what to print of them."""

    sentences: Mapping[int, str]
    differences: Mapping[int, Difference]


def describe(
    failing: Mapping[int, Sequence[Difference]], shown: Collection[int], clearest: int | None = None
) -> Description | None:
    """Say in which way all wrong results differ from the right ones, or else one of them; None: none can be compared.

    failing   the wrong parts of each failing case, by its index
    shown     the cases whose right values may be shown
    clearest  the case that is easiest to follow
    """
    parts: dict[tuple[str, bool], dict[int, _Pair]] = {}
    for i, differences in failing.items():
        for pair in map(_Pair, filter(_holds_numbers, differences)):
            parts.setdefault((pair.difference.where, pair.finite), {})[i] = pair

    @cache
    def said_of(say: Callable[[_Pair], Saying], part: tuple[str, bool]) -> dict[int, Saying]:
        return {i: say(pair) for i, pair in parts[part].items()}

    alone = {clearest}.intersection(shown)
    for sayings, least, among in (
        (RELATIONS + PLACES, 1.0, shown),
        (RELATIONS, 0.0, shown),
        (PLACES, SOME, shown),
        (PLACES, 0.0, alone),
        (DIRECTIONS, 1.0, shown),
    ):
        for say in sayings:
            for part, cases in parts.items():
                said = said_of(say, part)
                if sum(text is not None for text in said.values()) < least * len(said):
                    continue
                if least == 1 and not any(said.values()):
                    said = dict.fromkeys(said, _of_single_numbers(say, list(cases.values())))
                before = "" if least == 1 else "in this case, "
                if sentences := {i: as_sentence(f"{before}{text}") for i, text in said.items() if text and i in among}:
                    return Description(sentences, {i: cases[i].difference for i in sentences})
    return None


def _of_single_numbers(say: Callable[[_Pair], Saying], pairs: Sequence[_Pair]) -> Saying:
    """The sentence on several cases together whose results are one number each, too few to tell anything alone."""
    if len(pairs) < ENOUGH_NUMBERS or not all(pair.plain and pair.numbers for pair in pairs):
        return ""
    right, got = (torch.cat([getattr(pair, name).flatten() for pair in pairs]) for name in ("right", "got"))
    joint = _Pair(Difference(pairs[0].difference.where, right, got))
    joint.each = joint.what
    return say(joint)


def describe_shape(what: str, found: Shape, wanted: Shape) -> str:
    """How a shape differs from the wanted one, without a period; "" if there is no simple way."""
    if not found:
        return f"{what} is a single number"
    missing = {d for d in range(len(wanted)) if (*wanted[:d], *wanted[d + 1 :]) == found}
    if missing:
        return f"{what} lacks {_dimension(max(missing), len(wanted)) if len(missing) == 1 else 'a dimension'}"
    if len(found) > len(wanted) and [n for n in found if n != 1] == [n for n in wanted if n != 1]:
        more = len(found) - len(wanted)
        return f"{what} has {'a dimension' if more == 1 else f'{more} dimensions'} of size 1 too many"
    if not wanted:
        return f"{what} has {_count(len(found), 'dimension')}, but should be a single number"
    if len(found) != len(wanted):
        return f"{what} has {_count(len(found), 'dimension')} instead of {len(wanted)}"
    differ = [d for d, (a, b) in enumerate(zip(found, wanted, strict=True)) if a != b]
    if len(differ) == 2 and (found[differ[0]], found[differ[1]]) == (wanted[differ[1]], wanted[differ[0]]):
        return f"in the shape of {what}, dimensions {differ[0]} and {differ[1]} are swapped"
    if sorted(found) == sorted(wanted):
        return f"{what} has its dimensions in another order"
    if len(differ) == 1:
        d = differ[0]
        which = "" if len(wanted) == 1 else f"{_dimension(d, len(wanted))} of "
        return f"{which}{what} has size {found[d]} instead of {wanted[d]}"
    return ""


def _dimension(d: int, ndim: int) -> str:
    return "the last dimension" if d == ndim - 1 else f"dimension {d}"


def _holds_numbers(difference: Difference) -> bool:
    def is_number(value: object) -> bool:
        return isinstance(value, (torch.Tensor, float)) or (isinstance(value, int) and value.bit_length() < 54)

    return is_number(difference.expected) and is_number(difference.got)


class _Pair:
    """A wrong tensor beside the right one; a number is a tensor without dimensions.

    what, each  its name in a sentence, and that of its entries
    """

    def __init__(self, difference: Difference) -> None:
        self.difference = difference
        right, got = (torch.as_tensor(value).detach() for value in (difference.expected, difference.got))
        self.numbers = right.dtype != torch.bool
        kind = torch.float64 if self.numbers else torch.bool
        self.right, self.got = right.to(kind), got.to(kind)
        self.wrong = torch.ones(right.shape, dtype=torch.bool) if difference.wrong is None else difference.wrong
        self.room = Tolerance.of(got.dtype if got.dtype in (torch.float16, torch.bfloat16) else torch.float32)
        self.finite = bool(torch.isfinite(self.got[self.wrong]).all())
        self.shape, self.ndim = tuple(self.right.shape), self.right.ndim
        self.what = place_in_words(difference.where)
        self.each = self.what if self.plain else f"every entry of {self.what}"

    @property
    def plain(self) -> bool:
        """Whether it is a single number or boolean."""
        return self.right.numel() == 1

    def is_near(self, other: torch.Tensor) -> bool:
        """Whether the wrong tensor equals `other`, up to rounding."""
        if not self.numbers:
            return bool(torch.equal(self.got, other))
        size = other.abs().nan_to_num(0.0, 0.0, 0.0)
        return torch.allclose(self.got, other, rtol=self.room.rtol, atol=self.room.atol * float(size.max()))

    def different(self, least: int, values: torch.Tensor | None = None) -> bool:
        """Whether the right values, or other values, have so many different numbers."""
        values = self.right if values is None else values
        rounded = {f"{v:.3g}" for v in values.flatten()[:MOST_ENTRIES].tolist()}
        return len(rounded) >= least


def place_in_words(where: str) -> str:
    """The place of a value in a sentence: "the result[0]['W_q']" -> "`W_q` of item 0 of the result"."""
    name, _, path = where.partition("[")
    if not path:
        return where
    keys = [key.strip("]'\"") for key in path.split("[")]
    return " of ".join([*(f"item {key}" if key.isdigit() else f"`{key}`" for key in reversed(keys)), name])


def _brief(value: float) -> str:
    return repr(float(f"{value:.4g}")).removesuffix(".0")


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


# ------------------------------------------------------------------------------------------ relations of all entries


def _relation(pair: _Pair, other: torch.Tensor, text: str, enough: bool) -> Saying:
    if not pair.is_near(other):
        return None
    return text.format(what=pair.what, each=pair.each) if enough else ""


def _signs(pair: _Pair) -> Saying:
    text = "{what} has the wrong sign" if pair.plain else "every sign in {what} is wrong"
    return _relation(pair, -pair.right, text, True) if pair.numbers else None


def _inverted(pair: _Pair) -> Saying:
    text = "{what} is inverted: True where it should be False, and False where it should be True"
    return None if pair.numbers else _relation(pair, ~pair.right, text, len({*pair.right.flatten().tolist()}) == 2)


def _transposed(pair: _Pair) -> Saying:
    return _turned(pair, lambda right: right, "{what} is transposed: its rows and columns are swapped", 2)


def _transposed_and_more(pair: _Pair) -> Saying:
    if pair.numbers:
        return _turned(pair, torch.neg, "{what} is transposed, and every sign in it is wrong", 3)
    return _turned(pair, torch.logical_not, "{what} is transposed and inverted", 3)


def _turned(pair: _Pair, change: Callable[[torch.Tensor], torch.Tensor], text: str, least: int) -> Saying:
    if pair.ndim < 2 or pair.shape[-1] != pair.shape[-2]:
        return None
    return _relation(pair, change(pair.right.mT), text, pair.shape[-1] >= least)


def _constant(pair: _Pair) -> Saying:
    if not pair.numbers or not pair.is_near(pair.got.flatten()[0].expand(pair.shape)):
        return None
    return f"{pair.each} is {_brief(float(pair.got.flatten()[0]))}" if pair.different(2) else ""


def _factor(pair: _Pair) -> Saying:
    if not pair.numbers or not pair.right.isfinite().any():
        return None
    place = pair.right.abs().nan_to_num(0.0, 0.0, 0.0).flatten().argmax()
    base = float(pair.right.flatten()[place])
    factor = float(pair.got.flatten()[place]) / base if base else 1.0
    if abs(factor - 1) < CLOSE_TO_ONE:
        return None
    text = f"{{each}} is {_brief(factor)} times what it should be"
    return _relation(pair, factor * pair.right, text, pair.different(2, pair.right[pair.right != 0].abs()))


def _offset(pair: _Pair) -> Saying:
    if not pair.numbers:
        return None
    offset = float((pair.got - pair.right)[pair.wrong].flatten()[0])
    text = f"{{each}} is too {'large' if offset > 0 else 'small'} by {_brief(abs(offset))}"
    return _relation(pair, pair.right + offset, text, pair.different(2))


FUNCTIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "1 divided by what it should be": torch.reciprocal,
    "1 minus what it should be": lambda right: 1 - right,
    "the square of what it should be": torch.square,
    "the square root of what it should be": torch.sqrt,
    "the exponential of what it should be": torch.exp,
    "the logarithm of what it should be": torch.log,
    "what it should be without its sign": torch.abs,
}


def _function(words: str, pair: _Pair) -> Saying:
    if not pair.numbers:
        return None
    other = FUNCTIONS[words](pair.right)
    changed = pair.right[(other - pair.right).abs() > CLOSE_TO_ONE * pair.right.abs()]  # the square of 1 shows nothing
    return _relation(pair, other, f"{{each}} is {words}", pair.different(2, changed))


def _affine(pair: _Pair) -> Saying:
    if not pair.numbers or not pair.right.isfinite().all():
        return None
    ends = torch.stack([pair.right.flatten().argmin(), pair.right.flatten().argmax()])
    (a, b), (x, y) = (values.flatten()[ends].tolist() for values in (pair.right, pair.got))
    if a == b:
        return "" if pair.plain else None
    factor = (y - x) / (b - a)
    offset = x - factor * a
    if not factor or not pair.is_near(factor * pair.right + offset):
        return None
    if abs(factor - 1) < CLOSE_TO_ONE or pair.is_near(factor * pair.right) or not pair.different(3):
        return ""
    rest = f"{'plus' if offset > 0 else 'minus'} {_brief(abs(offset))}"
    return f"{pair.each} is {_brief(factor)} times what it should be, {rest}"


# ------------------------------------------------------------------------------------------------- entries elsewhere


def _unit(pair: _Pair, d: int, n: int = 2) -> str:
    """The word for slices along a dimension, which is counted from the end."""
    if d == -1 and pair.ndim == 1:
        return "entry" if n == 1 else "entries"
    if d in (-1, -2):
        return f"{'column' if d == -1 else 'row'}{'' if n == 1 else 's'}"
    return f"slice{'' if n == 1 else 's'} along dimension {pair.ndim + d}"


def _permuted(d: int, pair: _Pair) -> Saying:
    """The right slices along a dimension, in another order."""
    if pair.ndim < -d or not pair.numbers or pair.right.numel() > MOST_ENTRIES:
        return None
    order, free = [], list(range(pair.shape[d]))
    for got in pair.got.unbind(d):
        found = next((i for i in free if torch.allclose(got, pair.right.select(d, i), rtol=1e-4, atol=1e-7)), None)
        if found is None:
            return None
        order.append(found)
        free.remove(found)
    units, size = _unit(pair, d), len(order)
    if order == list(reversed(range(size))):
        how = "are in reverse order" if size > 2 else "are swapped"
    else:
        how = f"are in another order{f': {order}'.replace('[', '').replace(']', '') if size <= LISTED else ''}"
    return f"the {units} of {pair.what} {how}" if pair.different(3) else ""


def _moved(d: int, by: int, pair: _Pair) -> Saying:
    """Each slice along a dimension is what its neighbour should be."""
    if pair.ndim < -d or not pair.numbers or pair.shape[d] < 2:
        return None
    n = pair.shape[d] - 1
    right = pair.right.narrow(d, 0 if by > 0 else 1, n)
    got = pair.got.narrow(d, 1 if by > 0 else 0, n)
    if not torch.allclose(got, right, rtol=1e-4, atol=1e-7):
        return None
    place, before = ("first", "before") if by > 0 else ("last", "after")
    unit = _unit(pair, d, 1)
    text = f"each {unit} of {pair.what} but the {place} is what the {unit} {before} it should be"
    return text if n >= 2 and pair.different(3, right) else ""


def _shuffled_rows(pair: _Pair) -> Saying:
    if pair.ndim < 2 or not pair.numbers:
        return None
    same = torch.allclose(pair.got.sort(-1).values, pair.right.sort(-1).values, rtol=1e-4, atol=1e-7)
    enough = pair.shape[-1] > 2 and pair.different(3)
    return (f"each row of {pair.what} has the right entries in another order" if enough else "") if same else None


def _elsewhere(pair: _Pair) -> Saying:
    if not pair.numbers:
        return None
    got, right = (values.flatten().sort().values for values in (pair.got, pair.right))
    same = torch.allclose(got, right, rtol=1e-4, atol=1e-7)
    return (f"{pair.what} has the right entries in the wrong places" if pair.different(4) else "") if same else None


# --------------------------------------------------------------------------------------------------- rows that sum to 1


def _sums_to_one(values: torch.Tensor, d: int, room: float = 1e-5) -> torch.Tensor:
    """Whether sums are 1 up to rounding. To say that one is not takes more room: half precision rounds more."""
    return (values.sum(d) - 1).abs() <= room


def _is_distribution(values: torch.Tensor) -> bool:
    return bool((values >= 0).all()) and bool(_sums_to_one(values, -1)[values.sum(-1) != 0].all())


def _columns_sum(pair: _Pair) -> Saying:
    if not pair.numbers or pair.ndim < 2 or not _is_distribution(pair.right) or not (pair.got >= 0).all():
        return None
    if not _sums_to_one(pair.got, -2).all():
        return None
    told = not _sums_to_one(pair.got, -1, HALF_PRECISION).all() and pair.shape[-2] > 1
    return f"each column of {pair.what} sums to 1 instead of each row" if told else ""


def _no_row_sums(pair: _Pair) -> Saying:
    if not pair.numbers or pair.ndim < 1 or not _is_distribution(pair.right) or not pair.right.any():
        return None
    if _sums_to_one(pair.got, -1, HALF_PRECISION).any():
        return None
    what = f"{pair.what} does not sum" if pair.ndim == 1 else f"no row of {pair.what} sums"
    return f"{what} to 1" if pair.shape[-1] > 1 else ""


def _rows_sum_to_one(pair: _Pair) -> Saying:
    if not pair.numbers or pair.ndim < 1 or not (pair.got >= 0).all() or not _sums_to_one(pair.got, -1).all():
        return None
    if _sums_to_one(pair.right, -1, HALF_PRECISION).any():
        return None
    what = f"{pair.what} sums" if pair.ndim == 1 else f"each row of {pair.what} sums"
    return f"{what} to 1, as after a softmax, but should not" if pair.shape[-1] > 1 else ""


# ------------------------------------------------------------------------------------------------------------ places


def _zeros(pair: _Pair) -> Saying:
    zero = pair.right == 0
    if not pair.numbers or not zero.any():
        return None
    if not pair.wrong[~zero].any():
        return "" if zero.all() else f"only entries of {pair.what} that should be 0 are wrong"
    if not pair.wrong[zero].all():
        return None
    small = (pair.wrong & (pair.got < pair.right))[~zero].all()
    return f"entries of {pair.what} that should be 0 are not{', and the others are too small' if small else ''}"


REGIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "the diagonal": lambda wrong: wrong ^ wrong.triu(1) ^ wrong.tril(-1),
    "what is above the diagonal": lambda wrong: wrong.triu(1),
    "what is below the diagonal": lambda wrong: wrong.tril(-1),
    "what is beside the diagonal": lambda wrong: wrong.triu(1) | wrong.tril(-1),
}


def _region(name: str, pair: _Pair) -> Saying:
    if pair.ndim < 2 or pair.shape[-1] != pair.shape[-2] or not torch.equal(REGIONS[name](pair.wrong), pair.wrong):
        return None
    return f"in {pair.what}, only {name} is wrong{_all_the_same(pair)}" if pair.shape[-1] > 2 else ""


def _triangles(pair: _Pair) -> Saying:
    """Booleans that are wrong one way above the diagonal, and the other way below it."""
    if pair.numbers or pair.ndim < 2 or pair.wrong.tril(-1).logical_xor(pair.wrong.tril(0)).any():
        return None
    above, below = (pair.got[region] for region in (pair.wrong.triu(1), pair.wrong.tril(-1)))
    if not (len(above) and len(below)) or len({*above.tolist()} | {not v for v in below.tolist()}) > 1:
        return None
    return f"the wrong entries of {pair.what} are {bool(above[0])} above the diagonal, and {bool(below[0])} below it"


def _slices(d: int, pair: _Pair) -> list[bool] | None:
    """For each slice along a dimension whether it has a wrong entry; None if there is no such dimension."""
    if pair.ndim < -d:
        return None
    others = [k for k in range(-pair.ndim, 0) if k != d]
    return list(pair.wrong.any(dim=others).tolist() if others else pair.wrong.tolist())


def _place(which: str, d: int, pair: _Pair) -> Saying:
    """Wrong entries that are all in certain slices along a dimension."""
    bad = _slices(d, pair)
    if bad is None:
        return None
    n, right = len(bad), bad.count(False)
    one, many = _unit(pair, d, 1), _unit(pair, d)
    holds, text = {
        "last": (n > 1 and bad == [False] * (n - 1) + [True], f"only the last {one} of {pair.what} is wrong"),
        "first": (n > 1 and bad == [True] + [False] * (n - 1), f"only the first {one} of {pair.what} is wrong"),
        "all but the first": (
            n > 1 and bad == [False] + [True] * (n - 1),
            f"only the first {one} of {pair.what} is right",
        ),
        "all but the last": (
            n > 1 and bad == [True] * (n - 1) + [False],
            f"only the last {one} of {pair.what} is right",
        ),
        "from some on": (
            0 < right < n and bad == [False] * right + [True] * (n - right),
            f"the first {right} {many} of {pair.what} are right, and all after them wrong",
        ),
        "every second": (
            n > 1 and bad in ([bool(i % 2) for i in range(n)], [not i % 2 for i in range(n)]),
            f"only every second {one} of {pair.what} is wrong",
        ),
    }[which]
    least = 4 if which == "every second" else 3 if pair.wrong.select(d, 0).numel() < 4 else 2
    return (f"{text}{_all_the_same(pair)}" if n >= least else "") if holds else None


def _all_the_same(pair: _Pair) -> str:
    """The number that all wrong entries are, if the right ones differ."""
    got = pair.got[pair.wrong]
    if len(got) < 2 or not pair.numbers or pair.different(2, got) or not pair.different(2, pair.right[pair.wrong]):
        return ""
    return f": all wrong entries are {_brief(float(got[0]))}"


# --------------------------------------------------------------------------------------------- numbers, if nothing else


def _nan(pair: _Pair) -> Saying:
    if pair.finite:
        return None
    got, n = pair.got[pair.wrong], pair.wrong.numel()
    what = "NaN" if got.isnan().all() else "infinite" if got.isinf().all() else "NaN or infinite"
    if pair.wrong.all():
        return f"{pair.what} is {what}" if pair.plain else f"every entry of {pair.what} is {what}"
    if torch.equal(pair.wrong, pair.right == 0):
        return f"entries of {pair.what} that should be 0 are {what}"
    return f"{len(got)} of {n} entries of {pair.what} are {what}"


def _too(word: str, than: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], pair: _Pair) -> Saying:
    """All wrong entries are wrong in the same direction; an item of a list may be a label, which has none."""
    label = isinstance(pair.difference.expected, int) and pair.difference.where.endswith("]")
    if label or not pair.numbers or not than(pair.got, pair.right)[pair.wrong].all():
        return None
    wrong, n = int(pair.wrong.sum()), pair.wrong.numel()
    if pair.plain:
        return f"{pair.what} is too {word}"
    if wrong == n:
        return f"all {n} entries of {pair.what} are too {word}"
    return f"{wrong} of {n} entries of {pair.what} {'is' if wrong == 1 else 'are'} too {word}"


def _one_answer(pair: _Pair) -> Saying:
    """Booleans that are all wrong in the same direction."""
    got = {*pair.got[pair.wrong].tolist()}
    if pair.numbers or len(got) > 1:
        return None
    (given,) = got
    wrong, n = int(pair.wrong.sum()), pair.wrong.numel()
    if pair.plain:
        return f"{pair.what} is {given} where it should be {not given}"
    return f"{wrong} of {n} entries of {pair.what} {'is' if wrong == 1 else 'are'} {given} and should be {not given}"


def _how_many(pair: _Pair) -> Saying:
    wrong, n = int(pair.wrong.sum()), pair.wrong.numel()
    if pair.plain:
        return f"{pair.what} is wrong"
    which, verb = (f"all {n}", "are") if wrong == n else (f"{wrong} of {n}", "is" if wrong == 1 else "are")
    return f"{which} entries of {pair.what} {verb} wrong"


DIMENSIONS = (-1, -2, -3, -4)
WHICH = ("last", "first", "all but the first", "all but the last", "every second", "from some on")
# What tells more comes first
RELATIONS: tuple[Callable[[_Pair], Saying], ...] = (
    *(_nan, _signs, _inverted, _transposed, _constant, _factor, _offset),
    *(partial(_function, words) for words in FUNCTIONS),
    *(partial(_permuted, d) for d in DIMENSIONS),
    *(partial(_moved, d, by) for d in DIMENSIONS for by in (1, -1)),
    *(_transposed_and_more, _shuffled_rows, _elsewhere, _affine),
)
PLACES: tuple[Callable[[_Pair], Saying], ...] = (
    *(_columns_sum, _no_row_sums, _rows_sum_to_one, _zeros),
    _triangles,
    *(partial(_region, name) for name in REGIONS),
    *(partial(_place, which, d) for which in WHICH for d in reversed(DIMENSIONS)),
)
DIRECTIONS: tuple[Callable[[_Pair], Saying], ...] = (
    *(_one_answer, partial(_too, "large", torch.gt), partial(_too, "small", torch.lt)),
    partial(_too, "far from 0", lambda got, right: got.abs() > right.abs()),
    partial(_too, "close to 0", lambda got, right: got.abs() < right.abs()),
    _how_many,
)
