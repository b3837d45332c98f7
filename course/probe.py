"""Runs one program against a learner's names and reports what came out: an observation.

A *program* is data: inputs, then steps, each one call. A plain exercise is one step, `softmax(x, dim=1)`;
a module takes three (construct, load its weights, call it). The same runner serves `check` in the learner's
notebook, the judge's kernel, and the judge's own references and known mistakes, so what is compared was
made in the same way.

Does not cover: what is right (`course.compare`), how bytes travel (`course.packing`), time limits (whoever asks).
"""

from __future__ import annotations

import base64
import builtins
import contextlib
import io
import linecache
import re
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Any

import torch
from torch.overrides import TorchFunctionMode, resolve_name

from .packing import Node, PackingError, pack, unpack, writable


@dataclass(eq=False)
class Program:
    """One call, or a few in a row, as data.

    inputs     name -> value; tensors, plain data and nodes, built before the first step
    steps      (name, target, args, kwargs): target is a node; args may refer to inputs and earlier steps
    observe    names of the steps or inputs to send back
    cotangents one tensor for each floating-point tensor observed, in order; None: no gradients are asked
    forbidden  patterns (see `Watch`) of torch functions that this call must not use
    stand_ins  name -> source of a right function that takes the place of the learner's
    device     where tensors are put before the call
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


@dataclass(eq=False)
class Observation:
    """What came out.

    values     observed name -> result; tensors on the CPU, whatever is no plain data as a node
    devices    kinds of device on which observed tensors lie, each once
    gradients  leaf name -> tensor, or None where no gradient arrived; None: none were asked
    detached   indices of floating-point results that gradients could not be asked of
    changed    input name -> value, for tensors that the call changed in place
    raised     type, bases, message, line: the exception that ended the program; None: it ran to its end
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


def normal_name(name: str) -> str:
    """One spelling for a function's many: `F.log_softmax`, `nn.LogSoftmax`, `aten._log_softmax` -> `logsoftmax`."""
    name = re.sub(r"^(linalg|special|sparse)_", "", name.split(".")[0].strip("_").lower())
    return name.replace("_", "")


def is_forbidden(name: str, patterns: Iterable[str]) -> bool:
    """Whether `name`, in its normal spelling, matches one of the patterns (regular expressions) as a whole."""
    return _matches(name, tuple(patterns))


@lru_cache(maxsize=4096)
def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(re.fullmatch(pattern.replace("_", ""), normal_name(name)) for pattern in patterns)


class Watch(TorchFunctionMode):
    """Notes every torch function called under it whose name matches one of `patterns`; stops none."""

    def __init__(self, patterns: list[str]) -> None:
        super().__init__()
        self.patterns = tuple(patterns)
        self.used: list[str] = []

    def __torch_function__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        plain = getattr(func, "__name__", str(func))
        if _matches(plain, self.patterns):
            name = resolve_name(func) or plain
            if name not in self.used:
                self.used.append(name)
        return func(*args, **(kwargs or {}))


def run(program: Program, namespace: Mapping[str, Any]) -> Observation:
    """Run `program`, taking the learner's functions and classes from `namespace`. Never raises."""
    seen = Observation()
    try:
        with _quiet(), _standing_in(program, namespace) as names, torch.enable_grad():
            _run(program, names, seen)
    except BaseException as error:  # whatever the learner's code raises is an observation, SystemExit too
        seen.raised = describe(error)
    return seen


def answer(request: str, namespace: Mapping[str, Any] | None = None) -> str:
    """The kernel's side of the wire: packed programs in base64 in, packed observations in base64 out.

    The learner's names are taken from `namespace`, or from the notebook where that is None. Raises PackingError where
    several observations are too large together: asked for one by one, each that is too large by itself says so.
    """
    if namespace is None:
        from IPython import get_ipython

        namespace = get_ipython().user_ns
    seen = [run(Program(**plain), namespace) for plain in unpack(base64.b64decode(request))]
    try:
        blob = pack([one.to_plain() for one in seen])
    except PackingError as error:
        if len(seen) > 1:
            raise
        blob = pack([Observation(raised=describe(error)).to_plain()])
    return base64.b64encode(blob).decode()


