"""Attention step by step with a learner's functions, and what is wrong with each step.

A broken function never raises here: its step has no values, and a sentence that says why.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import torch

from ..harness import time_limits
from ..harness.errors import exception_to_record, in_words, not_written
from ..models import small_lm
from ..models.right_functions.lesson_05 import causal_mask, masked_softmax
from ..notebook.check_run import CappedStream

MOST_WORDS = 16  # of a sentence: their maps fit beside each other, with legible numbers
MOST_LETTERS = 1000
SECONDS = 0.5  # of computing per call, which takes a millisecond; twelve times as long if it waits
CLOSE = 1e-4  # differences below are rounding
NAMES = ("scores", "mask", "weights", "output")
BUILT_IN = "built-in"


@dataclass(frozen=True)
class Sentence:
    """The words of a sentence, and their queries, keys (T, K) and values (T, V) in one head of the model."""

    words: list[str]
    q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor
    unknown: Sequence[str] = ()  # words that the model does not know, and that are left out
    cut: int = 0  # words beyond the first MOST_WORDS


@dataclass
class Step:
    """One of NAMES: its values (T, ...), or None, and sentences about them.

    whose   the function that computed it, for a caption
    faults  sentences, each about something wrong
    marked  bool, like `values`: the entries that are wrong
    wrong_rows  the rows with a wrong sum
    note    a sentence about something that may be on purpose
    """

    whose: str = BUILT_IN
    values: torch.Tensor | None = None
    faults: list[str] = field(default_factory=list)
    marked: torch.Tensor | None = None
    wrong_rows: list[int] = field(default_factory=list)
    note: str = ""

    def mark(self, entries: torch.Tensor, fault: str) -> None:
        """Mark entries, and say what is wrong with them."""
        self.marked = entries if self.marked is None else self.marked | entries
        self.faults.append(fault)


@dataclass
class Trace:
    """All steps for one sentence. `blocked` is the mask in use, bool (T, T); `printed` what the functions printed."""

    sentence: Sentence
    scores: Step
    mask: Step
    weights: Step
    output: Step
    blocked: torch.Tensor
    printed: str = ""

    @property
    def faults(self) -> list[str]:
        return [fault for name in NAMES for fault in getattr(self, name).faults]


def read(text: str, layer: int = 0, head: int = 0) -> Sentence:
    """Look up a text in the small model, without the words that it does not know."""
    words = small_lm.split_words(" ".join(text[:MOST_LETTERS].split()))
    known = {word.lower() for word in model().words}
    strange = [word for word in dict.fromkeys(words) if word.lower() not in known]
    words = [word for word in words if word.lower() in known]
    kept = words[:MOST_WORDS]
    if not kept:
        empty = torch.zeros(0, 1)
        return Sentence([], empty, empty, empty, strange)
    seen = model().look(" ".join(kept), layer, head)
    return Sentence(kept, seen.q, seen.k, seen.v, strange, len(words) - len(kept))


@cache
def model() -> small_lm.SmallLM:
    """The small model, loaded once."""
    return small_lm.load()


class Tracer:
    """Runs a learner's functions on sentences; None stands for the built-in one."""

    def __init__(
        self, softmax: Any = None, attention: Any = None, mask: Any = None, scale: float | None = None
    ) -> None:
        self.functions = {"softmax": softmax, "attention": attention, "mask": mask}
        self.scale = scale
        self._endless: list[Any] = []  # functions that reached the time limit, which is tried once
        self._printed = CappedStream()
        self._names: dict[str, str] | None = None  # of those functions that `follow` looks up

    def follow(self, names: Mapping[str, Any]) -> None:
        """Use the newest function of each name, in a notebook whose cells may have run again.

        The first call notes which functions have a name among `names`.
        """
        if self._names is None:
            own = {key: str(getattr(f, "__name__", "")) for key, f in self.functions.items() if f is not None}
            self._names = {key: name for key, name in own.items() if names.get(name) is self.functions[key]}
        for key, name in self._names.items():
            newest = names.get(name)
            if callable(newest):
                self.functions[key] = newest

    @property
    def takes_mask(self) -> bool:
        """Whether there can be a mask: not if the learner's attention has no argument for it."""
        return self.functions["attention"] is None or "mask" in _argument_names(self.functions["attention"])

    def trace(self, sentence: Sentence, masked: bool = True) -> Trace:
        """Compute all steps. `masked`: later words are blocked, if the functions can do it."""
        self._printed = CappedStream()
        T = len(sentence.words)
        if not T:
            return Trace(sentence, Step(), Step(), Step(), Step(), torch.zeros(0, 0, dtype=torch.bool))
        blocked = causal_mask(T)
        mask, causal = Step(), masked and self.takes_mask
        if not self.takes_mask:
            mask.note = f"{_name(self.functions['attention'])} takes no mask: every word sees every word."
        elif not masked:
            mask.note = "The mask is off: every word sees every word."
        elif self.functions["mask"] is not None:
            blocked = self._mask(mask, T, blocked)
        blocked = blocked if causal else torch.zeros_like(blocked)
        mask.values = blocked if not mask.faults or mask.marked is not None else None
        scores = self._scores(sentence)
        weights, output = Step(), Step()
        if self.functions["attention"] is None:
            self._by_softmax(sentence, scores, weights, output, blocked)
        else:
            self._by_attention(sentence, scores, weights, output, blocked)
        _look_for_faults(sentence.words, weights, blocked, causal)
        return Trace(sentence, scores, mask, weights, output, blocked, self._printed.text.strip())

    def _mask(self, step: Step, T: int, causal: torch.Tensor) -> torch.Tensor:
        """The learner's mask; the built-in's if theirs cannot be used."""
        found, step.whose = self._call("mask", step, T)
        if step.whose == BUILT_IN:
            return causal
        kept = _checked(step, "mask", found, (T, T), torch.bool)
        if kept is None:
            step.note = "The maps of weights and output use the built-in mask."
            return causal
        if (open_ := causal & ~kept).any():
            step.mark(open_, f"The mask leaves {_times(int(open_.sum()), 'cell')} above the diagonal open.")
        if closed := int((kept & ~causal).sum()):
            step.note = f"The mask blocks {_times(closed, 'cell')} on or below the diagonal."
        return kept

    def _scores(self, sentence: Sentence) -> Step:
        factor = self._factor(sentence)
        whose = f"{BUILT_IN}, ÷ √{sentence.k.shape[-1]}" if self.scale is None else f"scale, × {factor:.2g}"
        return Step(whose, sentence.q @ sentence.k.T * factor)

    def _factor(self, sentence: Sentence) -> float:
        return sentence.k.shape[-1] ** -0.5 if self.scale is None else self.scale

    def _by_softmax(self, sentence: Sentence, scores: Step, weights: Step, output: Step, blocked: torch.Tensor) -> None:
        assert scores.values is not None
        T, right = len(sentence.words), masked_softmax(scores.values, blocked)
        weights.values = right
        if (f := self.functions["softmax"]) is not None:
            if "mask" in _argument_names(f):
                found, weights.whose = self._call("softmax", weights, scores.values, blocked)
            else:
                hidden = scores.values.masked_fill(blocked, -math.inf)
                found, weights.whose = self._call("softmax", weights, hidden, dim=-1)
            if weights.whose != BUILT_IN:
                weights.values = _checked(weights, "weights", found, (T, T))
        if weights.values is None:
            output.note = "There is no output without weights."
            return
        output.values = weights.values @ sentence.v
        if (difference := _difference(weights.values, right)) > CLOSE:
            weights.note = f"They differ from those of the built-in softmax by up to {difference:.2g}."

    def _by_attention(
        self, sentence: Sentence, scores: Step, weights: Step, output: Step, blocked: torch.Tensor
    ) -> None:
        T, q, k, v, factor = len(sentence.words), sentence.q, sentence.k, sentence.v, self._factor(sentence)
        names = _argument_names(self.functions["attention"])
        options: dict[str, Any] = {"mask": blocked} if "mask" in names else {}
        options |= {"scale": factor} if self.scale is not None and "scale" in names else {}
        found, weights.whose = self._call("attention", weights, q, k, v, **options)
        output.whose = weights.whose
        if weights.whose == BUILT_IN:
            weights.values = masked_softmax(q @ k.T * factor, blocked)
            output.values = weights.values @ v
            return
        if not (isinstance(found, (tuple, list)) and len(found) == 2):
            if found is not None or not weights.faults:
                weights.faults.append(f"attention: expected (output, weights), got {_kind(found)}")
            output.note = "There is no output."
            return
        weights.values = _checked(weights, "weights", found[1], (T, T))
        output.values = _checked(output, "output", found[0], (T, v.shape[-1]))
        if weights.values is None:
            return
        if "scale" not in options:
            _find_scale(scores, weights, q @ k.T, blocked, factor)
        if output.values is not None and _difference(output.values, weights.values @ v) > CLOSE:
            output.faults.append("The output is not the weights times the values.")

    def _call(self, name: str, step: Step, *arguments: Any, **options: Any) -> tuple[Any, str]:
        """The result of the learner's function, or None, and its author. Faults are added to `step.faults`."""
        f = self.functions[name]
        whose = _name(f)
        if any(f is other for other in self._endless):
            step.faults.append(f"{_name(f)} did not end, and is not called again. Change it, and run this cell again.")
            return None, whose
        given = [a.clone() if isinstance(a, torch.Tensor) else a for a in arguments]
        options = {key: a.clone() if isinstance(a, torch.Tensor) else a for key, a in options.items()}
        gradients = torch.is_grad_enabled()
        try:
            with redirect_stdout(self._printed), redirect_stderr(self._printed), time_limits.limit(SECONDS):
                found = f(*given, **options)
        except (Exception, SystemExit, KeyboardInterrupt, time_limits.CallTimeout) as error:
            if isinstance(error, (time_limits.CallTimeout, KeyboardInterrupt)):
                self._endless.append(f)
            raised = exception_to_record(error)
            if not_written(raised):
                step.note = f"{_name(f)} is not written yet: this is the built-in's."
                return None, BUILT_IN
            step.faults.append(f"{_name(f)}: {in_words(raised)}.")
            return None, whose
        finally:
            torch.set_grad_enabled(gradients)
        if any(isinstance(a, torch.Tensor) and not _same(a, b) for a, b in zip(arguments, given, strict=True)):
            step.faults.append(f"{_name(f)} changes its argument in place.")
        return found, whose


