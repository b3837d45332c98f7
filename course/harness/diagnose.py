"""Diagnosis of a wrong answer: known mistakes with equal outcomes, or a common slip.

Grading and the learner's own `check` share this rule. A mistake is named if it *explains* at least half of the lost
criteria and *loses* none that the answer earned; two are named together if they explain every lost criterion between
them. A weaker match is hedged: "Possibly: …". docs/judging.md has the full rule.

Does not cover: whether an answer is right (`course.harness.compare`), how mistakes are run (the callers).
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeVar

import torch

from .fingerprints import same_fingerprint
from .messages import Finding
from .program import Observation
from .sentences import also, numbered, possibly, split_sentence
from .serialization import Node
from .slips import NO_SLIP, Slip
from .tolerance import Tolerance

T = TypeVar("T")


@dataclass(frozen=True)
class TaggedFinding(Finding):
    """A checker's finding, whose tag identifies a mistake by `MistakeOutcomes.when`."""

    tag: str = ""


@dataclass(frozen=True, eq=False)
class MistakeOutcomes:
    """A known mistake's outcomes, separately for each value of a varied constant.

    outcomes  observation of every case
    misses    indices of the cases that it fails
    when      the tag of a finding that identifies this mistake; "": none
    """

    name: str
    outcomes: Sequence[Observation]
    misses: frozenset[int]
    when: str = ""


@dataclass(frozen=True)
class Diagnosis:
    """Explanation of a wrong answer: known mistakes (none, one or two), or a common slip.

    sure      False: the mistake or slip may be one of several things that are wrong
    explains  for each criterion (or example) the mistake that alone explains it; "": none
    slip      a common slip, if no mistake is named
    """

    names: tuple[str, ...] = ()
    sure: bool = True
    explains: tuple[str, ...] = ()
    slip: Slip = NO_SLIP

    def explain(self, texts: Mapping[str, str]) -> tuple[str, str]:
        """The headline and the advice for the learner; "" for none.

        texts  the mistakes' own texts by name: their first sentence is the headline

        An unsure mistake is hedged. An unsure slip is advice, since it explains a minority of what is wrong.
        """
        if self.slip and not self.sure:
            return "", also(self.slip.text)
        parts = [split_sentence(texts[name]) for name in self.names] or [split_sentence(self.slip.text)]
        if len(parts) == 1:
            ((headline, advice),) = parts
            return (headline if self.sure else possibly(headline)), advice
        return numbered([headline for headline, _ in parts]), numbered([advice for _, advice in parts], "For ({}): ")


def diagnose(
    seen: Sequence[Observation],
    findings: Sequence[Finding | None],
    groups: Sequence[Collection[int]],
    known: Iterable[MistakeOutcomes],
    slips: Sequence[Slip] = (),
) -> Diagnosis:
    """Find the known mistakes that explain an answer's failures.

    seen, findings  observation and finding of every case
    groups          indices of the cases of every criterion
    slips           the common slip in every case (`course.harness.slips`)
    """
    return _Search(seen, findings, groups, list(known), slips or [NO_SLIP] * len(seen)).found()