def _seed(seed: int, device: str = "cpu") -> None:
    """As torch.manual_seed, which spends most of its time on kinds of devices that are not in use."""
    if device == "cpu" and not torch.cuda.is_initialized():
        torch.default_generator.manual_seed(seed)
    else:
        torch.manual_seed(seed)


def _run(program: Program, names: Mapping[str, Any], seen: Observation) -> None:
    _seed(program.seed, program.device)
    builder = _Builder(names, program.device, program.cotangents is not None)
    for name, value in program.inputs.items():
        builder.known[name] = builder.build(value, name)
    before = {path: (leaf, leaf.detach().clone()) for path, leaf in builder.leaves.items()}
    watch = Watch(program.forbidden)
    try:
        with watch if program.forbidden else contextlib.nullcontext():
            for name, target, args, kwargs in program.steps:
                call = builder.build(target)
                named = {key: builder.build(value) for key, value in kwargs.items()}
                builder.known[name] = call(*map(builder.build, args), **named)
    finally:
        seen.used = watch.used
    outputs: list[torch.Tensor] = []
    seen.values = {name: _outcome(builder.known[name], seen.devices, outputs) for name in program.observe}
    for path, (leaf, copy) in before.items():
        # by value, not by version counter: writing through .data or numpy counts, putting back what was there does not
        if not torch.equal(leaf.detach().nan_to_num(), copy.nan_to_num()):
            seen.changed[path] = leaf.detach()
    if program.cotangents is not None:
        _differentiate(program, builder, outputs, seen)


def _differentiate(program: Program, builder: _Builder, outputs: list[torch.Tensor], seen: Observation) -> None:
    """Vector-Jacobian products of the observed results with the program's cotangents."""
    leaves = dict(builder.leaves)
    for name, value in builder.known.items():
        if isinstance(value, torch.nn.Module):
            leaves |= {f"{name}.{key}": p for key, p in _parameters(value).items() if p.requires_grad}
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
    """A sparse gradient, as `F.embedding(..., sparse=True)` has, is a gradient like any other."""
    if gradient is None:
        return None
    return gradient.detach() if gradient.layout == torch.strided else gradient.detach().to_dense()


class _Builder:
    """Turns a program's values into live objects, once each."""

    def __init__(self, names: Mapping[str, Any], device: str, gradients: bool) -> None:
        self.names, self.device, self.gradients = names, device, gradients
        self.known: dict[str, Any] = {}
        self.leaves: dict[str, torch.Tensor] = {}

    def build(self, value: Any, path: str | None = None) -> Any:
        """`path` names an input, whose tensors are watched and differentiated; None elsewhere."""
        if isinstance(value, torch.Tensor):
            # Not .to(): a tensor that is already there must still be this program's own
            made = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=self.device)
            made = made.copy_(value.detach())
            if path is not None:
                self.leaves[path] = made.requires_grad_(self.gradients and made.is_floating_point())
            return made
        if isinstance(value, (list, tuple)):
            return type(value)(self.build(v, path and f"{path}[{i}]") for i, v in enumerate(value))
        if isinstance(value, dict):
            return {k: self.build(v, path and f"{path}[{k!r}]") for k, v in value.items()}
        if isinstance(value, Node):
            return getattr(self, "_" + value.kind)(value)
        return value

    def _ref(self, node: Node) -> Any:
        made = self.known[node.name]
        for key in node.path:
            made = made[key]
        return made

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
        return getattr(torch, node.name)

    def _specimen(self, node: Node) -> Any:
        from . import specimens

        made = getattr(specimens, node.name)(**self.build(node.kwargs))
        return prepare(made.to(self.device), node.state) if node.state is not None else made


def _parameters(module: torch.nn.Module) -> dict[str, torch.nn.Parameter]:
    """Parameters under each of their names; what an nn.Sequential holds goes by its place there, too."""
    found = dict(module.named_parameters(remove_duplicate=False))
    for name, part in module.named_modules(remove_duplicate=False):
        for place, item in enumerate(part if isinstance(part, torch.nn.Sequential) else ()):
            prefix = f"{name}.{place}" if name else str(place)
            for key, parameter in item.named_parameters(prefix, remove_duplicate=False):
                found.setdefault(key, parameter)
    return found


