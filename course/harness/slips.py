"""Hints on common slips, which can break an answer to any exercise.

Grading and the learner's `check` give the same hints, and find them in observations, not in the source.

Does not cover: mistakes of one exercise (its `mistakes.py`), explanations of an error's lines
(`course/notebook/raised_lines.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from torch.nn import Module

from .advice import help_with
from .messages import Finding
from .program import Observation
from .sentences import fill_groups
from .serialization import Node
from .shape_errors import BROADCAST, MULTIPLY


@dataclass(frozen=True)
class Slip:
    """A common slip in one case, false if there is none.

    kind  equal in all cases with the same slip
    text  the hint for the learner, which may name the shapes of the case
    """

    kind: str = ""
    text: str = field(default="", compare=False)

    def __bool__(self) -> bool:
        return bool(self.kind)


NO_SLIP = Slip()
NO_RETURN = "Your function returns None. Is the `return` missing? `print` only shows a result."
NUMPY = (
    "You return a NumPy array, but the exercise asks for a tensor. Use torch functions throughout: autograd does not "
    "follow NumPy, and NumPy may turn float32 into float64."
)

# Messages of errors that a test case may raise where it uses a result: advice on the learner's line would be wrong
USES_A_RESULT = rf"\bindex\b|\bindices\b|'tuple' object|must be Tensor, not|{BROADCAST}|{MULTIPLY}"
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
    (
        r"^(reshape|expand|repeat|permute|tile)\(\) takes 1 positional argument but",
        r"\.(reshape|expand|repeat|permute|tile)\(",
        "One of the sizes that you give is not a whole number. `/` always makes a float, even of 4 / 2; `//` does not.",
    ),
    (
        r"only one element tensors",
        r"torch\.tensor\(",
        "`torch.tensor(…)` takes plain numbers, but yours are tensors of several entries. `torch.stack(…)` joins "
        "tensors and keeps their gradients.",
    ),
)
# Stage of a finding and its text -> the hint, in which {1}, {2} are parts of that text
FINDINGS: tuple[tuple[str, str, str], ...] = (
    (
        "raised",
        r"^expected ValueError, but .* raised ZeroDivisionError",
        "Your check of the arguments divides by zero. `% 0` raises ZeroDivisionError, so reject numbers below 1 first.",
    ),
    (
        "raised",
        r"^expected ValueError, but .* raised AssertionError.*, at the line `assert\b",
        "You check with `assert`, which raises AssertionError. The exercise asks for a ValueError: write `if` and "
        "`raise`.",
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
        "No gradient reaches {1|the inputs}, because your result leaves the computation graph. Look for `.detach()`, "
        "`.data`, `.item()`, NumPy, `torch.tensor(…)` and `no_grad`.",
    ),
    (
        "dtype",
        r"expected dtype (\w+), got (\w+)",
        "The result has the wrong dtype, {2} instead of {1}. Give new tensors theirs (`dtype=…`): `.float()`, "
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
        "You change the gradient of `{1}`, or whether it has one, and the caller's tensor keeps that. Work on a copy, "
        "`{1}.detach().clone()`.",
    ),
    (
        "unchanged",
        r"`(\w+)\[",
        "You change what is in `{1}`, so the caller's changes, too. Work on a copy of it.",
    ),
    (
        "unchanged",
        r"`([^`]*)`",
        "You change `{1}` in place, so the caller's tensor changes, too. `x -= …`, `x[…] = …` and methods that end in "
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
        r"got a (?:builtin_function_or_method|method)$",
        "You return a method instead of its result, because it is not called. `x.sum` is the method itself, and "
        "`x.sum()` its result: look for missing parentheses.",
    ),
    (
        "type",
        r"got a tuple of 1$",
        "You return a tuple with one item. A comma at the end of the line makes a tuple: `return x,` is `return (x,)`. "
        "Return the item itself.",
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


def slips(name: str, seen: Iterable[Observation], findings: Iterable[Finding | None]) -> list[Slip]:
    """The slip in each case of the answer `name`; a false one if none is known, or the case is right."""
    return [_slip_in(name, o, finding) if finding else NO_SLIP for o, finding in zip(seen, findings, strict=True)]


def error_slip(name: str, raised: dict[str, Any]) -> Slip:
    """The slip that an exception shows; a false one if none is known."""
    text, line = _slip_of_the_answer(name, raised), raised["line"]
    if text or re.match(r"raise\b|assert\b", line) or (not line and re.search(USES_A_RESULT, raised["message"])):
        return Slip(text, text)
    return Slip(*help_with(raised))


def _slip_of_the_answer(name: str, raised: dict[str, Any]) -> str:
    """The hint on an exception that the answer's name, its signature or its line explains.

    Without a line of the learner's, the call itself failed, or what uses its result.
    """
    kind, message, line = raised["type"], raised["message"], raised["line"]
    if kind in ("NameError", "UnboundLocalError") and (missing := re.search(r"name '(\w+)'|variable '(\w+)'", message)):
        return _undefined(missing[1] or missing[2], name)
    if of := re.fullmatch(rf"'{re.escape(name)}' object (?:is not callable|has no attribute '(?!_)(\w+)')", message):
        return _missing_attribute(of[1] or "__call__", name, line)
    if line:
        found = (text for error, place, text in ERRORS if re.search(error, message) and re.search(place, line))
        return next(found, "")
    if re.search(r"\bNoneType\b", message):
        return NO_RETURN
    if missing := re.match(r"the module has no parameter (\S+); it has ([^;]*)(.*)", message):
        plain = " The value that you assign is not an `nn.Parameter`." if missing[3] else ""
        return (
            f"Your module has no parameter named `{missing[1]}`; it has {missing[2]}.{plain} Create each part in "
            "`__init__` (two underscores on each side), with the exercise's name and with `self.` in front."
        )
    if kind == "TypeError" and (call := re.match(r"(\S+)\(\) (.*)", message)) and _is_signature(call[2]):
        parts = call[1].split(".")
        if name in parts or parts[-1] in ("forward", "__init__", "__call__"):
            first = " The first argument of a method is `self`." if len(parts) > 1 else ""
            return (
                f"`{name}` has the wrong signature. `{call[1]}` {call[2]}. Use the argument names, order and "
                f"defaults from the exercise.{first}"
            )
    if several := re.search(r"torch\.return_types\.(linalg_)?(\w+)", message):
        function = f"torch.linalg.{several[2]}" if several[1] else several[2]
        return f"You return all that `{function}` gives, a tuple of several results. Return the one that is asked for."
    return ""


def _slip_in(name: str, seen: Observation, finding: Finding) -> Slip:
    if seen.raised is not None and (slip := error_slip(name, seen.raised)):
        return slip
    values = list(seen.values.values())
    if values and all(value is None for value in values):
        return Slip(NO_RETURN, NO_RETURN)
    if any(node.fields.get("type") == "ndarray" for node in _nodes(values)):
        return Slip(NUMPY, NUMPY)
    for stage, text, hint in FINDINGS:
        if finding.stage == stage and (found := re.search(text, finding.text)):
            return Slip(words := fill_groups(hint, found), words)
    return NO_SLIP


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