class _Search:
    """One answer compared with every known mistake. Each comparison runs at most once."""

    def __init__(
        self,
        seen: Sequence[Observation],
        findings: Sequence[Finding | None],
        groups: Sequence[Collection[int]],
        known: list[MistakeOutcomes],
        slips: Sequence[Slip],
    ) -> None:
        self.seen, self.findings, self.known, self.slips = seen, findings, known, slips
        self.failing = [[i for i in group if findings[i]] for group in groups]
        self.lost = [failing for failing in self.failing if failing]
        self.all = [i for failing in self.lost for i in failing]
        self.earned = {i for group, failing in zip(groups, self.failing, strict=True) if not failing for i in group}
        self.tags = {finding.tag for finding in findings if isinstance(finding, TaggedFinding)} - {""}
        self._same: dict[tuple[int, int, bool], bool] = {}

    def found(self) -> Diagnosis:
        every = range(len(self.known))
        exact = [k for k in every if self.known[k].misses.issubset(self.all)]
        likely = [k for k in every if not self.known[k].misses & self.earned]
        explains = tuple(self._only(failing, likely) for failing in self.failing)
        if names := self._single_mistake(exact):
            return Diagnosis(names, True, explains)
        if self._yes_or_no():  # wrong booleans are always equal: they are evidence only together with right ones
            names = self._nearest(likely)
            return Diagnosis(names, not names, explains)
        if names := self._two_mistakes(exact) or self._single_mistake(likely) or self._one_each(explains):
            return Diagnosis(names, True, explains)
        name, count = _most(explains, "")
        slip, cases = _most([_most([self.slips[i] for i in failing], NO_SLIP)[0] for failing in self.lost], NO_SLIP)
        sure = 2 * count >= len(self.lost)
        plain = 2 * cases >= len(self.lost)
        if name and sure:
            return Diagnosis((name,), True, explains)
        if slip and plain and cases >= count:  # a certain slip is better than a guess
            return Diagnosis((), True, explains, slip)
        if name and self._is_telling(name, likely) and self._is_alike(name):
            return Diagnosis((name,), False, explains)
        name, count = _most([self._only(failing, every) for failing in self.lost], "")
        if 2 * count >= len(self.lost) and not plain and self._is_alike(name):
            return Diagnosis((name,), False, explains)
        return Diagnosis((), plain or not slip or self._stops(slip), explains, slip)

    def _stops(self, slip: Slip) -> bool:
        """Whether a case with this slip raised an exception where a result was expected."""
        return any(
            self.slips[i] == slip and self.seen[i].raised is not None and not finding.text.startswith("expected ")
            for i, finding in enumerate(self.findings)
            if finding
        )

    def _yes_or_no(self) -> bool:
        """Whether every wrong result is a plain boolean."""
        given = [list(self.seen[i].values.values()) for i in self.all]
        return all(values and all(isinstance(value, bool) for value in values) for values in given)

    def _nearest(self, among: Iterable[int]) -> tuple[str, ...]:
        """The one mistake that shares most failing cases, at least four fifths.

        An answer that is wrong in both directions matches no mistake that is wrong in only one.
        """
        ways = self._answers(self.seen, self.all)
        near: dict[str, float] = {}
        for mistake, both in ((self.known[k], sum(self._explains(k, i, False) for i in self.all)) for k in among):
            if self._answers(mistake.outcomes, mistake.misses) == ways:
                near[mistake.name] = max(
                    near.get(mistake.name, 0.0), both / max(1, len(mistake.misses.union(self.all)))
                )
        best = max(near.values(), default=0.0)
        names = tuple(name for name, share in near.items() if share == best)
        return names if best >= 4 / 5 and len(names) == 1 else ()

    def _is_telling(self, name: str, among: Iterable[int]) -> bool:
        """Whether more than one number, which may agree by chance, indicates this mistake."""
        like = {i for k in among if self.known[k].name == name for i in self.all if self._explains(k, i, True)}
        tagged = any(k.name == name and k.when in self.tags for k in self.known)
        return tagged or len(like) > 1 or any(_size(list(self.seen[i].values.values())) != 1 for i in like)

    def _is_alike(self, name: str) -> bool:
        """Whether the answer equals this mistake in half of the cases that one of the two fails, or is tagged."""
        return any(
            known.when in self.tags
            or 2 * sum(self._explains(k, i, True) for i in self.all) >= len(known.misses.union(self.all))
            for k, known in enumerate(self.known)
            if known.name == name
        )

    @staticmethod
    def _answers(outcomes: Sequence[Observation], cases: Iterable[int]) -> set[str]:
        """The different results of these cases."""
        return {repr(list(outcomes[i].values.values())) for i in cases}

    def _single_mistake(self, among: Iterable[int]) -> tuple[str, ...]:
        """The mistake that explains everything that is wrong."""
        name = self._only(self.all, among)
        return (name,) if name else ()

    def _two_mistakes(self, among: list[int]) -> tuple[str, ...]:
        """Two mistakes that explain the answer together, the one that explains more first.

        Where both fail, their combined outcome may equal neither and is no evidence; where only one fails, the answer
        has to equal it. Each mistake explains such cases, and together they explain half of the lost criteria.
        """
        like = {k: {i for i in self.all if self._explains(k, i, True)} for k in among}
        found: dict[tuple[str, ...], int] = {}
        for j, k in combinations([k for k in among if like[k]], 2):
            explained = like[j] | like[k]
            if self._apart(j, k, like) and 2 * sum(map(explained.issuperset, self.lost)) >= len(self.lost):
                names = tuple(self.known[n].name for n in sorted((j, k), key=lambda n: -len(like[n])))
                found[names] = max(found.get(names, 0), len(like[j]) + len(like[k]))
        best = [names for names, count in found.items() if count == max(found.values())]
        return best[0] if len(best) == 1 else ()

    def _one_each(self, explains: tuple[str, ...]) -> tuple[str, ...]:
        """Two mistakes that each explain some lost criteria, and together all of them."""
        names = sorted(set(explains) - {""}, key=lambda name: (-explains.count(name), explains.index(name)))
        return tuple(names) if len(names) == 2 and sum(map(bool, explains)) == len(self.lost) else ()

    def _apart(self, j: int, k: int, like: Mapping[int, set[int]]) -> bool:
        """Whether the answer equals each where only it fails, and fails nowhere else."""
        first, second = self.known[j], self.known[k]
        alone = like[j] - second.misses, like[k] - first.misses
        rest = set(self.all) - like[j] - like[k]
        return first.name != second.name and all(alone) and rest <= (first.misses & second.misses)

    def _only(self, cases: list[int], among: Iterable[int]) -> str:
        """The one mistake that explains all these cases; "" for none or several."""
        if not cases:
            return ""
        among = list(among)
        fitting = [k for k in among if all(self._explains(k, i, False) for i in cases)]
        fitting = fitting or [k for k in among if all(self._explains(k, i, True) for i in cases)]
        if len({self.known[k].name for k in fitting}) > 1:  # the other cases may distinguish them
            agree = {
                k: sum(self._same_outcome(k, i, o) for o in (False, True) for i in range(len(self.seen)))
                for k in fitting
            }
            fitting = [k for k in fitting if agree[k] == max(agree.values())]
        names = {self.known[k].name for k in fitting}
        return names.pop() if len(names) == 1 else ""

    def _explains(self, k: int, i: int, own_words: bool) -> bool:
        """Whether mistake k, too, fails case i, with an equal outcome or by its tag.

        With a tag the outcomes may differ, since chance may have a part in them.
        """
        mistake = self.known[k]
        return i in mistake.misses and (mistake.when in self.tags or self._same_outcome(k, i, own_words))

    def _same_outcome(self, k: int, i: int, own_words: bool) -> bool:
        key = k, i, own_words
        if key not in self._same:
            self._same[key] = same_outcome(self.seen[i], self.known[k].outcomes[i], own_words=own_words)
        return self._same[key]


