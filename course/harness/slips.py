"""Hints on common slips, which stop an answer of any exercise before a known mistake shows.

Grading and the learner's own `check` give the same hints. They are found in what was observed, not in the source.

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
    "You return a tuple with one item. A comma at the end of a line makes one: `return x,` is `return (x,)`. Return "
    "the item itself."
)
NUMPY = (
    "You return a NumPy array; return a tensor. Stay in torch all the way: NumPy keeps no gradients, and it turns "
    "float32 into float64."
)

NOT_QUOTED = "…"

# Message of an error -> the learner's line that raised it -> the hint. Unlike in `advice.py`, the line decides, too.
ERRORS: tuple[tuple[str, str, str], ...] = (
    (
        r"'NoneType'",
        r"\.grad\b",
        "`.grad` is None here. `backward()` fills it, so call that first. It does so only for tensors that you marked "
        "yourself, not for those computed from them: `w = x.clone().requires_grad_()` is marked, "
        "`w = x.requires_grad_() * 1` is not.",
    ),
    (
        r"'(float|int)' object has no attribute 'detach'|must be Tensor, not (float|int)",
        r"Parameter\(",
        "`nn.Parameter` takes a tensor, not a plain number: write `nn.Parameter(torch.tensor(0.0))`.",
    ),
)
# Stage of a finding and its text -> the hint
FINDINGS: tuple[tuple[str, str, str], ...] = (
    (
        "raised",
        r"^must raise ValueError here; it raised ZeroDivisionError",
        "For a number that is 0 your check itself fails: nothing can be divided by 0, and `% 0` raises "
        "ZeroDivisionError. Refuse what is below 1 first.",
    ),
    (
        "raised",
        r"^must raise ValueError here",
        "You do not raise a ValueError for every argument that the exercise rules out. Check the arguments first, and "
        "name the wrong one and its value in the message.",
    ),
    (
        "gradient",
        r"^no gradient",
        "No gradient reaches what the result was computed from: you leave the computation graph (`.detach()`, `.data`, "
        "`.item()`, NumPy, `torch.tensor(…)` or `no_grad`).",
    ),
    (
        "dtype",
        r"",
        "The result has the wrong dtype. Tensors that you make yourself need the right one (`dtype=x.dtype`), and "
        "`.float()`, `tolist()` and `torch.tensor(…)` change it.",
    ),
    (
        "device",
        r"",
        "A tensor that you make yourself is on the wrong device: make it where the arguments are (`device=x.device`).",
    ),
    (
        "unchanged",
        r"",
        "You change an argument in place, so the caller's own tensor changes. `x -= …`, `x[…] = …` and methods that "
        "end in `_` write into the tensor: make a new one.",
    ),
    (
        "type",
        r"is an? (float|int|bool), and must be a tensor",
        "You return a Python number. Return a tensor: `.item()` and `float()` leave the computation graph, so no "
        "gradient can flow.",
    ),
    (
        "type",
        r"is a list of \d+, and must be a tensor",
        "You return a list. Make one tensor of it: `torch.stack(…)` keeps the gradients of its tensors, "
        "`torch.tensor(…)` is for plain numbers.",
    ),
    (
        "type",
        r"is a tuple of \d+, and must be a tensor",
        "You return several results, as a tuple. Return only the tensor that the exercise asks for.",
    ),
    (
        "type",
        r"is a tensor, and must be an? (float|int|bool)",
        "You return a tensor where a plain Python number is asked for: `.item()`, `int(…)`, `float(…)` or `bool(…)` "
        "converts it.",
    ),
)


def slips(
    name: str, seen: Iterable[Observation], findings: Iterable[Finding | None], *, quotes: bool = True
) -> list[str]:
    """The hint on each failed case of the answer `name`; "": none fits, or the case did not fail.

    quotes  whether hints repeat words of the answer's, which it may choose by what it was called with
    """
    return [_hint_for(name, o, finding, quotes) if finding else "" for o, finding in zip(seen, findings, strict=True)]


def error_hint(name: str, raised: dict[str, Any], *, quotes: bool = True) -> str:
    """The hint on an exception; "": none fits. quotes: as in `slips`."""
    kind, message, line = raised["type"], raised["message"], raised["line"]
    if "'NoneType'" in message and not line:  # a test case uses the result
        return NO_RETURN
    if kind in ("NameError", "UnboundLocalError") and (missing := re.search(r"name '(\w+)'|variable '(\w+)'", message)):
        return _undefined((missing[1] or missing[2]) if quotes else NOT_QUOTED, name)
    if missing := re.match(r"the module has no parameter (\S+); it has ([^;]*)(.*)", message):
        plain = " What you assign is not an `nn.Parameter`." if missing[3] else ""
        which = f"`{missing[1]}`; it has {missing[2]}" if quotes else "as in the exercise"
        return (
            f"Your module has no parameter named {which}.{plain} Make each part in "
            "`__init__` (two underscores on each side), under the exercise's name and with `self.` in front."
        )
    if of := re.fullmatch(rf"'{re.escape(name)}' object (?:is not callable|has no attribute '(\w+)')", message):
        return _missing_attribute(of[1] or "__call__", name, line, quotes)
    if kind == "TypeError" and (call := re.match(r"(\S+)\(\) (.*)", message)) and _is_signature(call[2]):
        parts = call[1].split(".")
        if name in parts or parts[-1] in ("forward", "__init__", "__call__"):
            first = " The first argument of a method is `self`." if len(parts) > 1 else ""
            which = f" of `{call[1]}`: {call[2]}" if quotes else ""
            return (
                f"Wrong signature{which}. Names, order and defaults of the arguments have to be those of the "
                f"exercise.{first}"
            )
    if not line and re.search(r"\bindex\b|\bindices\b|'tuple' object", message):
        return ""  # a test case takes the result apart: what that needs is no advice on the answer
    found = (text for error, place, text in ERRORS if re.search(error, message) and re.search(place, line))
    return next(found, "") or ("" if re.match(r"raise\b|assert\b", line) else help_with(message))


def _hint_for(name: str, seen: Observation, finding: Finding, quotes: bool) -> str:
    if seen.raised is not None and (hint := error_hint(name, seen.raised, quotes=quotes)):
        return hint
    values = list(seen.values.values())
    if values and all(value is None for value in values):
        return NO_RETURN
    if any(isinstance(value, tuple) and len(value) == 1 for value in values):
        return LONELY_COMMA
    if any(node.fields.get("type") == "ndarray" for node in _nodes(values)):
        return NUMPY
    return next(
        (hint for stage, text, hint in FINDINGS if finding.stage == stage and re.search(text, finding.text)), ""
    )


def _missing_attribute(word: str, name: str, line: str, quotes: bool) -> str:
    if hasattr(Module, word):
        return (
            f"`{name}` is not a module. Derive it from `nn.Module`, define `forward`, and begin `__init__` with "
            "`super().__init__()`."
        )
    word = word if quotes else NOT_QUOTED
    if not line:  # a test case uses it
        return f"`{name}` has no `{word}`. Is it spelt as in the exercise, and indented as part of the class?"
    return (
        f"`self.{word}` is read, but `__init__` never sets it. Assign it there with `self.` in front, and write "
        "`__init__` with two underscores on each side."
    )


def _undefined(word: str, name: str) -> str:
    if name[:1].isupper():
        return (
            f"`{word}` has no value here. What `__init__` made is read with `self.` in front: `self.{word}`. If you "
            "mean something else, is it spelt as where you make it, and is it made before it is used?"
        )
    return (
        f"`{word}` is used and has no value yet: is it spelt as where you make it, is it made before it is used, "
        "and has its cell been run?"
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
