"""Comparison of an observation with its reference, stage by stage.

The finding is the first stage that fails: raised, structure, type, shape, dtype, device, finite, values, gradient,
unchanged. Its sentences are in `messages.py`.

Comparisons are written so that NaN fails, and nothing is broadcast or converted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from . import messages
from .coercion import coerce_types
from .difference import Difference
from .errors import names_argument
from .messages import Finding
from .options import Options
from .program import Observation
from .serialization import Node
from .tolerance import TOLERANCES, Tolerance, allowed_error, rounding


@dataclass(eq=False)
class Reference:
    """The outcome of the correct answer, and what is compared with it.

    exact            observation in float64, on the CPU
    native           observation in the inputs' own dtype: the expected dtypes, and how much rounding matters
    options          how the two are compared
    wrong_arguments  for a call that must raise ValueError: argument name -> its value
    input_magnitude  largest magnitude among the inputs (see `course.harness.tolerance`)
    result_names     the contract's names for the items of a tuple of results
    """

    exact: Observation
    native: Observation
    options: Options = field(default_factory=Options)
    wrong_arguments: dict[str, Any] = field(default_factory=dict)
    input_magnitude: float = 0.0
    result_names: tuple[str, ...] = ()


def compare(seen: Observation, reference: Reference, device: str = "cpu") -> Finding | None:
    """Return the first stage that `seen` fails; None if it is right."""
    if reference.exact.raised is not None:
        return _compare_error(seen, reference)
    if seen.raised is not None:
        return messages.raised_error(seen.raised)
    given = seen
    options = reference.options
    if not options.check_types:
        reference = replace(reference, options=replace(options, tolerance=_room(options)))
        seen = coerce_types(seen, reference.native)
    pairs = []
    for name, expected in reference.native.values.items():
        finding = _compare_structure(seen.values.get(name), expected, "the result", reference.result_names, options)
        if finding:
            return finding
        four = (seen.values[name], expected, reference.exact.values[name], given.values[name])
        pairs += list(zip(*(leaves(value, parts=reference.result_names) for value in four), strict=True))
    if elsewhere := wrong_device(seen, device):
        return elsewhere
    wrong = [
        _showing(finding, returned)
        for (where, found), (_, native), (_, exact), (_, returned) in pairs
        if (finding := _compare_leaf(found, native, exact, where, reference))
    ]
    if wrong:
        return replace(wrong[0], others=tuple(f.difference for f in wrong[1:] if f.difference))
    if reference.exact.gradients is not None:
        finding = _compare_gradients(seen, reference)
        if finding:
            return finding
    return changed_argument(seen, reference)


def _showing(finding: Finding, returned: Any) -> Finding:
    """The finding with the tensor as it was returned, before its dtype was converted."""
    difference = finding.difference
    if difference is None or difference.wrong is None or not isinstance(returned, torch.Tensor):
        return finding
    return replace(finding, difference=replace(difference, got=returned))


def changed_argument(seen: Observation, reference: Reference) -> Finding | None:
    """Return a finding if an argument that must stay unchanged was changed in place."""
    for place in seen.changed:
        if input_of(place) not in reference.options.may_mutate:
            return messages.argument_changed(place)
    return None


def input_of(place: str) -> str:
    """The input that contains a place: "cache" for "cache['key'].grad"."""
    return place.split(".")[0].split("[")[0]


def _room(options: Options) -> Tolerance:
    """The tolerance if dtype is not checked: at least float32's; half precision fails."""
    room = TOLERANCES[torch.float32]
    own = options.tolerance or room
    return Tolerance(max(own.rtol, room.rtol), max(own.atol, room.atol))


def wrong_device(seen: Observation, device: str) -> Finding | None:
    """Return a finding if a result is not on `device`."""
    for where in seen.devices:
        if where != device:
            return messages.wrong_device("the result", where, device)
    return None


def leaves(value: Any, where: str = "the result", parts: Sequence[str] = ()) -> Iterator[tuple[str, Any]]:
    """Yield every value in nested containers with its path; see `_places` for `parts`."""
    if isinstance(value, (list, tuple)):
        for place, item in zip(_places(value, where, parts), value, strict=True):
            yield from leaves(item, place)
    elif isinstance(value, dict):
        for key in sorted(value, key=str):
            yield from leaves(value[key], f"{where}[{key!r}]")
    else:
        yield where, value


def _places(items: Sequence[Any], where: str, parts: Sequence[str]) -> list[str]:
    """Name the items of a sequence: by `parts` if the lengths agree, else by index."""
    named = len(parts) == len(items) > 0
    return [f"`{part}`" for part in parts] if named else [f"{where}[{index}]" for index in range(len(items))]


def _compare_structure(found: Any, expected: Any, where: str, parts: Sequence[str], options: Options) -> Finding | None:
    if isinstance(expected, (list, tuple)):
        places = _places(expected, where, parts)
        names = places if len(parts) == len(expected) > 0 else ()
        if not isinstance(found, (list, tuple)):
            return messages.not_a_sequence(where, found, expected, names)
        if len(found) != len(expected):
            return messages.wrong_length(where, found, expected, names)
        if options.same_kinds and isinstance(found, tuple) != isinstance(expected, tuple):
            return messages.wrong_type(where, found, expected)
        for a, b, place in zip(found, expected, places, strict=True):
            finding = _compare_structure(a, b, place, (), options)
            if finding:
                return finding
        return None
    if isinstance(expected, dict):
        if not isinstance(found, dict) or found.keys() != expected.keys():
            return messages.wrong_keys(where, found, expected)
        inner = (_compare_structure(found[k], expected[k], f"{where}[{k!r}]", (), options) for k in expected)
        return next(filter(None, inner), None)
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
    return None if same else messages.wrong_type(where, found, expected)


