"""Helpers that a program's steps may call besides the learner's functions.

`HELPERS` maps the names used in programs to them: load weights, read gradients, check devices and others.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import re
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from .allocation_probe import AllocationProbe
from .errors import mixes_devices


def parameters_by_name(module: torch.nn.Module) -> dict[str, torch.nn.Parameter]:
    """Map every name of every parameter to it, with indices for nn.Sequential."""
    found = dict(module.named_parameters(remove_duplicate=False))
    for name, part in module.named_modules(remove_duplicate=False):
        for place, item in enumerate(part if isinstance(part, torch.nn.Sequential) else ()):
            prefix = f"{name}.{place}" if name else str(place)
            for key, parameter in item.named_parameters(prefix, remove_duplicate=False):
                found.setdefault(key, parameter)
    return found


def load_weights(
    module: torch.nn.Module, state: dict[str, torch.Tensor], training: bool = False, exactly: bool = True
) -> torch.nn.Module:
    """Give `module` the parameters of `state`, in their dtype, and a mode.

    Raises ValueError for missing names or other shapes, naming the first. A parameter may have several names (a list of
    layers beside the attributes, its index in an nn.Sequential). Unless `exactly`, parameters that are not in the state
    are set to 0 instead of being rejected: an unwanted bias then loses only its own criterion.
    """
    own = parameters_by_name(module)
    for name in sorted(state):
        if name not in own:
            plain = f"; `self.{name}` is not a parameter" if name in vars(module) else ""
            raise ValueError(f"the module has no parameter {name}; it has {', '.join(own) or 'none'}{plain}")
        if own[name].shape != state[name].shape:
            raise ValueError(f"parameter {name} has shape {tuple(own[name].shape)}, not {tuple(state[name].shape)}")
    named = {id(own[name]) for name in state}
    others = sorted(name for name, parameter in own.items() if id(parameter) not in named)
    if others and exactly:
        raise ValueError(
            f"the module has a parameter {others[0]} that is not asked for; the exercise has {', '.join(state)}"
        )
    first = next(iter(state.values()), None)
    if first is not None:
        module.to(device=first.device, dtype=first.dtype)
    own = parameters_by_name(module)  # .to() may have made new ones
    with torch.no_grad():
        for name in others:
            own[name].zero_()
        for name, value in state.items():
            own[name].copy_(value)
    return module.train(training)


def set_seed(seed: int, device: str = "cpu") -> None:
    """Seed torch's global generator.

    Faster than torch.manual_seed, which spends most of its time on kinds of devices that are not in use.
    """
    if device == "cpu" and not torch.cuda.is_initialized():
        torch.default_generator.manual_seed(seed)
    else:
        torch.manual_seed(seed)


def _gradients_of(module: torch.nn.Module) -> dict[str, torch.Tensor | None]:
    """The gradient of every parameter by name; None where there is none."""
    return {name: None if p.grad is None else p.grad.detach().clone() for name, p in module.named_parameters()}


def _state_of(module: Any) -> dict[str, torch.Tensor]:
    """A copy of a module's state dict (parameters and buffers); else an empty dict."""
    state = module.state_dict() if isinstance(module, torch.nn.Module) else {}
    return {name: p.detach().clone() for name, p in state.items()}


def _optimizer(module: torch.nn.Module, name: str = "SGD", **options: Any) -> torch.optim.Optimizer:
    """The optimizer of this name in torch.optim, for all parameters of `module`."""
    kind = getattr(torch.optim, name)
    if not (isinstance(kind, type) and issubclass(kind, torch.optim.Optimizer)):
        raise ValueError(f"torch.optim has no optimizer {name!r}")
    return kind(module.parameters(), **options)


def _fill(module: torch.nn.Module, value: float) -> None:
    """Set every entry of every parameter to this value."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.fill_(value)


def _backward(loss: torch.Tensor) -> torch.Tensor:
    """Call `loss.backward()` and return the loss, detached."""
    loss.backward()
    return loss.detach()


def _repeat(times: int, function: Callable[..., Any], *args: Any, **kwargs: Any) -> list[Any]:
    """Call `function` this many times and return the results in a list."""
    return [function(*args, **kwargs) for _ in range(times)]


def _modes_of(module: torch.nn.Module) -> dict[str, bool]:
    """Whether the module ("model") and each of its parts, by name, is in training mode."""
    return {name or "model": m.training for name, m in module.named_modules()}


def _inspect(module: torch.nn.Module) -> dict[str, Any]:
    """The class names of a module's parts and the shapes of its parameters."""
    return {
        "parts": {name: type(part).__name__ for name, part in module.named_children()},
        "parameters": {name: list(p.shape) for name, p in module.named_parameters()},
    }


class _NewTensorsOnMeta(TorchFunctionMode):
    """Make new tensors on "meta" unless a device is given.

    A new tensor is one from a call without tensor arguments. 0-d tensors stay on the CPU: they work with any device.
    """

    def __torch_function__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        kwargs = kwargs or {}
        if func in (torch.Tensor.__getitem__, torch.Tensor.__setitem__) and not args[0].is_meta:
            index = args[1] if isinstance(args[1], tuple) else (args[1],)
            if any(isinstance(part, torch.Tensor) and part.is_meta for part in index):
                # PyTorch accepts an index on the CPU for a tensor on any device, and misreads one on "meta"
                raise RuntimeError("an index on meta has no numbers")
        result = func(*args, **kwargs)
        if not isinstance(result, torch.Tensor) or result.ndim == 0 or kwargs.get("device") is not None:
            return result
        given = [*args, *kwargs.values()]
        given += [item for value in given if isinstance(value, (list, tuple)) for item in value]
        return result if any(isinstance(value, torch.Tensor) for value in given) else result.to("meta")


