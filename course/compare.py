"""Compares an observation with a reference, rung by rung, and an observation with the outcome of a mistake.

The first rung that is missed is the finding: raised, structure, type, shape, dtype, device, finite, values,
gradient, unchanged. Findings tell shapes, positions and sizes of errors, and never an expected value.

Comparisons are written so that NaN loses, nothing is broadcast and nothing is converted.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from .packing import Node
from .probe import Observation


@dataclass(frozen=True)
class Finding:
    """The first rung that an observation missed, in words."""

    rung: str
    text: str


@dataclass(frozen=True)
class Tolerance:
    """How far a number may be from the reference: rtol * |reference| + atol * (largest |reference|) + noise.

    rtol, atol are relative, from the dtype: sums of a few hundred terms in another order differ by some tens of
    units in the last place (float32: 1.2e-7, float64: 2.2e-16); the rest is room for longer formulas. `noise` is
    sixteen times what the reference itself moves when it is computed in the dtype of the case, which covers
    cancellation. float64 is held to float32-like room in rtol so that a 1e-8 guard against zero is no error.
    """

    rtol: float
    atol: float

    @staticmethod
    def of(dtype: torch.dtype) -> Tolerance:
        return TOLERANCES.get(dtype, TOLERANCES[torch.float32])


TOLERANCES = {
    torch.float64: Tolerance(1e-7, 1e-9),
    torch.float32: Tolerance(1e-4, 1e-5),
    torch.bfloat16: Tolerance(3e-2, 2e-2),
    torch.float16: Tolerance(4e-3, 2e-3),
}
NOISE_FACTOR = 16.0


@dataclass(eq=False)
class Reference:
    """What a right answer gives.

    exact      observed with the inputs in float64, on the CPU
    native     observed with the inputs in their own dtype: the expected dtypes, and how much rounding matters
    undefined  where the exact gradient is not finite: "any" gradient goes, or it need only be "finite"
    tolerance  instead of the dtype's own
    wrong      for a call that must raise ValueError: argument name -> its value
    pure       whether changing an argument in place is judged here, rather than in a criterion of its own
    mutates    inputs that the exercise exists to change
    """

    exact: Observation
    native: Observation
    undefined: str = "any"
    tolerance: Tolerance | None = None
    wrong: dict[str, Any] = field(default_factory=dict)
    pure: bool = False
    mutates: frozenset[str] = frozenset()


def compare(seen: Observation, reference: Reference, device: str = "cpu") -> Finding | None:
    """The first rung that `seen` misses; None where it is right."""
    if reference.exact.raised is not None:
        return _compare_error(seen, reference)
    if seen.raised is not None:
        return Finding("raised", _what_was_raised(seen.raised))
    pairs = []
    for name, expected in reference.native.values.items():
        finding = _compare_structure(seen.values.get(name), expected, "the result")
        if finding:
            return finding
        pairs += list(
            zip(leaves(seen.values[name]), leaves(expected), leaves(reference.exact.values[name]), strict=True)
        )
    if elsewhere := wrong_device(seen, device):
        return elsewhere
    for (where, found), (_, native), (_, exact) in pairs:
        finding = _compare_leaf(found, native, exact, where, reference.tolerance)
        if finding:
            return finding
    if reference.exact.gradients is not None:
        finding = _compare_gradients(seen, reference)
        if finding:
            return finding
    for name in seen.changed if reference.pure else ():
        if name.split(".")[0].split("[")[0] not in reference.mutates:
            return Finding("unchanged", f"the call changed its argument `{name}` in place; work on a new tensor")
    return None


def wrong_device(seen: Observation, device: str) -> Finding | None:
    for where in seen.devices:
        if where != device:
            return Finding("device", f"the result is on {where}, the inputs are on {device}")
    return None


def leaves(value: Any, where: str = "the result") -> Iterator[tuple[str, Any]]:
    """Every value inside nested lists, tuples and dicts, with the place where it stands."""
    if isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from leaves(item, f"{where}[{index}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, f"{where}[{key!r}]")
    else:
        yield where, value


def kind(value: Any) -> str:
    """What a value is, for a sentence."""
    if isinstance(value, Node):
        return f"a {value.fields.get('type', value.kind)}"
    if value is None:
        return "None"
    if isinstance(value, torch.Tensor):
        return "a tensor"
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of {len(value)}"
    return f"a{'n' if isinstance(value, int) and not isinstance(value, bool) else ''} {type(value).__name__}"


def _compare_structure(found: Any, expected: Any, where: str) -> Finding | None:
    if isinstance(expected, (list, tuple)):
        if not isinstance(found, (list, tuple)):
            hint = "; is the `return` missing?" if found is None else ""
            return Finding("structure", f"{where} is {kind(found)}, and must be {kind(expected)}{hint}")
        if len(found) != len(expected):
            return Finding("structure", f"{where} has {len(found)} items, and must have {len(expected)}")
        for index, (a, b) in enumerate(zip(found, expected, strict=True)):
            finding = _compare_structure(a, b, f"{where}[{index}]")
            if finding:
                return finding
        return None
    if isinstance(expected, dict):
        if not isinstance(found, dict) or found.keys() != expected.keys():
            return Finding("structure", f"{where} is {kind(found)}, and must be a dict with {', '.join(expected)}")
        return next(
            filter(None, (_compare_structure(found[k], expected[k], f"{where}[{k!r}]") for k in expected)), None
        )
    if isinstance(expected, Node):
        same = isinstance(found, Node) and found.kind == expected.kind
    elif isinstance(expected, bool) or expected is None or isinstance(expected, str):
        same = type(found) is type(expected)
    elif isinstance(expected, int):
        same = isinstance(found, int) and not isinstance(found, bool)
    elif isinstance(expected, float):
        same = isinstance(found, (int, float)) and not isinstance(found, bool)
    else:
        same = isinstance(found, torch.Tensor)
    if not same:
        hint = "; is the `return` missing?" if found is None else ""
        return Finding("type", f"{where} is {kind(found)}, and must be {kind(expected)}{hint}")
    return None


def _compare_leaf(found: Any, native: Any, exact: Any, where: str, tolerance: Tolerance | None) -> Finding | None:
    if isinstance(native, torch.Tensor):
        if found.shape != native.shape:
            return Finding("shape", f"{where} has shape {tuple(found.shape)}, and must have {tuple(native.shape)}")
        if found.dtype != native.dtype:
            return Finding("dtype", f"{where} has dtype {_short(found.dtype)}, and must have {_short(native.dtype)}")
        return _compare_tensors(found, exact, native, where, tolerance or Tolerance.of(native.dtype))
    if isinstance(native, float):
        one, right, rounded = (torch.tensor(v, dtype=torch.float64) for v in (found, exact, native))
        return _compare_tensors(one, right, rounded, where, tolerance or TOLERANCES[torch.float32])
    if isinstance(native, Node):
        return None
    return None if found == native else Finding("values", f"{where} is not right")


def _compare_tensors(
    found: torch.Tensor,
    exact: torch.Tensor,
    native: torch.Tensor,
    where: str,
    tolerance: Tolerance,
    rung: str = "values",
) -> Finding | None:
    if not exact.is_floating_point():
        wrong = found != exact
        if not wrong.any():
            return None
        first = tuple(wrong.nonzero()[0].tolist())
        return Finding(rung, f"{where}: {_share(wrong)} are wrong, the first at {first}")
    found = found.double()
    allowed = allowed_error(exact, native, tolerance)
    bad = ~torch.isfinite(found) & ~((found == exact) & torch.isinf(exact))
    if bad.any():
        first = tuple(bad.nonzero()[0].tolist())
        what = "NaN" if torch.isnan(found[first]) else "infinite"
        return Finding("finite" if rung == "values" else rung, f"{where}: {_share(bad)} are {what}, first at {first}")
    # `not (error <= allowed)`, so that NaN loses; equal infinities have already been let through
    error = torch.where(found == exact, torch.zeros_like(exact), (found - exact).abs())
    wrong = ~(error <= allowed)
    if not wrong.any():
        return None
    worst = int(torch.where(wrong, error - allowed, -torch.inf).nan_to_num(torch.inf).flatten().argmax())
    place = tuple(int(i) for i in torch.unravel_index(torch.tensor(worst), exact.shape)) if exact.ndim else ()
    return Finding(
        rung,
        f"{where}: mismatched elements {_share(wrong)}; greatest difference "
        f"{float(error.flatten()[worst]):.3g}{f' at {place}' if place else ''} "
        f"(allowed {float(allowed.flatten()[worst]):.1g})",
    )


def allowed_error(exact: torch.Tensor, native: torch.Tensor, tolerance: Tolerance) -> torch.Tensor:
    """Largest error allowed in each element, float64, shape of `exact` (see Tolerance)."""
    size = exact.abs().nan_to_num(0.0, 0.0, 0.0)
    largest = size.max() if size.numel() else size.sum()
    moved = (native.double() - exact).abs()
    moved = torch.where(torch.isfinite(moved), moved, 0.0)
    # A reference that is itself useless in this dtype must not open the door to anything
    noise = torch.clamp(moved.max() if moved.numel() else moved.sum(), max=1e-2 * largest)
    return tolerance.rtol * size + tolerance.atol * largest + NOISE_FACTOR * noise + 1e-300


def _compare_gradients(seen: Observation, reference: Reference) -> Finding | None:
    exact, native = reference.exact.gradients or {}, reference.native.gradients or {}
    if set(seen.detached) - set(reference.native.detached):
        return Finding("gradient", "no gradient flows through the result: it was detached, or made under no_grad")
    found = seen.gradients or {}
    for name, expected in exact.items():
        got = found.get(name)
        if expected is None or not bool(expected.ne(0).any()):
            expected = None
        if got is None:
            if expected is not None:
                return Finding("gradient", f"no gradient reaches `{name}`")
            continue
        if expected is None:
            expected = torch.zeros(got.shape, dtype=torch.float64)
        if got.shape != expected.shape:
            return Finding("gradient", f"the gradient for `{name}` has shape {tuple(got.shape)}")
        judged = torch.isfinite(expected)
        if reference.undefined == "finite" and not torch.isfinite(got).all():
            return Finding("gradient", f"the gradient for `{name}` is not finite")
        near = native.get(name)
        near = expected if near is None else near.double()
        zero = torch.zeros_like(expected)
        finding = _compare_tensors(
            torch.where(judged, got.double(), zero),
            torch.where(judged, expected, zero),
            torch.where(judged, near, zero),
            f"the gradient for `{name}`",
            reference.tolerance or Tolerance.of(got.dtype),
            "gradient",
        )
        if finding:
            return finding
    return None


def _compare_error(seen: Observation, reference: Reference) -> Finding | None:
    expected = reference.exact.raised or {}
    if seen.raised is None:
        return Finding("raised", f"must raise {expected['type']} here, and returned {_first(seen)}")
    if expected["type"] not in seen.raised["bases"]:
        return Finding("raised", f"must raise {expected['type']} here; {_what_was_raised(seen.raised)}")
    message = seen.raised["message"]
    if reference.wrong and not any(_names(message, name, value) for name, value in reference.wrong.items()):
        wanted = " or ".join(f"`{name}`" for name in reference.wrong)
        return Finding("message", f"the message of the {expected['type']} must name {wanted} and its value or shape")
    return None


def _first(seen: Observation) -> str:
    return kind(next(iter(seen.values.values()), None))


def _names(message: str, name: str, value: Any) -> bool:
    """Whether a message names an argument as a word and tells its value or shape, in any notation."""
    # A sentence may begin with the name; a name of one letter is another one in capitals
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.I if len(name) > 1 else 0)
    if not word.search(message):
        return False
    rest = word.sub(" ", message)
    numbers = [float(n) for n in re.findall(r"[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|\.\d+)", rest, re.I)]
    if isinstance(value, torch.Tensor):
        shape = [float(n) for n in value.shape]
        if shape and any(numbers[i : i + len(shape)] == shape for i in range(len(numbers))):
            return True
        if not shape and re.search(r"\(\s*\)|\[\s*\]|scalar|0-d|zero-dim|\b0\b", rest, re.I):
            return True
        elements = value.detach().double().flatten().tolist()  # as torch prints them, to four digits
        return bool(elements) and any(
            all(math.isclose(n, x, rel_tol=1e-3, abs_tol=1e-4) for n, x in zip(numbers[i:], elements))
            for i in range(len(numbers) - len(elements) + 1)
        )
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" in rest.lower() if math.isnan(value) else "inf" in rest.lower()
    if isinstance(value, (int, float)):
        return any(math.isclose(n, value, rel_tol=1e-3, abs_tol=1e-6) for n in numbers)
    return str(value) in rest


def not_written(raised: dict[str, Any] | None) -> bool:
    """Whether an exception says that there is no answer yet. torch raises NotImplementedError too, for a dtype that a
    function does not take, and then not at a `raise` of the learner's."""
    if raised is None or raised["type"] != "NotImplementedError":
        return False
    return not raised["line"] or bool(re.search(r"\braise\b", raised["line"]))


