"""Errors that torch and Python raise in a learner's answer: the learner's own lines, what stood in the last of them,
with shapes, and a word of help for those that everybody meets."""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Iterator
from types import FrameType, TracebackType

import torch

from ...harness.errors import is_theirs
from ...report import CodeNote
from .advice import help_with

WHERE = "Where it was raised:"
LINES = 6  # of the learner's that are shown, the last ones


def explained(error: BaseException) -> CodeNote | None:
    """The learner's own lines through which an exception passed, what stood in the last one, and a word of help;
    None for an exception that the learner's code raises on purpose, or that passed through none of it."""
    passed = [(frame, number) for frame, number in _frames(error.__traceback__) if is_theirs(frame.f_code.co_filename)]
    lines = [
        f"line {number} of {_called(frame)}: {_text(frame, number)}" for frame, number in passed if _text(frame, number)
    ]
    if not lines or re.match(r"raise\b|assert\b", _text(*passed[-1])):
        return None
    cut = ["…", *lines[-LINES:]] if len(lines) > LINES else lines
    found = [f"    {name} is {what}" for name, what in _standing_in(*passed[-1])]
    helping = help_with(str(error))
    return CodeNote(helping or WHERE, "\n".join([*cut, *found]))


def _frames(trace: TracebackType | None) -> Iterator[tuple[FrameType, int]]:
    while trace is not None:
        yield trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next


def _called(frame: FrameType) -> str:
    return frame.f_code.co_qualname.replace("<locals>.", "")


def _text(frame: FrameType, number: int) -> str:
    return linecache.getline(frame.f_code.co_filename, number, frame.f_globals).strip()


def _standing_in(frame: FrameType, number: int) -> list[tuple[str, str]]:
    """The tensors and other plain values that a line names, each as it is written there, with its shape."""
    line = _text(frame, number)
    try:
        tree = ast.parse(line if not line.endswith(":") else f"{line} pass")
    except SyntaxError:  # a statement of several lines, or a part of one
        names = dict.fromkeys(re.findall(r"(?<![\w.])[A-Za-z_][\w.]*", line))
    else:
        found = [node for node in ast.walk(tree) if isinstance(node, (ast.Name, ast.Attribute))]
        found.sort(key=lambda node: node.end_col_offset or 0)
        names = dict.fromkeys(ast.unparse(node) for node in found if isinstance(node.ctx, ast.Load))
    told = ((name, _told(name, frame)) for name in names)
    return [(name, what) for name, what in told if what]


def _told(name: str, frame: FrameType) -> str:
    """What a name, or an attribute of one, is where it can be told without running code of the learner's."""
    first, *attributes = name.split(".")
    value = frame.f_locals.get(first, frame.f_globals.get(first))
    for attribute in attributes:
        kept = getattr(value, "__dict__", {})
        if not isinstance(value, torch.nn.Module):
            return ""
        value = {**kept.get("_buffers", {}), **kept.get("_parameters", {}), **kept.get("_modules", {}), **kept}.get(
            attribute
        )
    if isinstance(value, torch.Tensor):
        return f"{tuple(value.shape)}, {str(value.dtype).removeprefix('torch.')}"
    if isinstance(value, torch.nn.Linear):
        return f"a Linear from {value.in_features} to {value.out_features}"
    return repr(value) if type(value) in (int, float, bool) else ""
