"""Compares an observation with a reference, rung by rung.

The first rung that is missed is the finding: raised, structure, type, shape, dtype, device, finite, values,
gradient, unchanged. Findings tell shapes, positions and sizes of errors, and never an expected value.

Comparisons are written so that NaN loses, nothing is broadcast and nothing is converted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from .coercion import coerce_types
from .errors import in_words, names_argument
from .program import Observation
from .serialization import Node
from .tolerance import TOLERANCES, Tolerance, allowed_error, rounding


@dataclass(frozen=True)
class Finding:
    """The first rung that an observation missed, in words."""

    stage: str
    text: str


@dataclass(eq=False)
class Reference:
    """What a right answer gives.

    exact               observed with the inputs in float64, on the CPU
    native              observed with the inputs in their own dtype: the expected dtypes, and how much rounding matters
    nonfinite_gradient  where the exact gradient is not finite: "any" gradient is accepted, or only a "finite" one
    tolerance           instead of the dtype's own
    invalid_arguments   for a call that must raise ValueError: argument name -> its value
    check_unchanged     whether changing an argument in place is checked here, rather than in a criterion of its own
    may_change          inputs that the exercise exists to change
    check_types         whether dtype and type are checked here, rather than in a criterion of their own (`coercion.py`)
    input_magnitude     the largest magnitude among the inputs' numbers (see `tolerance.py`)
    checker             instead of comparing numbers: `checker(seen, exact)` returns what is wrong, or None
    must_not_raise      only the absence of a ValueError is checked
    device_only         only the device of the results is checked (see `device_check.py`)
    result_names        what the contract calls the items of a result of several
    """

    exact: Observation
    native: Observation
    nonfinite_gradient: str = "any"
    tolerance: Tolerance | None = None
    invalid_arguments: dict[str, Any] = field(default_factory=dict)
    check_unchanged: bool = False
    may_change: frozenset[str] = frozenset()
    check_types: bool = True
    input_magnitude: float = 0.0
    checker: Callable[[Observation, Observation], str | Finding | None] | None = None
    must_not_raise: bool = False
    device_only: bool = False
    result_names: tuple[str, ...] = ()


def compare(seen: Observation, reference: Reference, device: str = "cpu") -> Finding | None:
    """The first rung that `seen` misses; None where it is right."""
    if reference.exact.raised is not None:
        return _compare_error(seen, reference)
    if seen.raised is not None:
        return Finding("raised", in_words(seen.raised))
    if not reference.check_types:
        reference = replace(reference, tolerance=_room(reference))
        seen = coerce_types(seen, reference.native)
    pairs = []
    for name, expected in reference.native.values.items():
        finding = _compare_structure(seen.values.get(name), expected, "the result", reference.result_names)
        if finding:
            return finding
        three = (seen.values[name], expected, reference.exact.values[name])
        pairs += list(zip(*(leaves(value, parts=reference.result_names) for value in three), strict=True))
    if elsewhere := wrong_device(seen, device):
        return elsewhere
    for (where, found), (_, native), (_, exact) in pairs:
        finding = _compare_leaf(found, native, exact, where, reference)
        if finding:
            return finding
    if reference.exact.gradients is not None:
        finding = _compare_gradients(seen, reference)
        if finding:
            return finding
    for name in seen.changed if reference.check_unchanged else ():
        if name.split(".")[0].split("[")[0] not in reference.may_change:
            return Finding("unchanged", f"the call changed its argument `{name}` in place; work on a new tensor")
    return None


def _room(reference: Reference) -> Tolerance:
    """Where form is not judged: float32's tolerance, in which working in float32 is no error, or the case's own. Half
    precision is no slip of form: its numbers are wrong."""
    room = TOLERANCES[torch.float32]
    own = reference.tolerance or room
    return Tolerance(max(own.rtol, room.rtol), max(own.atol, room.atol))


def wrong_device(seen: Observation, device: str) -> Finding | None:
    for where in seen.devices:
        if where != device:
            return Finding("device", f"the result is on {where}, the inputs are on {device}")
    return None


def leaves(value: Any, where: str = "the result", parts: Sequence[str] = ()) -> Iterator[tuple[str, Any]]:
    """Every value inside nested lists, tuples and dicts, with the place where it stands; dicts in the order of their
    keys, since the order in which they were filled says nothing. `parts`: see `_places`."""
    if isinstance(value, (list, tuple)):
        for place, item in zip(_places(value, where, parts), value, strict=True):
            yield from leaves(item, place)
    elif isinstance(value, dict):
        for key in sorted(value, key=str):
            yield from leaves(value[key], f"{where}[{key!r}]")
    else:
        yield where, value


def _places(items: Sequence[Any], where: str, parts: Sequence[str]) -> list[str]:
    """What each item of a list or tuple is called: by `parts` where they are as many, else by its number."""
    named = len(parts) == len(items) > 0
    return [f"`{part}`" for part in parts] if named else [f"{where}[{index}]" for index in range(len(items))]


def kind(value: Any) -> str:
    """What a value is, for a sentence."""
    if isinstance(value, Node):
        return f"a {str(value.fields.get('type', value.kind))[:80]}"
    if value is None:
        return "None"
    if isinstance(value, torch.Tensor):
        return "a tensor"
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of {len(value)}"
    return f"a{'n' if isinstance(value, int) and not isinstance(value, bool) else ''} {type(value).__name__}"


def _compare_structure(found: Any, expected: Any, where: str, parts: Sequence[str] = ()) -> Finding | None:
    if isinstance(expected, (list, tuple)):
        places = _places(expected, where, parts)
        named = f": {', '.join(places)}" if len(parts) == len(expected) > 0 else ""
        if not isinstance(found, (list, tuple)):
            hint = "; is the `return` missing?" if found is None else ""
            return Finding("structure", f"{where} is {kind(found)}, and must be {kind(expected)}{named}{hint}")
        if len(found) != len(expected):
            return Finding("structure", f"{where} has {len(found)} items, and must have {len(expected)}{named}")
        for a, b, place in zip(found, expected, places, strict=True):
            finding = _compare_structure(a, b, place)
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
        module = isinstance(expected, Node) and expected.kind == "module"  # whose class is the oracle's own
        wanted = "an nn.Module" if module else kind(expected)
        return Finding("type", f"{where} is {kind(found)}, and must be {wanted}{hint}")
    return None


def _compare_leaf(found: Any, native: Any, exact: Any, where: str, reference: Reference) -> Finding | None:
    tolerance = reference.tolerance
    if isinstance(native, torch.Tensor):
        if found.shape != native.shape:
            return Finding("shape", f"{where} has shape {tuple(found.shape)}, and must have {tuple(native.shape)}")
        if found.dtype != native.dtype:
            return Finding("dtype", f"{where} has dtype {_short(found.dtype)}, and must have {_short(native.dtype)}")
        floor = rounding(native.dtype, reference.input_magnitude) if native.is_floating_point() else 0.0
        return _compare_tensors(found, exact, native, where, tolerance or Tolerance.of(native.dtype), floor)
    if isinstance(native, float):
        one, right, rounded = (torch.tensor(float(v), dtype=torch.float64) for v in (found, exact, native))
        floor = rounding(torch.float32, reference.input_magnitude)
        return _compare_tensors(one, right, rounded, where, tolerance or TOLERANCES[torch.float32], floor)
    if isinstance(native, Node):
        return None
    return None if found == native else Finding("values", f"{where} is {_answered(found, native)}")


def _answered(found: Any, right: Any) -> str:
    """A wrong answer, and what may be said of it: the other one of two tells itself, a number in which direction."""
    if isinstance(right, bool):
        return f"{found}, and must be {right} here"
    if isinstance(right, int):
        shown = str(found) if found.bit_length() < 100 else "a number of many digits"
        return f"{shown}, which is too {'small' if found < right else 'large'}"
    return f"{found[:80]!r}, which is not what it must be"


def _compare_tensors(
    found: torch.Tensor,
    exact: torch.Tensor,
    native: torch.Tensor,
    where: str,
    tolerance: Tolerance,
    floor: float,
    rung: str = "values",
) -> Finding | None:
    if not exact.is_floating_point():
        wrong = found != exact
        if not wrong.any():
            return None
        first = tuple(wrong.nonzero()[0].tolist())
        return Finding(rung, f"{where}: {_share(wrong)} are wrong, the first at {first}")
    found = found.double()
    # Within rtol of every number is right, whatever room there is besides; NaN is near nothing, infinity itself alone
    if torch.allclose(found, exact.double(), rtol=tolerance.rtol, atol=0.0):
        return None
    allowed = allowed_error(exact, native, tolerance, floor)
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
        f"(allowed {float(allowed.flatten()[worst]):.2g})",
    )


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
        if reference.nonfinite_gradient == "finite" and not torch.isfinite(got).all():
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
            rounding(got.dtype, max(reference.input_magnitude, 1.0)),  # cotangents are about 1
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
        return Finding("raised", f"must raise {expected['type']} here; {in_words(seen.raised)}")
    message = seen.raised["message"]
    if reference.invalid_arguments and not any(
        names_argument(message, name, value) for name, value in reference.invalid_arguments.items()
    ):
        wanted = " or ".join(f"`{name}`" for name in reference.invalid_arguments)
        return Finding("message", f"the message of the {expected['type']} must name {wanted} and its value or shape")
    return None


def _first(seen: Observation) -> str:
    return kind(next(iter(seen.values.values()), None))


def _share(wrong: torch.Tensor) -> str:
    count, total = int(wrong.sum()), wrong.numel()
    return f"{count} / {total} ({100 * count / total:.1f}%)"


def _short(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