def _argument_names(f: Callable[..., Any]) -> frozenset[str]:
    """The names of a function's parameters; none if Python cannot tell."""
    try:
        return frozenset(inspect.signature(f).parameters)
    except Exception:
        return frozenset()


def _name(f: Any) -> str:
    return str(getattr(f, "__name__", type(f).__name__))


def _kind(value: Any) -> str:
    """Describe a value, for the end of a sentence."""
    if isinstance(value, torch.Tensor):
        return f"a tensor of shape {tuple(value.shape)}."
    if value is None:
        return "None: is the `return` missing?"
    noun = type(value).__name__
    size = f" of {len(value)}" if type(value) in (tuple, list) else ""
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}{size}."


def _checked(
    step: Step, name: str, found: Any, shape: tuple[int, ...], dtype: torch.dtype | None = None
) -> torch.Tensor | None:
    """A result as a plain tensor; None if it cannot be drawn, with the reason in `step.faults`.

    dtype  None: any of floating-point numbers
    """
    if found is None and step.faults:
        return None
    if not isinstance(found, torch.Tensor):
        step.faults.append(f"{name}: expected a tensor, got {_kind(found)}")
    elif tuple(found.shape) != shape:
        step.faults.append(f"{name}: expected the shape {shape}, got {tuple(found.shape)}.")
    elif found.dtype != dtype if dtype else not found.is_floating_point():
        expected = _short(dtype) if dtype else "floating-point numbers"
        step.faults.append(f"{name}: expected {expected}, got {_short(found.dtype)}.")
    else:
        try:
            plain: torch.Tensor = found.detach().to("cpu", dtype or torch.float32).as_subclass(torch.Tensor).clone()
            return plain
        except Exception:
            step.faults.append(f"{name}: the numbers of this {type(found).__name__} cannot be read.")
    return None


