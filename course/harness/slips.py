"""Hints on common slips, which can break an answer to any exercise.

Grading and the learner's `check` give the same hints, and find them in observations, not in the source.

Does not cover: mistakes of one exercise (its `mistakes.py`), explanations of an error's lines
(`course/notebook/help/errors.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from torch.nn import Module

from .advice import help_with
from .messages import Finding
from .program import Observation
from .serialization import Node

NO_RETURN = "Your function returns None. Is the `return` missing? `print` only shows a result."
LONELY_COMMA = (
    "You return a tuple with one item. A comma at the end of the line makes a tuple: `return x,` is `return (x,)`. "
    "Return the item itself."
)
NUMPY = (
    "You return a NumPy array, but the exercise asks for a tensor. Use torch functions throughout: autograd does not "
    "follow NumPy, and NumPy may turn float32 into float64."
)

# Message of an error -> the learner's line that raised it -> the hint. Unlike in `advice.py`, the line decides, too.
ERRORS: tuple[tuple[str, str, str], ...] = (
    (
        r"'NoneType'",
        r"\.grad\b",
        "`.grad` is None at that line. Call `backward()` first, which fills it. It does so only for tensors that you "
        "marked yourself: `w = x.clone().requires_grad_()` is marked, `w = x.requires_grad_() * 1` is computed.",
    ),
    (
        r"'(float|int)' object has no attribute 'detach'|must be Tensor, not (float|int)",
        r"Parameter\(",
        "You pass a plain number to `nn.Parameter`, which takes a tensor. Write `nn.Parameter(torch.tensor(0.0))`.",
    ),
)
# Stage of a finding and its text -> the hint, in which {0}, {1} are parts of that text
FINDINGS: tuple[tuple[str, str, str], ...] = (
    (
        "raised",
        r"^expected ValueError, but .* raised ZeroDivisionError",
        "Your check of the arguments divides by zero. `% 0` raises ZeroDivisionError, so reject numbers below 1 first.",
    ),
    (
        "raised",
        r"^expected ValueError",
        "You do not raise ValueError for every argument that the exercise rules out. Check the arguments first, and "
        "name the wrong one and its value in the message.",
    ),
    (
        "gradient",
        r"^no gradient (?:reaches (`.*`)|flows)",
        "No gradient reaches {0|the inputs}, because your result leaves the computation graph. Look for `.detach()`, "
        "`.data`, `.item()`, NumPy, `torch.tensor(…)` and `no_grad`.",
    ),
    (
        "dtype",
        r"expected dtype (\w+), got (\w+)",
        "The result has the wrong dtype, {1} instead of {0}. Give new tensors theirs (`dtype=…`): `.float()`, "
        "`tolist()` and `torch.tensor(…)` may change it.",
    ),
    (
        "device",
        r"",
        "A tensor that you create is on the wrong device. Create it on the device of the input (`device=x.device`).",
    ),
    (
        "unchanged",
        r"`([^`]*)\.(?:requires_grad|grad)`",
        "You change the gradient of `{0}`, or whether it has one, and the caller's tensor keeps that. Work on a copy, "
        "`{0}.detach().clone()`.",
    ),
    (
        "unchanged",
        r"`(\w+)\[",
        "You change what is in `{0}`, so the caller's changes, too. Work on a copy of it.",
    ),
    (
        "unchanged",
        r"`([^`]*)`",
        "You change `{0}` in place, so the caller's tensor changes, too. `x -= …`, `x[…] = …` and methods that end in "
        "`_` write into the tensor. Create a new one instead.",
    ),
    (
        "type",
        r"expected a tensor, got an? (float|int|bool)\b",
        "You return a Python number, but the exercise asks for a tensor. `.item()` and `float()` leave the computation "
        "graph, so no gradient can flow.",
    ),
    (
        "type",
        r"expected a tensor, got a list of \d+",
        "You return a list, but the exercise asks for one tensor. `torch.stack(…)` makes one of several tensors and "
        "keeps their gradients; `torch.tensor(…)` is for plain numbers.",
    ),
    (
        "type",
        r"expected a tensor, got a tuple of \d+",
        "You return a tuple of several results, but the exercise asks for one tensor.",
    ),
    (
        "type",
        r"expected an? (float|int|bool), got a tensor",
        "You return a tensor, but the exercise asks for a plain Python value. `.item()`, `int(…)`, `float(…)` or "
        "`bool(…)` converts it.",
    ),
)


def slips(name: str, seen: Iterable[Observation], findings: Iterable[Finding | None]) -> list[str]:
    """The hint on each case of the answer `name`; "" if none fits, or the case is right."""
    return [_hint_for(name, o, finding) if finding else "" for o, finding in zip(seen, findings, strict=True)]


def error_hint(name: str, raised: dict[str, Any]) -> str:
    """The hint on an exception; "": none fits."""
    kind, message, line = raised["type"], raised["message"], raised["line"]
    if "'NoneType'" in message and not line:  # a test case uses the result
        return NO_RETURN
    if kind in ("NameError", "UnboundLocalError") and (missing := re.search(r"name '(\w+)'|variable '(\w+)'", message)):
        return _undefined(missing[1] or missing[2], name)
    if missing := re.match(r"the module has no parameter (\S+); it has ([^;]*)(.*)", message):
        plain = " The value that you assign is not an `nn.Parameter`." if missing[3] else ""
        return (
            f"Your module has no parameter named `{missing[1]}`; it has {missing[2]}.{plain} Create each part in "
            "`__init__` (two underscores on each side), with the exercise's name and with `self.` in front."
        )
    if of := re.fullmatch(rf"'{re.escape(name)}' object (?:is not callable|has no attribute '(\w+)')", message):
        return _missing_attribute(of[1] or "__call__", name, line)
    if kind == "TypeError" and (call := re.match(r"(\S+)\(\) (.*)", message)) and _is_signature(call[2]):
        parts = call[1].split(".")
        if name in parts or parts[-1] in ("forward", "__init__", "__call__"):
            first = " The first argument of a method is `self`." if len(parts) > 1 else ""
            return (
                f"`{name}` has the wrong signature. `{call[1]}` {call[2]}. Use the argument names, order and "
                f"defaults from the exercise.{first}"
            )
    if not line and re.search(r"\bindex\b|\bindices\b|'tuple' object", message):
        return ""  # a test case indexes the result: advice on that line would not be about the answer
    found = (text for error, place, text in ERRORS if re.search(error, message) and re.search(place, line))
    return next(found, "") or ("" if re.match(r"raise\b|assert\b", line) else help_with(message))


def _hint_for(name: str, seen: Observation, finding: Finding) -> str:
    if seen.raised is not None and (hint := error_hint(name, seen.raised)):
        return hint
    values = list(seen.values.values())
    if values and all(value is None for value in values):
        return NO_RETURN
    if any(isinstance(value, tuple) and len(value) == 1 for value in values):
        return LONELY_COMMA
    if any(node.fields.get("type") == "ndarray" for node in _nodes(values)):
        return NUMPY
    for stage, text, hint in FINDINGS:
        if finding.stage == stage and (found := re.search(text, finding.text)):
            return _filled(hint, found)
    return ""


def _filled(hint: str, found: re.Match[str]) -> str:
    """The hint with what was found in place of {0}, {1}; after a bar stands what to say if it was not found."""
    return re.sub(r"\{(\d)(?:\|([^}]*))?\}", lambda part: found[int(part[1]) + 1] or part[2], hint)


def _missing_attribute(word: str, name: str, line: str) -> str:
    if hasattr(Module, word):
        return (
            f"`{name}` is not a module. Make it a subclass of `nn.Module`, define `forward`, and begin `__init__` with "
            "`super().__init__()`."
        )
    if not line:  # a test case uses it
        return f"`{name}` has no `{word}`. Check its spelling, and that it is indented as part of the class."
    return (
        f"You read `self.{word}`, but `__init__` never sets it. Assign it there with `self.` in front, and write "
        "`__init__` with two underscores on each side."
    )


def _undefined(word: str, name: str) -> str:
    if name[:1].isupper():
        return (
            f"`{word}` is not defined. If `__init__` sets it, write `self.{word}`. Otherwise check the spelling, and "
            "that it is defined before it is used."
        )
    return (
        f"`{word}` is not defined. Check the spelling, that it is defined before it is used, and that its cell has "
        "been run."
    )


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
