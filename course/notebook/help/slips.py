"""Hints on common errors, which stop an answer before a known mistake shows.

Does not cover: mistakes of one exercise (see its check data), explanations of an error's lines (`errors.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from ...harness.program import Observation
from ...harness.serialization import Node


def common_error_hint(name: str, seen: Sequence[Observation]) -> str:
    """The hint that fits most outcomes of the answer `name`; "": none fits."""
    hints = [_hint_for(name, observation) for observation in seen]
    return max(filter(None, hints), key=hints.count, default="")


def _hint_for(name: str, seen: Observation) -> str:
    if seen.raised is not None:
        return _hint_for_error(name, seen.raised["type"], seen.raised["message"])
    kinds = {node.fields.get("type", "") for node in _nodes(seen.values.values())}
    if "ndarray" in kinds:
        return (
            "You answer with a NumPy array, and what is asked for is a tensor: stay in torch all the way. NumPy keeps "
            "no gradients, and it makes float64 of what was float32."
        )
    return ""


def _hint_for_error(name: str, kind: str, message: str) -> str:
    if "before Module.__init__() call" in message:
        return (
            "`__init__` has to begin with `super().__init__()`: it makes the room in which an `nn.Module` keeps its "
            "layers and parameters."
        )
    if kind in ("NameError", "UnboundLocalError") and (missing := re.search(r"name '(\w+)'|variable '(\w+)'", message)):
        word = missing[1] or missing[2]
        return (
            f"`{word}` is used and has no value yet: is it spelt as where you make it, is it made before it is used, "
            "and has its cell been run?"
        )
    if "Can't call numpy() on Tensor that requires grad" in message:
        return "You leave torch for NumPy on the way, where no gradient can follow: do the same with torch's functions."
    if kind == "TypeError" and (call := re.match(r"(\S+)\(\) (.*)", message)) and _is_signature(call[2]):
        of = call[1].split(".")
        if name in of or of[-1] in ("forward", "__init__", "__call__"):
            return (
                f"The signature of `{call[1]}` is another than the text's: {call[2]}. Names, order and defaults of its "
                "arguments have to be those of the exercise."
            )
    return ""


def _is_signature(complaint: str) -> bool:
    return bool(re.match(r"got an unexpected keyword|takes .* positional|missing \d+ required|got multiple", complaint))


def _nodes(values: Iterable[Any]) -> Iterable[Node]:
    for value in values:
        if isinstance(value, Node):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _nodes(value)
        elif isinstance(value, dict):
            yield from _nodes(value.values())
