"""Sentences about wrong results: one function per way of being wrong.

Sentences name shapes, positions and sizes of errors, never an expected value. Sentences of known mistakes are in the
exercises' own `mistakes.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from .descriptions import describe_shape, place_in_words
from .difference import Difference
from .errors import in_words
from .serialization import Node

MAX_KEYS = 8  # keys of a dict that a sentence lists


@dataclass(frozen=True)
class Finding:
    """The first stage of the comparison that a result fails, with a sentence about it.

    difference  the wrong value beside the right one, where two values were compared
    others      the same of further parts of the result
    headline    a sentence that says how the form is wrong, where the stage's general sentence says less
    """

    stage: str
    text: str
    difference: Difference | None = field(default=None, compare=False, kw_only=True)
    others: tuple[Difference, ...] = field(default=(), compare=False, kw_only=True)
    headline: str = field(default="", compare=False, kw_only=True)


def raised_error(raised: dict[str, Any]) -> Finding:
    return Finding("raised", in_words(raised))


def did_not_raise(expected: str, returned: Any) -> Finding:
    return Finding("raised", f"expected {expected}, but the call returned {type_of(returned)}")


def raised_another_error(expected: str, raised: dict[str, Any]) -> Finding:
    return Finding("raised", f"expected {expected}, but {in_words(raised)}")


def valid_arguments_refused(raised: dict[str, Any]) -> Finding:
    return Finding("raised", f"these arguments are valid, but {in_words(raised)}")


def error_names_no_argument(error: str, arguments: Iterable[str]) -> Finding:
    wanted = " or ".join(f"`{name}`" for name in arguments)
    return Finding("message", f"the message of the {error} must name {wanted} and its value or shape")


def not_a_sequence(where: str, found: Any, expected: Any, names: Sequence[str]) -> Finding:
    """For a single value instead of several; `names`: the contract's names for those."""
    wanted = f"{type_of(expected)}{_listed(names)}"
    text = f"{_at(where)}expected {wanted}, got {type_of(found)}{_missing_return(found)}"
    return Finding("structure", text, headline=_instead(where, type_of(found), type_of(expected)))


def wrong_length(where: str, found: Sequence[Any], expected: Sequence[Any], names: Sequence[str]) -> Finding:
    text = f"{_at(where)}expected {_items(expected)}{_listed(names)}, got {_items(found)}"
    return Finding(
        "structure", text, headline=f"{place_in_words(where)} has {_items(found)} instead of {len(expected)}"
    )


def wrong_keys(where: str, found: Any, expected: dict[str, Any]) -> Finding:
    wanted, got = _keys(expected), _keys(found) if isinstance(found, dict) else type_of(found)
    return Finding("structure", f"{_at(where)}expected {wanted}, got {got}{_missing_return(found)}")


def wrong_type(where: str, found: Any, expected: Any) -> Finding:
    module = isinstance(expected, Node) and expected.kind == "module"  # its class is the reference's own
    wanted = "an nn.Module" if module else type_of(expected)
    text = f"{_at(where)}expected {wanted}, got {type_of(found)}{_missing_return(found)}"
    return Finding("type", text, headline=_instead(where, type_of(found), wanted))


def wrong_device(where: str, found: str, expected: str) -> Finding:
    return Finding("device", f"{where} is on {found}, but the inputs are on {expected}")


def mixed_devices(raised: dict[str, Any]) -> Finding:
    line = f", at the line `{raised['line']}`" if raised["line"] else ""
    return Finding("device", f"a tensor on PyTorch's default device is combined with one on the inputs' device{line}")


def moved_to_cpu(raised: dict[str, Any]) -> Finding:
    return Finding(
        "device", f"a tensor is moved to the CPU, at the line `{raised['line']}`; keep it on the inputs' device"
    )


def on_default_device(where: str) -> Finding:
    return Finding("device", f"{where} is on PyTorch's default device, but the inputs are on another")


def wrong_shape(where: str, found: torch.Tensor, expected: torch.Tensor) -> Finding:
    text = f"{_at(where)}expected shape {tuple(expected.shape)}, got {tuple(found.shape)}"
    return Finding(
        "shape", text, headline=describe_shape(place_in_words(where), tuple(found.shape), tuple(expected.shape))
    )


def wrong_dtype(where: str, found: torch.Tensor, expected: torch.Tensor) -> Finding:
    return Finding("dtype", f"{_at(where)}expected dtype {_dtype(expected)}, got {_dtype(found)}")


def wrong_form() -> Finding:
    return Finding("values", "the result does not have the form that the exercise asks for")


