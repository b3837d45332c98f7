"""Programs (what to call) and observations (what came out), both as plain data.

A plain exercise is one step, `softmax(x, dim=1)`; a module takes three: construct it, load its weights, call it.

Does not cover: how a program runs (`course.harness.runner`) or travels (`course.harness.serialization`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import torch

from .serialization import Node

MOST_ITEMS = 3  # of a list of tensors that are shown by their shapes


@dataclass(eq=False)
class Program:
    """One call, or several in a row, as data.

    inputs     name -> value; tensors, plain data and nodes, built before the first step
    steps      (name, target, args, kwargs): target is a node; args may refer to inputs and earlier steps
    observe    names of the steps or inputs to send back
    cotangents one tensor for each observed floating-point tensor, in order; None: compute no gradients
    forbidden  patterns (see `ForbiddenCallWatcher`) of torch functions that this call must not use
    stand_ins  name -> compiled correct function (`course.harness.bytecode`) that replaces the learner's
    device     device of the tensors during the call
    seed       for every global random generator
    """

    inputs: dict[str, Any]
    steps: list[tuple[str, Node, list[Any], dict[str, Any]]]
    observe: list[str]
    cotangents: list[torch.Tensor] | None = None
    forbidden: list[str] = field(default_factory=list)
    stand_ins: dict[str, str] = field(default_factory=dict)
    device: str = "cpu"
    seed: int = 0

    def to_plain(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}


def calls_in_shapes(program: Program) -> str:
    """The program's calls with shapes and plain arguments, without entries of tensors, helpers left out."""

    def show(value: Any) -> str:
        if isinstance(value, torch.Tensor):
            kind = "" if value.dtype == torch.float32 else f" {str(value.dtype).removeprefix('torch.')}"
            strided = "" if value.is_contiguous() else " non-contiguous"
            return f"{tuple(value.shape)}{kind}{strided}"
        if isinstance(value, Node):
            fields = value.fields
            if value.kind == "ref":
                return show(program.inputs[fields["name"]]) if fields["name"] in program.inputs else fields["name"]
            return str(fields.get("name", value.kind)) if value.kind != "generator" else "a generator"
        if holds_tensors(value):
            return in_brackets(value, [*map(show, value[:MOST_ITEMS]), *["…"] * (len(value) > MOST_ITEMS)])
        return repr(value) if len(repr(value)) < 60 else type(value).__name__

    lines = []
    for _, target, args, kwargs in program.steps:
        if target.kind == "helper":
            continue
        name = target.fields.get("name", "")
        if target.kind == "method":
            name = f"{target.of.fields.get('name', '')}.{name}"
        listed = [show(a) for a in args] + [f"{k}={show(v)}" for k, v in kwargs.items()]
        lines.append(f"{name}({', '.join(listed)})")
    return "; ".join(lines)


def holds_tensors(value: Any) -> bool:
    """Whether this is a list or tuple with tensors in it, at any depth."""
    return isinstance(value, (list, tuple)) and any(isinstance(v, torch.Tensor) or holds_tensors(v) for v in value)


def in_brackets(value: list[Any] | tuple[Any, ...], items: Sequence[str]) -> str:
    """The items as texts, in the brackets of a list or of a tuple."""
    if isinstance(value, list):
        return f"[{', '.join(items)}]"
    return f"({', '.join(items)}{',' if len(value) == 1 else ''})"


@dataclass(eq=False)
class Observation:
    """The results of one run of a program.

    values     observed name -> result; tensors on the CPU, anything but plain data as a node
    devices    kinds of device of the observed tensors, each once
    gradients  leaf name -> tensor, or None where no gradient arrived; None: not computed
    detached   indices of floating-point results without a gradient function
    changed    place -> value, for tensors and plain data of the inputs that the call changed in place, and
               for gradients that it left in them (in transit: for all, see `drop_unchanged`)
    raised     type, bases, message, line: the exception that ended the program; None: it ran to its end. If a
               function of torch raised it, also `operation`, the function's name, and `shapes` of its tensors
    used       names of forbidden functions that were called
    """

    values: dict[str, Any] = field(default_factory=dict)
    devices: list[str] = field(default_factory=list)
    gradients: dict[str, Any] | None = None
    detached: list[int] = field(default_factory=list)
    changed: dict[str, Any] = field(default_factory=dict)
    raised: dict[str, Any] | None = None
    used: list[str] = field(default_factory=list)

    def to_plain(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}
