"""Exceptions as plain data, and their descriptions."""

from __future__ import annotations

import builtins
import linecache
import math
import os
import re
import sysconfig
import traceback
from pathlib import Path
from typing import Any

import torch

from .serialization import without_surrogates

COURSE, TORCH = Path(__file__).parents[1], Path(torch.__file__).parent
# Code in these folders is not an answer; full paths, since a learner may work in a folder called `course`
LIBRARIES = tuple(
    f"{place}{os.sep}"
    for place in {*map(sysconfig.get_path, ("stdlib", "platstdlib", "purelib", "platlib")), COURSE, TORCH.parent}
)
PUBLIC = frozenset(  # names of exceptions that everybody knows
    value.__name__
    for place in (builtins, torch, torch.linalg, torch.cuda)
    for value in vars(place).values()
    if isinstance(value, type) and issubclass(value, BaseException)
)
WRONG_WEIGHTS = r"the module has |parameter \S+ has shape "  # a test case gives weights to a module (`helpers.py`)
NO_FORWARD = 'is missing the required "forward" function'  # torch's words for a module
CPP_FRAMES = "\nException raised from "  # torch writes frames of C++ below some messages, with addresses of the process
ENDED = ("CallTimeout", "NotTried")  # raised by the caller (course/notebook/check_run.py), which gives the reason


def exception_to_record(error: BaseException) -> dict[str, Any]:
    """Convert an exception to plain data, with the last line of the learner's code."""
    line = ""
    for frame in traceback.extract_tb(error.__traceback__):
        if is_theirs(frame.filename):
            line = (frame.line or linecache.getline(frame.filename, frame.lineno or 0)).strip()
    try:
        message = str(error).partition(CPP_FRAMES)[0]
    except Exception:
        message = ""
    return {
        "type": type(error).__name__,
        "bases": [base.__name__ for base in type(error).__mro__],
        "message": without_surrogates(message[:500]),
        "line": line[:200],
    }


def is_theirs(filename: str) -> bool:
    """Whether a file is the learner's: in no library and not in the course."""
    return not filename.startswith(LIBRARIES)


def not_written(raised: dict[str, Any] | None) -> bool:
    """Whether an exception means that there is no answer yet; a module without a `forward` is one."""
    if raised is None or raised["type"] != "NotImplementedError" or NO_FORWARD in raised["message"]:
        return False
    return not raised["line"] or bool(re.search(r"\braise\b", raised["line"]))


def mixes_devices(message: str) -> bool:
    """Whether an error message says that tensors of two devices were combined."""
    return bool(re.search("expected device|same device|to have meta Device", message))


def moves_to_cpu(raised: dict[str, Any]) -> bool:
    """Whether a tensor on "meta" was moved to the CPU by name, to be returned there.

    Reading its numbers (`tolist`) has the same message. So has a detour by the CPU, which may be right.
    """
    copied = "Cannot copy out of meta tensor" in raised["message"]
    there_and_not_back = r"^return\b(?!.*(\.to\(|device=)(?![\"']cpu)).*(\.cpu\(|[\"']cpu[\"'])"
    return copied and bool(re.search(there_and_not_back, raised["line"]))


def public_type(raised: dict[str, Any] | None) -> str:
    """The exception's name if Python or torch defines it; "" for no exception.

    Otherwise "an exception of its own", because an answer may put anything into the names of its exceptions.
    """
    if raised is None:
        return ""
    return raised["type"] if raised["type"] in PUBLIC else "an exception of its own"


def in_words(raised: dict[str, Any]) -> str:
    """Describe an exception in words, with the learner's line that raised it."""
    if not_written(raised):
        return "not written yet: it raises NotImplementedError"
    message = " ".join(raised["message"].split())
    line = f", at the line `{raised['line']}`" if raised["line"] else ""
    if raised["type"] in ENDED or (not line and re.match(WRONG_WEIGHTS, message)):
        return f"{message}{line}"
    # Without a line of the learner's, Python refused the call itself, or the test could not use the result
    subject = "your code" if line else "calling it or using its result"
    return f"{subject} raised {raised['type']}{': ' + message[:200] if message else ''}{line}"


def names_argument(message: str, name: str, value: Any) -> bool:
    """Whether a message contains an argument's name as a word and its value or shape.

    Of a list or a tuple of numbers, one item is enough: the one that is wrong.
    """
    # Ignore case, as a sentence may begin with the name; a one-letter name in capitals is a different name
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
        elements = value.detach().double().flatten().tolist()  # torch prints four digits
        return bool(elements) and any(
            all(math.isclose(n, x, rel_tol=1e-3, abs_tol=1e-4) for n, x in zip(numbers[i:], elements))
            for i in range(len(numbers) - len(elements) + 1)
        )
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" in rest.lower() if math.isnan(value) else "inf" in rest.lower()
    if isinstance(value, (int, float)):
        return any(math.isclose(n, value, rel_tol=1e-3, abs_tol=1e-6) for n in numbers)
    if isinstance(value, (list, tuple)) and any(isinstance(item, (int, float)) and item in numbers for item in value):
        return True
    return str(value) in rest