def prepare(
    module: torch.nn.Module, state: dict[str, torch.Tensor], training: bool = False, exactly: bool = True
) -> torch.nn.Module:
    """Give `module` the parameters of `state`, in their dtype, and a mode.

    Raises ValueError where its parameters have other names or shapes, naming the first that differs. A parameter may
    have further names (a list of layers beside the attributes, its place in an nn.Sequential). Unless `exactly`,
    parameters that the state does not name are filled with 0 instead of being refused: an unwanted bias then costs no
    more than its own criterion.
    """
    own = _parameters(module)
    for name in sorted(state):
        if name not in own:
            raise ValueError(f"the module has no parameter {name}; it has {', '.join(own) or 'none'}")
        if own[name].shape != state[name].shape:
            raise ValueError(f"parameter {name} has shape {tuple(own[name].shape)}, not {tuple(state[name].shape)}")
    named = {id(own[name]) for name in state}
    others = sorted(name for name, parameter in own.items() if id(parameter) not in named)
    if others and exactly:
        raise ValueError(f"the module has a parameter {others[0]} that the contract does not name")
    first = next(iter(state.values()), None)
    if first is not None:
        module.to(device=first.device, dtype=first.dtype)
    own = _parameters(module)  # .to() may have made new ones
    with torch.no_grad():
        for name in others:
            own[name].zero_()
        for name, value in state.items():
            own[name].copy_(value)
    return module.train(training)


def _gradients_of(module: torch.nn.Module) -> dict[str, torch.Tensor | None]:
    return {name: None if p.grad is None else p.grad.detach().clone() for name, p in module.named_parameters()}