def _compare_leaf(found: Any, native: Any, exact: Any, where: str, reference: Reference) -> Finding | None:
    tolerance = reference.options.tolerance
    if isinstance(native, torch.Tensor):
        if found.shape != native.shape:
            return messages.wrong_shape(where, found, native)
        if found.dtype != native.dtype:
            return messages.wrong_dtype(where, found, native)
        floor = rounding(native.dtype, reference.input_magnitude) if native.is_floating_point() else 0.0
        allowed = tolerance or Tolerance.of(native.dtype)
        finding = _compare_tensors(found, exact, native, where, allowed, floor)
        almost = (native == 0) & (found != 0)
        if finding is None and reference.options.exact_zeros and almost.any():
            return replace(messages.not_zero(where), difference=Difference(where, exact, found, almost))
        return finding
    if isinstance(native, float):
        value, right, rounded = (torch.tensor(float(v), dtype=torch.float64) for v in (found, exact, native))
        floor = rounding(torch.float32, reference.input_magnitude)
        return _compare_tensors(value, right, rounded, where, tolerance or TOLERANCES[torch.float32], floor)
    if isinstance(native, Node):
        return None
    if found == native:
        return None
    return replace(messages.wrong_value(where, found, native), difference=Difference(where, native, found))


def _compare_tensors(
    found: torch.Tensor,
    exact: torch.Tensor,
    native: torch.Tensor,
    where: str,
    tolerance: Tolerance,
    floor: float,
    stage: str = "values",
) -> Finding | None:
    if not exact.is_floating_point():
        wrong = found != exact
        if not wrong.any():
            return None
        finding = messages.wrong_elements(stage, where, wrong)
        return replace(finding, difference=Difference(where, exact, found, wrong))
    found = found.double()
    # Within rtol of every value is right, whatever else is allowed; NaN equals nothing, infinity only itself
    if torch.allclose(found, exact.double(), rtol=tolerance.rtol, atol=0.0):
        return None
    allowed = allowed_error(exact, native, tolerance, floor)
    representable = exact.to(native.dtype).double()  # as shown: no answer in float32 can be 1e-53
    bad = ~torch.isfinite(found) & ~((found == exact) & torch.isinf(exact))
    if bad.any():
        finding = messages.not_finite("finite" if stage == "values" else stage, where, found, bad)
        return replace(finding, difference=Difference(where, representable, found, bad))
    # `not (error <= allowed)`, so that NaN fails; equal infinities were accepted above
    error = torch.where(found == exact, torch.zeros_like(exact), (found - exact).abs())
    wrong = ~(error <= allowed)
    if not wrong.any():
        return None
    finding = messages.wrong_numbers(stage, where, wrong, error, allowed)
    excess = torch.where(wrong, error - allowed, -torch.inf).nan_to_num(torch.inf)
    return replace(finding, difference=Difference(where, representable, found, wrong, excess))


def _compare_gradients(seen: Observation, reference: Reference) -> Finding | None:
    exact, native = reference.exact.gradients or {}, reference.native.gradients or {}
    if set(seen.detached) - set(reference.native.detached):
        return messages.no_gradient_at_all()
    found = seen.gradients or {}
    flows = {name for name, expected in exact.items() if expected is not None and bool(expected.ne(0).any())}
    if missing := [name for name in exact if name in flows and found.get(name) is None]:
        return messages.no_gradient(missing)
    for name, right in exact.items():
        got = found.get(name)
        if got is None:
            continue
        expected = torch.zeros(got.shape, dtype=torch.float64) if right is None or name not in flows else right
        if got.shape != expected.shape:
            return messages.gradient_of_wrong_shape(name, got, expected)
        judged = torch.isfinite(expected)
        if reference.options.nonfinite == "finite" and not torch.isfinite(got).all():
            return messages.gradient_not_finite(name)
        near = native.get(name)
        near = expected if near is None else near.double()
        zero = torch.zeros_like(expected)
        finding = _compare_tensors(
            torch.where(judged, got.double(), zero),
            torch.where(judged, expected, zero),
            torch.where(judged, near, zero),
            f"the gradient for `{name}`",
            reference.options.tolerance or Tolerance.of(got.dtype),
            rounding(got.dtype, max(reference.input_magnitude, 1.0)),  # cotangents are about 1
            "gradient",
        )
        if finding:
            return finding
    return None


def _compare_error(seen: Observation, reference: Reference) -> Finding | None:
    expected = reference.exact.raised or {}
    if seen.raised is None:
        return messages.did_not_raise(expected["type"], next(iter(seen.values.values()), None))
    if expected["type"] not in seen.raised["bases"]:
        return messages.raised_another_error(expected["type"], seen.raised)
    message, arguments = seen.raised["message"], reference.wrong_arguments
    if arguments and not any(names_argument(message, name, value) for name, value in arguments.items()):
        return messages.error_names_no_argument(expected["type"], arguments)
    return changed_argument(seen, reference)
