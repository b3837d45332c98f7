"""Runs one program on a learner's functions and returns the observation.

`check` in a notebook, the judge's kernel, and the judge's own references and known mistakes share this runner, so that
the observations are comparable.

Does not cover: what is right (`course.harness.compare`), how bytes travel (`course.harness.serialization`), time limits
(the caller's, through `CallHooks` or from outside).
"""

from __future__ import annotations

import base64
import builtins
import contextlib
import io
import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import torch

from .bytecode import load_stand_in
from .compare import leaves
from .errors import exception_to_record
from .forbidden_calls import ForbiddenCallWatcher, trusting
from .helpers import HELPERS, load_weights, parameters_by_name, set_seed
from .program import Observation, Program
from .serialization import Node, PackingError, pack, unpack

NO_COMPILER = "TORCHDYNAMO_DISABLE"


class CallHooks:
    """Hooks of a call: `out` for its output, `limit` to end it, and its `error`."""

    error: BaseException | None = None

    def __init__(
        self, out: io.TextIOBase | None = None, limit: contextlib.AbstractContextManager[None] | None = None
    ) -> None:
        self.out: Any = out or _Nowhere()
        self.limit = limit or contextlib.nullcontext()


def observe(program: Program, namespace: Mapping[str, Any], witness: CallHooks | None = None) -> Observation:
    """Run `program` on the functions and classes of `namespace`. Never raises."""
    return drop_unchanged(_observe(program, namespace, witness or CallHooks()), program)


def drop_unchanged(seen: Observation, program: Program) -> Observation:
    """Keep only what differs in `changed` from the program's inputs.

    The process that compares does this itself: the learner's process cannot be trusted to report its own changes.
    """
    given = {place: v for name, value in program.inputs.items() for place, v in leaves(value, name)}
    changed = {place: v for place, v in seen.changed.items() if place not in given or not _same(v, given[place])}
    return replace(seen, changed=changed)


def _same(a: Any, b: Any) -> bool:
    """Compare by value: unlike the version counter, it detects writes by numpy."""
    if not (isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor)):
        return type(a) is type(b) and bool(a == b or (a != a and b != b))
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    return bool(((a == b) | (a.isnan() & b.isnan())).all())  # -inf is not the lowest finite number


def _observe(program: Program, namespace: Mapping[str, Any], witness: CallHooks) -> Observation:
    """Run the program; `changed` has all tensors and plain data of the inputs after the call."""
    seen, watch = Observation(), ForbiddenCallWatcher(program.forbidden)
    try:
        with _quiet(witness.out), _stand_ins_in_place(program, namespace) as names, torch.enable_grad(), witness.limit:
            _run(program, names, seen, watch)
    except BaseException as error:  # every exception of the learner's code is an observation, even SystemExit
        seen.raised, witness.error = exception_to_record(error) | watch.failed_call(error), error
    return seen


def handle_request(request: str, namespace: Mapping[str, Any] | None = None) -> str:
    """Run the judge's packed programs (base64) and return packed observations.

    The learner's names come from `namespace`, by default from the notebook. Raises PackingError if several observations
    are too large together; requested one at a time, one that is too large reports that itself.
    """
    if namespace is None:
        from IPython import get_ipython

        namespace = get_ipython().user_ns
    with trusting([]):  # not even functions that the notebook trusted before
        return encode_reply(
            [_observe(Program(**plain), namespace, CallHooks()) for plain in unpack(base64.b64decode(request))]
        )


def encode_reply(seen: list[Observation]) -> str:
    """Pack observations for the judge. Raises PackingError, see `handle_request`."""
    try:
        blob = pack([observation.to_plain() for observation in seen])
    except PackingError as error:
        if len(seen) > 1:
            raise
        blob = pack([Observation(raised=exception_to_record(error)).to_plain()])
    return base64.b64encode(blob).decode()


def _run(program: Program, names: Mapping[str, Any], seen: Observation, watch: ForbiddenCallWatcher) -> None:
    set_seed(program.seed, program.device)
    builder = _Builder(names, program.device, program.cotangents is not None, watch)
    for name, value in program.inputs.items():
        builder.known[name] = builder.build(value, name)
    try:
        with _uncompiled(), watch if program.forbidden else contextlib.nullcontext():
            for name, target, args, kwargs in program.steps:
                call = builder.build(target)
                if target.kind == "student":
                    watch.note_answer(call)
                named = {key: builder.build(value) for key, value in kwargs.items()}
                builder.known[name] = result = call(*map(builder.build, args), **named)
                if not watch.lends:
                    watch.note_answer(result)
    finally:
        seen.used = watch.used
        seen.changed = {path: v for name in program.inputs for path, v in _left(program.inputs[name], builder, name)}
    outputs: list[torch.Tensor] = []
    seen.values = {name: _outcome(builder.known[name], seen.devices, outputs) for name in program.observe}
    if program.cotangents is not None:
        _differentiate(program, builder, outputs, seen)