def _short(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _same(a: torch.Tensor, b: torch.Tensor) -> bool:
    return a.shape == b.shape and bool(torch.equal(a.nan_to_num(nan=7.0), b.detach().nan_to_num(nan=7.0)))


def _difference(a: torch.Tensor, b: torch.Tensor) -> float:
    """The largest difference, without entries that are not finite."""
    both = a.isfinite() & b.isfinite()
    return float((a - b)[both].abs().max()) if both.any() else 0.0


def _find_scale(scores: Step, weights: Step, dots: torch.Tensor, blocked: torch.Tensor, factor: float) -> None:
    """Show the scores that belong to the weights of an attention which scales them, or does not, by itself."""
    assert weights.values is not None
    for tried in (factor, 1.0):
        if _difference(weights.values, masked_softmax(dots * tried, blocked)) <= CLOSE:
            scores.values = dots * tried
            if tried == 1.0:
                scores.whose, scores.note = f"{BUILT_IN}, × 1", f"Not scaled, as in {weights.whose}."
            return
    if weights.values.isfinite().all():
        weights.note = "They are not the softmax of these scores, with or without a scale."


def _look_for_faults(words: list[str], weights: Step, blocked: torch.Tensor, causal: bool) -> None:
    """Mark weights that are NaN, negative, given to later words, or in a row with a wrong sum."""
    values = weights.values
    if values is None or not words:
        return
    T = len(words)
    if not (finite := values.isfinite()).all():
        rows = (~finite).any(-1)
        weights.mark(~finite, f"{_times(int(rows.sum()), 'row')} of weights {_are(int(rows.sum()))} NaN or infinite.")
    if (negative := values < 0).any():
        weights.mark(negative, f"{_times(int(negative.sum()), 'weight')} {_are(int(negative.sum()))} below 0.")
    wanted = (~blocked.all(-1)).float()  # a row that is blocked as a whole has no weight
    wrong = ((values.sum(-1) - wanted).abs() > 1e-3) & finite.all(-1)
    if wrong.any():
        weights.wrong_rows = wrong.nonzero().flatten().tolist()
        first = weights.wrong_rows[0]
        weights.faults.append(
            f"{_times(int(wrong.sum()), 'row')} {'do' if wrong.sum() > 1 else 'does'} not sum to 1: the weights of "
            f"“{words[first]}” (position {first}) sum to {float(values[first].sum()):.2f}.",
        )
    later = torch.ones(T, T, dtype=torch.bool).triu(1)
    leaks = finite & (values.abs() > 1e-6) & (later if causal else torch.zeros_like(later))
    if leaks.any():
        worst = int(torch.where(leaks, values, -math.inf).argmax())
        row, column = divmod(worst, T)
        weights.mark(
            leaks,
            f"The future leaks: {_times(int(leaks.sum()), 'weight')} {_are(int(leaks.sum()))} above the diagonal. "
            f"“{words[row]}” gives {float(values[row, column]):.2f} to “{words[column]}”, which comes later.",
        )


def _times(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"