def _what_was_raised(raised: dict[str, Any]) -> str:
    if not_written(raised):
        return "not started yet: it raises NotImplementedError"
    message = " ".join(raised["message"].split())
    line = f", at the line `{raised['line']}`" if raised["line"] else ""
    return f"it raised {raised['type']}{': ' + message[:200] if message else ''}{line}"


def _share(wrong: torch.Tensor) -> str:
    count, total = int(wrong.sum()), wrong.numel()
    return f"{count} / {total} ({100 * count / total:.1f}%)"


def _short(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def same_outcome(seen: Observation, other: Observation, *, own_words: bool = False) -> bool:
    """Whether two observations cannot be told apart: NaN equals NaN here, and errors match by type and message.

    own_words: the message does not matter where a line of the learner's raises the error
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
        rtol = 1e-4 if a.dtype != torch.float64 else 1e-7
        return torch.allclose(a.double(), b.double(), rtol=rtol, atol=0.1 * rtol * largest, equal_nan=True)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(a[k], b[k]) for k in a)
    if isinstance(a, Node) and isinstance(b, Node):
        if a.kind == b.kind == "module":  # a mistake's class has a name of its own
            return _same(a.fields["training"], b.fields["training"])
        return a.kind == b.kind and _same(a.fields, b.fields)
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-6) or (a != a and b != b)
    return type(a) is type(b) and bool(a == b)


def explain(seen: list[Observation], failing: list[int], outcomes: dict[str, list[Observation]]) -> str | None:
    """The one known mistake that gives what was seen wherever it was wrong; None if none does, or several do.

    seen      observations of all cases; failing: indices of those that were wrong
    outcomes  mistake -> what it gives on the same cases
    """

    def alike(given: list[Observation], own_words: bool) -> bool:
        return all(same_outcome(seen[i], given[i], own_words=own_words) for i in failing)

    fitting = [m for m, given in outcomes.items() if alike(given, False)]
    fitting = fitting or [m for m, given in outcomes.items() if alike(given, True)]
    if len(fitting) > 1:  # told apart, if at all, by the cases that were right
        agree = {
            m: sum(
                same_outcome(a, b, own_words=w) for w in (False, True) for a, b in zip(seen, outcomes[m], strict=True)
            )
            for m in fitting
        }
        best = max(agree.values())
        fitting = [m for m in fitting if agree[m] == best]
    return fitting[0] if failing and len(fitting) == 1 else None