def _left(given: Any, builder: _Builder, name: str) -> Iterator[tuple[str, Any]]:
    """Yield an input's tensors and plain data after the call, and their new gradients."""
    found = dict(leaves(builder.known[name], name))
    for path, value in leaves(given, name):
        if not isinstance(value, Node) and path not in found:
            yield path, "removed"
    for path, value in found.items():
        if isinstance(value, torch.Tensor):
            if not value.is_meta:
                yield path, value.detach().cpu() if value.layout == torch.strided else "replaced"
        elif value is None or isinstance(value, (bool, int, float, str)):
            yield path, value
        leaf = builder.leaves.get(path)
        if leaf is not None and leaf.grad is not None and not leaf.is_meta:
            yield f"{path}.grad", _dense(leaf.grad.cpu())
        if leaf is not None and leaf.requires_grad != (builder.gradients and leaf.is_floating_point()):
            yield f"{path}.requires_grad", leaf.requires_grad


def _differentiate(program: Program, builder: _Builder, outputs: list[torch.Tensor], seen: Observation) -> None:
    """Compute vector-Jacobian products of the results with the cotangents."""
    leaves = dict(builder.leaves)
    for name, value in builder.known.items():
        if isinstance(value, torch.nn.Module):
            leaves |= {f"{name}.{key}": p for key, p in parameters_by_name(value).items() if p.requires_grad}
    leaves = {name: leaf for name, leaf in leaves.items() if leaf.requires_grad}
    pairs = []
    for index, (output, cotangent) in enumerate(zip(outputs, program.cotangents or [], strict=False)):
        if not output.requires_grad:
            seen.detached.append(index)
        elif output.shape == cotangent.shape:
            pairs.append((output, cotangent.to(output)))
    seen.gradients = dict.fromkeys(leaves)
    if pairs and leaves:
        found = torch.autograd.grad(
            [p[0] for p in pairs], list(leaves.values()), [p[1] for p in pairs], allow_unused=True
        )
        seen.gradients = {name: _dense(g) for name, g in zip(leaves, found, strict=True)}


def _dense(gradient: torch.Tensor | None) -> torch.Tensor | None:
    """Make a gradient dense: `F.embedding(..., sparse=True)` has sparse ones."""
    if gradient is None:
        return None
    return gradient.detach() if gradient.layout == torch.strided else gradient.detach().to_dense()


class _Builder:
    """Build a program's values as live objects, each once."""

    def __init__(self, names: Mapping[str, Any], device: str, gradients: bool, watch: ForbiddenCallWatcher) -> None:
        self.names, self.device, self.gradients, self.watch = names, device, gradients, watch
        self.known: dict[str, Any] = {}
        self.leaves: dict[str, torch.Tensor] = {}

    def build(self, value: Any, path: str | None = None) -> Any:
        """Build a value; the tensors of an input, which has a `path`, are leaves."""
        if isinstance(value, torch.Tensor):
            # Not .to(): it may return the same tensor, and the program needs its own
            copy = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=self.device)
            copy = copy.copy_(value.detach())
            if path is not None:
                self.leaves[path] = copy.requires_grad_(self.gradients and copy.is_floating_point())
            return copy
        if isinstance(value, (list, tuple)):
            return type(value)(self.build(v, path and f"{path}[{i}]") for i, v in enumerate(value))
        if isinstance(value, dict):
            return {k: self.build(v, path and f"{path}[{k!r}]") for k, v in value.items()}
        if isinstance(value, Node):
            return getattr(self, "_" + value.kind)(value)
        return value

    def _ref(self, node: Node) -> Any:
        value = self.known[node.name]
        for key in node.path:
            value = value[key]
        return value

    def _student(self, node: Node) -> Any:
        try:
            return self.names[node.name]
        except KeyError:
            raise NotImplementedError(f"{node.name} is not defined") from None

    def _helper(self, node: Node) -> Any:
        return HELPERS[node.name]

    def _method(self, node: Node) -> Any:
        return getattr(self.build(node.of), node.name)

    def _generator(self, node: Node) -> torch.Generator:
        return torch.Generator().manual_seed(node.seed)

    def _device(self, node: Node) -> torch.device:
        return torch.device(self.device)

    def _dtype(self, node: Node) -> torch.dtype:
        dtype: torch.dtype = getattr(torch, node.name)
        return dtype

    def _specimen(self, node: Node) -> Any:
        from .. import sample_models

        sample = getattr(sample_models, node.name)(**self.build(node.kwargs))
        self.watch.lend(sample)
        if isinstance(sample, torch.nn.Module):
            sample = sample.to(self.device)
        return load_weights(sample, self.build(node.state)) if node.state is not None else sample


