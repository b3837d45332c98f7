"""A closed vocabulary for programs that come from a file beside a notebook.

A file of check data names what to call: the answer, helpers and sample models of this package, and the methods listed
here. So its author chooses inputs, but no code: only the learner's code and this package's can run.

Does not cover: programs of the judge, which come from the teacher's own graders.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch

from . import sample_models
from .harness.helpers import HELPERS
from .harness.serialization import Node, PackingError

#: Methods that a step may call: of tensors, modules, optimizers, tokenizers, page caches and lists; none reads or
#: writes a file
METHODS = frozenset(
    """
    __add__ __getitem__ __len__ __matmul__ __mul__ __neg__ __sub__ __truediv__ abs add add_ add_param_group all amax
    amin any append argmax argmin backward bool clamp clone contiguous copy_ cos count cumsum decode detach diff div
    div_ double encode eq eval exp expand fill_ flatten float float_ fork forward free ge gt half index keys le log
    long lt masked_fill masked_fill_ matmul max mean min mul mul_ ne neg neg_ norm norm_1 norm_2 narrow new normal_
    permute pow prod read repeat requires_grad_ reshape sigmoid sin softmax sort split sqrt square squeeze std step
    sub sub_ sum table tanh to tolist transpose tril triu type_as unbind unflatten unsqueeze values var view zero_
    train zero_grad
    """.split()  # noqa: SIM905 - a list would have a line for each
)
KINDS = ("device", "dtype", "generator", "helper", "method", "ref", "specimen", "student")


def ensure_data_only(program: Mapping[str, Any], exercise: str) -> None:
    """Raise PackingError if a program, as plain data, can run anything but the answer and this package."""
    if program.get("stand_ins"):
        raise PackingError(f"{exercise}: a program with compiled code")
    for node in _nodes([program["inputs"], [list(step) for step in program["steps"]]]):
        if not _is_known(node, exercise):
            raise PackingError(
                f"{exercise}: {node.kind} {str(node.fields.get('name'))[:80]!r} is not part of check data"
            )


def _is_known(node: Node, exercise: str) -> bool:
    name = node.fields.get("name")
    if node.kind not in KINDS:
        return False
    if node.kind == "student":
        return bool(name == exercise)
    if node.kind == "dtype":
        return isinstance(getattr(torch, str(name), None), torch.dtype)
    known = {"helper": HELPERS, "method": METHODS, "specimen": sample_models.__all__}
    return node.kind not in known or name in known[node.kind]


def _nodes(value: Any) -> Iterator[Node]:
    if isinstance(value, Node):
        yield value
        value = value.fields
    if isinstance(value, dict):
        value = list(value.values())
    for item in value if isinstance(value, (list, tuple)) else ():
        yield from _nodes(item)