def wrong_value(where: str, found: Any, expected: Any) -> Finding:
    """For a value that is not a tensor; only a boolean's expected value is given."""
    if isinstance(expected, bool):
        return Finding("values", f"{_at(where)}expected {expected}, got {found}")
    if isinstance(expected, int):
        shown = str(found) if found.bit_length() < 100 else "a number with many digits"
        wrong = f"too {'small' if found < expected else 'large'}"
        if where.endswith("]"):  # an item may be a label, such as a token's id, which is neither small nor large
            wrong = "wrong"
        return Finding("values", f"{_at(where)}got {shown}, which is {wrong}")
    return Finding("values", f"{_at(where)}got {found[:80]!r}, which is wrong")


def wrong_elements(stage: str, where: str, wrong: torch.Tensor) -> Finding:
    """For integers and booleans; `wrong` marks the elements."""
    return Finding(stage, f"{_at(where)}{_count('wrong', wrong)}")


def not_finite(stage: str, where: str, found: torch.Tensor, bad: torch.Tensor) -> Finding:
    what = "NaN" if torch.isnan(found[_first_place(bad)]) else "infinite"
    return Finding(stage, f"{_at(where)}{_count(what, bad)}")


def wrong_numbers(stage: str, where: str, wrong: torch.Tensor, error: torch.Tensor, allowed: torch.Tensor) -> Finding:
    """For floating-point numbers; shows the entry that exceeds the tolerance the most."""
    worst = int(torch.where(wrong, error - allowed, -torch.inf).nan_to_num(torch.inf).flatten().argmax())
    place = tuple(int(i) for i in torch.unravel_index(torch.tensor(worst), wrong.shape)) if wrong.ndim else ()
    off = f"{float(error.flatten()[worst]):.3g} (allowed: {float(allowed.flatten()[worst]):.2g})"
    if wrong.numel() == 1:
        return Finding(stage, f"{_at(where)}wrong by {off}")
    return Finding(stage, f"{_at(where)}{int(wrong.sum())} of {wrong.numel()} entries wrong; at {place} by {off}")


def not_zero(where: str) -> Finding:
    return Finding("values", f"{_at(where)}entries that must be 0 are only near it")


def no_gradient_at_all() -> Finding:
    return Finding("gradient", "no gradient flows through the result: it was detached, or computed under no_grad")


def no_gradient(arguments: Sequence[str]) -> Finding:
    named = [f"`{argument}`" for argument in arguments]
    return Finding("gradient", f"no gradient reaches {' and '.join(filter(None, [', '.join(named[:-1]), named[-1]]))}")


def gradient_of_wrong_shape(argument: str, found: torch.Tensor, expected: torch.Tensor) -> Finding:
    return Finding(
        "gradient", f"gradient for `{argument}`: expected shape {tuple(expected.shape)}, got {tuple(found.shape)}"
    )


def gradient_not_finite(argument: str) -> Finding:
    return Finding("gradient", f"the gradient for `{argument}` is NaN or infinite")


def argument_changed(argument: str) -> Finding:
    if argument.endswith(".grad"):
        return Finding("unchanged", f"the call left a gradient in `{argument}`")
    return Finding("unchanged", f"the call changed its argument `{argument}` in place; leave it as it was")


def type_of(value: Any) -> str:
    """A phrase for the type of a value, for use in a sentence."""
    if isinstance(value, Node):
        return f"a {str(value.fields.get('type', value.kind))[:80]}"
    if value is None:
        return "None"
    if isinstance(value, torch.Tensor):
        return "a tensor"
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of {len(value)}"
    return f"a{'n' if isinstance(value, int) and not isinstance(value, bool) else ''} {type(value).__name__}"


def _at(where: str) -> str:
    """The place that a finding is about, unless it is the whole result."""
    return "" if where == "the result" else f"{where.removeprefix('the ')}: "


def _instead(where: str, got: str, wanted: str) -> str:
    return f"{place_in_words(where)} is {got} instead of {wanted}" if got != wanted else ""


def _missing_return(found: Any) -> str:
    return "; is the `return` missing?" if found is None else ""


def _items(values: Sequence[Any]) -> str:
    return f"{len(values)} item{'' if len(values) == 1 else 's'}"


def _keys(found: dict[str, Any]) -> str:
    names = [str(key)[:40] for key in found]
    listed = ", ".join([*names[:MAX_KEYS], "…"] if len(names) > MAX_KEYS else names)
    return f"a dict with {'the key' if len(names) == 1 else 'the keys'} {listed}" if names else "an empty dict"


def _listed(names: Sequence[str]) -> str:
    return f" ({', '.join(names)})" if names else ""


def _dtype(tensor: torch.Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _count(what: str, wrong: torch.Tensor) -> str:
    if wrong.numel() == 1:
        return f"the number is {what}"
    return f"{int(wrong.sum())} of {wrong.numel()} entries {what}, first at {_first_place(wrong)}"


def _first_place(wrong: torch.Tensor) -> tuple[int, ...]:
    return tuple(wrong.nonzero()[0].tolist())