def _size(value: Any) -> int:
    """How many numbers a result holds."""
    if isinstance(value, torch.Tensor):
        return value.numel()
    return sum(map(_size, value)) if isinstance(value, (list, tuple)) else 1


def _most(found: Sequence[T], nothing: T) -> tuple[T, int]:
    """The most frequent of those found, the first of several, and its count."""
    something = [one for one in found if one]
    most = max(something, key=something.count, default=nothing)
    return most, something.count(most)


def same_outcome(seen: Observation, other: Observation, *, own_words: bool = False) -> bool:
    """Whether two observations are equal: NaN equals NaN, errors by type and message.

    own_words  ignore the message if a line of the learner's own code raises the error
    """
    if (seen.raised is None) != (other.raised is None):
        return False
    if seen.raised is not None and other.raised is not None:
        if own_words and re.search(rf"\braise {re.escape(seen.raised['type'])}\b|\bassert\b", seen.raised["line"]):
            return bool(seen.raised["type"] == other.raised["type"])
        return all(seen.raised[key] == other.raised[key] for key in ("type", "message"))
    if (seen.gradients is None) != (other.gradients is None) or seen.changed.keys() != other.changed.keys():
        return False
    return _same(list(seen.values.values()), list(other.values.values())) and _same(seen.gradients, other.gradients)


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        if not a.is_floating_point():
            return torch.equal(a, b)
        size = b.double().abs().nan_to_num(0.0, 0.0, 0.0)
        largest = float(size.max()) if size.numel() else 0.0
        room = Tolerance.of(a.dtype)
        return torch.allclose(a.double(), b.double(), rtol=room.rtol, atol=room.atol * largest, equal_nan=True)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(a[k], b[k]) for k in a)
    if isinstance(a, Node) and isinstance(b, Node):
        if a.kind == b.kind == "module":  # a mistake's class has its own name
            return _same(a.fields.get("training"), b.fields.get("training"))
        if a.kind == b.kind == "sketch":
            return same_fingerprint(a, b)
        return a.kind == b.kind and _same(a.fields, b.fields)
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-6) or (a != a and b != b)
    return type(a) is type(b) and bool(a == b)