def _outcome(value: Any, devices: list[str], outputs: list[torch.Tensor]) -> Any:
    """Keep plain data and tensors; turn everything else into a node with its type."""
    if type(value) in (torch.Tensor, torch.nn.Parameter) and value.layout == torch.strided:
        if value.is_meta:
            return Node("other", {"type": "tensor on the device meta"})
        if value.device.type not in devices:
            devices.append(value.device.type)
        if value.is_floating_point():
            outputs.append(value)
        return value.detach().cpu()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return (list if type(value) is list else tuple)(_outcome(item, devices, outputs) for item in value)
    if isinstance(value, dict):
        named = {str(key): item for key, item in value.items()}
        return {key: _outcome(named[key], devices, outputs) for key in sorted(named)}  # in the order of `leaves`
    if isinstance(value, torch.nn.Module):
        return Node("module", {"type": type(value).__name__, "training": value.training})
    kind = type(value)
    same_name = hasattr(builtins, kind.__name__) and kind.__module__ != "builtins"  # numpy's bool is not Python's
    fields: dict[str, Any] = {"type": f"{kind.__module__}.{kind.__name__}" if same_name else kind.__name__}
    if kind.__module__ == "numpy" and getattr(value, "ndim", None) == 0:  # a single number
        plain = value.item()
        fields |= {"value": plain} if type(plain) in (bool, int, float) else {}
    return Node("other", fields)


class _Nowhere(io.TextIOBase):
    def write(self, text: str) -> int:
        return len(text)


@contextlib.contextmanager
def standard_settings() -> Iterator[None]:
    """Use torch's own default dtype and device in this block, and then the notebook's again.

    With a default device, tensors made without a device would be on another one than the arguments. With anomaly
    detection, a right answer would raise an exception at an intermediate NaN that it masks out later.
    """
    dtype, device = torch.get_default_dtype(), torch.tensor(0).device
    torch.set_default_dtype(torch.float32)
    if device.type != "cpu":
        torch.set_default_device("cpu")
    try:
        with torch.autograd.set_detect_anomaly(False):
            yield
    finally:
        torch.set_default_dtype(dtype)
        if torch.tensor(0).device != device:
            torch.set_default_device(device)


@contextlib.contextmanager
def _uncompiled() -> Iterator[None]:
    """Run functions under `torch.compile` as they are written.

    Compiling would exceed a call's time limit, and would compile the watcher into the answer. Does nothing for
    functions that a torch before 2.6 compiled.
    """
    dynamo: Any = sys.modules.get("torch._dynamo")
    before = os.environ.get(NO_COMPILER)
    os.environ[NO_COMPILER] = "1"  # torch.compile reads it where a call compiles
    try:
        with dynamo.set_stance("force_eager") if hasattr(dynamo, "set_stance") else contextlib.nullcontext():
            yield
    finally:
        os.environ.pop(NO_COMPILER, None)
        if before is not None:
            os.environ[NO_COMPILER] = before


@contextlib.contextmanager
def _quiet(out: Any) -> Iterator[None]:
    """Redirect output, silence warnings, keep torch's settings and random state."""
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        devices = range(torch.cuda.device_count()) if torch.cuda.is_initialized() else ()
        with standard_settings(), torch.random.fork_rng(devices):
            yield


@contextlib.contextmanager
def _stand_ins_in_place(program: Program, namespace: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Put the program's stand-ins into the learner's globals for this block."""
    if not program.stand_ins:
        yield namespace
        return
    if not isinstance(namespace, dict):
        raise TypeError("stand-ins need the learner's own namespace, a dict")
    defined: dict[str, Any] = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "math": __import__("math")}
    for sealed in program.stand_ins.values():
        exec(load_stand_in(sealed), defined)  # noqa: S102 - written by the course's authors, sent by the judge
    missing = object()
    before = {name: namespace.get(name, missing) for name in program.stand_ins}
    right = {name: defined[name] for name in program.stand_ins}
    namespace.update(right)
    try:
        with trusting(right.values()):
            yield namespace
    finally:
        for name, value in before.items():
            if value is missing:
                namespace.pop(name, None)
            else:
                namespace[name] = value
