"""Where a learner's answer raised an exception: the lines, and the values in the last one with their shapes."""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Iterator
from types import FrameType, TracebackType

import torch

from ..harness.errors import is_theirs

WHERE = "Where it was raised:"
INDENT, WIDTH = "    ", 84  # of a value's line; characters of a line in the brief form
LINES = 6  # last lines of the learner's that are shown


def describe_raise(error: BaseException) -> str:
    """The learner's lines that an exception passed, and the values in the last one; "" if they raised it on purpose."""
    passed = [(frame, number) for frame, number in _frames(error.__traceback__) if is_theirs(frame.f_code.co_filename)]
    lines = [
        f"line {number} of {_function_name(frame)}: {_source_line(frame, number)}"
        for frame, number in passed
        if _source_line(frame, number)
    ]
    if not lines or re.match(r"raise\b|assert\b", _source_line(*passed[-1])):
        return ""
    cut = ["…", *lines[-LINES:]] if len(lines) > LINES else lines
    return "\n".join([*cut, *(f"{INDENT}{name} is {what}" for name, what in _values_in(*passed[-1]))])


def shorten_description(lines: str) -> str:
    """The answer's own line, the line that raised the exception, and the values in it on a last line."""
    code = [line for line in lines.splitlines() if not line.startswith(INDENT)]
    values = [line.strip() for line in lines.splitlines() if line.startswith(INDENT)]
    while len("; ".join(values)) > WIDTH:
        values = [*values[: -1 - (values[-1] == "…")], "…"]
    ends = dict.fromkeys([code[0], code[-1]] if code[0] != "…" else [code[-1]])
    cut = [line if len(line) <= WIDTH else f"{line[:WIDTH]} …" for line in ends]
    return "\n".join([*cut, *([INDENT + "; ".join(values)] if values else [])])


def _frames(trace: TracebackType | None) -> Iterator[tuple[FrameType, int]]:
    while trace is not None:
        yield trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next


def _function_name(frame: FrameType) -> str:
    return frame.f_code.co_qualname.replace("<locals>.", "")


def _source_line(frame: FrameType, number: int) -> str:
    return linecache.getline(frame.f_code.co_filename, number, frame.f_globals).strip()


def _values_in(frame: FrameType, number: int) -> list[tuple[str, str]]:
    """The tensors and plain values that a line names, with their shapes."""
    line = _source_line(frame, number)
    try:
        tree = ast.parse(line if not line.endswith(":") else f"{line} pass")
    except SyntaxError:  # one line of a longer statement
        names = dict.fromkeys(re.findall(r"(?<![\w.])[A-Za-z_][\w.]*", line))
    else:
        found = [node for node in ast.walk(tree) if isinstance(node, (ast.Name, ast.Attribute))]
        found.sort(key=lambda node: node.end_col_offset or 0)
        names = dict.fromkeys(ast.unparse(node) for node in found if isinstance(node.ctx, ast.Load))
    described = ((name, _describe(name, frame)) for name in names)
    return [(name, what) for name, what in described if what]


def _describe(name: str, frame: FrameType) -> str:
    """Describe a name, or an attribute of one, without running the learner's code."""
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