def _state_of(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {name: p.detach().clone() for name, p in module.state_dict().items()}


def _optimizer(module: torch.nn.Module, name: str = "SGD", **options: float) -> torch.optim.Optimizer:
    return getattr(torch.optim, name)(module.parameters(), **options)


def _fill(module: torch.nn.Module, value: float) -> None:
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.fill_(value)


def _backward(loss: torch.Tensor) -> torch.Tensor:
    loss.backward()
    return loss.detach()


def _repeat(times: int, function: Callable[..., Any], *args: Any, **kwargs: Any) -> list[Any]:
    return [function(*args, **kwargs) for _ in range(times)]


def _modes_of(module: torch.nn.Module) -> dict[str, bool]:
    return {name: m.training for name, m in module.named_modules()}


def _inspect(module: torch.nn.Module) -> dict[str, Any]:
    """Class names of a module's parts and the shapes of its parameters."""
    return {
        "parts": {name: type(part).__name__ for name, part in module.named_children()},
        "parameters": {name: list(p.shape) for name, p in module.named_parameters()},
    }


class _MadeElsewhere(TorchFunctionMode):
    """New tensors are made on "meta" where no device is named.

    What makes one is a call that is given none. A single number stays on the CPU: it goes with tensors of any device.
    """

    def __torch_function__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        kwargs = kwargs or {}
        made = func(*args, **kwargs)
        if not isinstance(made, torch.Tensor) or made.ndim == 0 or kwargs.get("device") is not None:
            return made
        given = [*args, *kwargs.values()]
        given += [item for value in given if isinstance(value, (list, tuple)) for item in value]
        return made if any(isinstance(value, torch.Tensor) for value in given) else made.to("meta")


def _lands_on(place: Any, function: Callable[..., Any], *args: Any, **kwargs: Any) -> bool:
    """Whether a result lies where `place` (a tensor or a device) does while new tensors are made elsewhere by default.

    This shows without a second device whether an answer cares for the device. Elsewhere is "meta", whose tensors hold
    no data: reading one, or moving it to another device, fails, and what fails so gets the benefit of the doubt. To
    mix one with the arguments is the mistake itself. Of several results, a tuple, the first is looked at.
    """
    wanted = torch.device(getattr(place, "device", place))
    try:
        with _MadeElsewhere():
            result = function(*args, **kwargs)
        return bool((result[0] if isinstance(result, tuple) else result).device.type == wanted.type)
    except (RuntimeError, TypeError) as error:
        if "meta" not in str(error):
            raise
        return not re.search("expected device|same device", str(error))


HELPERS: dict[str, Callable[..., Any]] = {
    "prepare": prepare,
    "state_of": _state_of,
    "gradients_of": _gradients_of,
    "modes_of": _modes_of,
    "inspect": _inspect,
    "optimizer": _optimizer,
    "fill": _fill,
    "backward": _backward,
    "repeat": _repeat,
    "seed": _seed,
    "generator_state": lambda generator: generator.get_state(),
    "lands_on": _lands_on,
    "is_same": lambda a, b: a is b,
    "shares_memory": lambda a, b: bool({p.data_ptr() for p in a.parameters()} & {p.data_ptr() for p in b.parameters()}),
    "parameters": lambda module: list(module.parameters()),
    "trainable": lambda module: {name: p.requires_grad for name, p in module.named_parameters()},
    "attribute": getattr,
    "bases": lambda value: [kind.__name__ for kind in type(value).__mro__],
}


def _outcome(value: Any, devices: list[str], outputs: list[torch.Tensor]) -> Any:
    """Plain data and tensors as they are, everything else as a node that says what it was."""
    if type(value) in (torch.Tensor, torch.nn.Parameter) and value.layout == torch.strided:
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
        return {str(key): _outcome(item, devices, outputs) for key, item in value.items()}
    if isinstance(value, torch.nn.Module):
        return Node("module", {"type": type(value).__name__, "training": value.training})
    kind = type(value)
    same_name = hasattr(builtins, kind.__name__) and kind.__module__ != "builtins"  # numpy's bool is no bool
    return Node("other", {"type": f"{kind.__module__}.{kind.__name__}" if same_name else kind.__name__})


def describe(error: BaseException) -> dict[str, Any]:
    """An exception as plain data, with the last line of the learner's own code that it passed through."""
    line = ""
    for frame in traceback.extract_tb(error.__traceback__):
        if not re.search(r"site-packages|[/\\]lib[/\\]python|[/\\]course[/\\]", frame.filename):
            line = (frame.line or linecache.getline(frame.filename, frame.lineno or 0)).strip()
    try:
        message = str(error)
    except Exception:
        message = ""
    return {
        "type": type(error).__name__,
        "bases": [base.__name__ for base in type(error).__mro__],
        "message": writable(message[:500]),
        "line": line[:200],
    }


class _Nowhere(io.TextIOBase):
    def write(self, text: str) -> int:
        return len(text)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """What a learner's function prints or warns is neither graded nor kept; what is global and stands in the way of
    a case, the default dtype and torch's random state, is the learner's again afterwards."""
    with contextlib.redirect_stdout(_Nowhere()), contextlib.redirect_stderr(_Nowhere()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        default = torch.get_default_dtype()
        devices = range(torch.cuda.device_count()) if torch.cuda.is_initialized() else ()
        torch.set_default_dtype(torch.float32)
        try:
            with torch.random.fork_rng(devices):
                yield
        finally:
            torch.set_default_dtype(default)


@contextlib.contextmanager
def _standing_in(program: Program, namespace: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Put the program's stand-ins where the learner's functions look their globals up, and take them out again.

    A stand-in may use what the learner's answer may not, so it runs outside the watch.
    """
    if not program.stand_ins:
        yield namespace
        return
    if not isinstance(namespace, dict):
        raise TypeError("stand-ins need the learner's own namespace, a dict")
    made: dict[str, Any] = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "math": __import__("math")}
    for source in program.stand_ins.values():
        exec(source, made)  # noqa: S102 - written by the course's authors, sent by the judge
    missing = object()
    before = {name: namespace.get(name, missing) for name in program.stand_ins}
    namespace.update({name: _unwatched(made[name]) for name in program.stand_ins})
    try:
        yield namespace
    finally:
        for name, value in before.items():
            if value is missing:
                namespace.pop(name, None)
            else:
                namespace[name] = value


def _unwatched(function: Any) -> Any:
    if isinstance(function, type):
        return function

    def stand_in(*args: Any, **kwargs: Any) -> Any:
        with torch._C.DisableTorchFunction():
            return function(*args, **kwargs)

    return stand_in