def _elsewhere(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call `function` while new tensors without a device are made on "meta".

    This shows, without a second device, whether an answer uses the device of its arguments: a tensor on "meta" holds no
    data. If reading or moving one fails, the answer gets the benefit of the doubt: the result of an ordinary call, or
    None if that fails the same way. Combining one with the arguments is the mistake itself.
    """
    for mode in (_NewTensorsOnMeta(), contextlib.nullcontext()):
        try:
            with mode:
                return function(*args, **kwargs)
        except (RuntimeError, TypeError) as error:
            if "meta" not in str(error) or mixes_devices(str(error)):
                raise
    return None


def _parameters_after_calls(
    counts: list[int], function: Callable[..., Any], model: Any, *args: Any, **kwargs: Any
) -> list[dict[str, torch.Tensor]]:
    """The parameters of `model` if training stops after each of `counts` calls.

    Trains copies of `model`, a `sample_models.Slope`.
    """
    from ..sample_models import Enough

    snapshots = []
    for count in counts:
        own, given = copy.deepcopy(model), [a.clone() if isinstance(a, torch.Tensor) else a for a in args]
        own.patience = count
        with contextlib.suppress(Enough):
            function(own, *given, **kwargs)
        snapshots.append(_state_of(own))
    return snapshots


def _measured(function: Callable[..., Any], *args: Any, **kwargs: Any) -> list[Any]:
    """The result of a call, the shape of its largest tensor, and its multiplications.

    Only floating-point tensors and matrix products count.
    """
    with AllocationProbe() as probe:
        result = function(*args, **kwargs)
    return [result, list(probe.shape), probe.products]


def _generator_state(generator: torch.Generator) -> torch.Tensor:
    """The state of a generator, which changes with each draw."""
    return generator.get_state()


def _all_parameters(module: torch.nn.Module) -> list[torch.nn.Parameter]:
    """The parameters in a list, to observe or pass on."""
    return list(module.parameters())


def _trainable(module: torch.nn.Module) -> dict[str, bool]:
    """Whether each parameter, by name, requires a gradient."""
    return {name: p.requires_grad for name, p in module.named_parameters()}


def _attribute(value: Any, name: str) -> Any:
    """A public attribute of any object, but no function: those are called as methods."""
    found = getattr(value, name)
    if name.startswith("_") or inspect.isroutine(found) or inspect.ismodule(found):
        raise TypeError(f"{name} is not an attribute that holds data")
    return found


def _renumbered(value: Any) -> Any:
    """Whole numbers in nested lists, numbered in the order in which they first appear.

    So names that may be chosen freely, such as ids and numbers of pages, become equal in all right answers.
    """
    order: dict[int, int] = {}

    def number(item: Any) -> Any:
        if isinstance(item, (list, tuple)):
            return [number(part) for part in item]
        return order.setdefault(item, len(order)) if type(item) is int else item

    return number(value)


def _bases(value: Any) -> list[str]:
    """The names of a value's class and of all its base classes."""
    return [kind.__name__ for kind in type(value).__mro__]


def _refusal(words: list[list[Any]], function: Callable[..., Any], *args: Any, **kwargs: Any) -> dict[str, Any]:
    """The type of a call's exception, and which of `words` its message has.

    type  its first built-in class; "" if the call returns
    says  for each of `words`: whether the message has one of these names or shapes
    """
    try:
        function(*args, **kwargs)
    except NotImplementedError:  # there is no answer yet
        raise
    except Exception as error:
        kind = next(base for base in type(error).__mro__ if base.__module__ == "builtins")
        return {"type": kind.__name__, "says": [any(_says(str(error), word) for word in some) for some in words]}
    return {"type": "", "says": []}


def _says(message: str, word: Any) -> bool:
    """Whether a message has this name, or the numbers of this shape in a row."""
    if isinstance(word, str):
        return re.search(rf"(?<![\w.]){re.escape(word)}(?![\w])", message) is not None
    spaced = re.sub(r"(?<=\d)x(?=\d)", " x ", message)  # 3x4
    numbers = [int(n) for n in re.findall(r"(?<![\w.])\d+(?![\w.]\w)", spaced)]
    return any(numbers[i : i + len(word)] == list(word) for i in range(len(numbers)))


# docs/authors.md lists the first paragraphs of their docstrings
HELPERS: dict[str, Callable[..., Any]] = {
    "load_weights": load_weights,
    "state_of": _state_of,
    "gradients_of": _gradients_of,
    "modes_of": _modes_of,
    "inspect": _inspect,
    "optimizer": _optimizer,
    "fill": _fill,
    "backward": _backward,
    "repeat": _repeat,
    "seed": set_seed,
    "measured": _measured,
    "generator_state": _generator_state,
    "elsewhere": _elsewhere,
    "on_the_way": _parameters_after_calls,
    "parameters": _all_parameters,
    "trainable": _trainable,
    "attribute": _attribute,
    "bases": _bases,
    "renumbered": _renumbered,
    "refusal": _refusal,
}
