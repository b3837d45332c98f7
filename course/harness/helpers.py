"""What a program's steps may call besides the learner's names: weights loaded, gradients read, devices asked.

`HELPERS` has them by the name that a program gives.
"""

from __future__ import annotations

import contextlib
import copy
import re
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from .allocation_probe import AllocationProbe
from .errors import mixes_devices


def parameters_by_name(module: torch.nn.Module) -> dict[str, torch.nn.Parameter]:
    """Parameters under each of their names; what an nn.Sequential holds goes by its place there, too."""
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

    Raises ValueError where its parameters have other names or shapes, naming the first that differs. A parameter may
    have further names (a list of layers beside the attributes, its place in an nn.Sequential). Unless `exactly`,
    parameters that the state does not name are filled with 0 instead of being refused: an unwanted bias then costs no
    more than its own criterion.
    """
    own = parameters_by_name(module)
    for name in sorted(state):
        if name not in own:
            raise ValueError(f"the module has no parameter {name}; it has {', '.join(own) or 'none'}")
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

    As torch.manual_seed, which spends most of its time on kinds of devices that are not in use.
    """
    if device == "cpu" and not torch.cuda.is_initialized():
        torch.default_generator.manual_seed(seed)
    else:
        torch.manual_seed(seed)


def _gradients_of(module: torch.nn.Module) -> dict[str, torch.Tensor | None]:
    """The gradient of every parameter by its name, None where there is none."""
    return {name: None if p.grad is None else p.grad.detach().clone() for name, p in module.named_parameters()}


def _state_of(module: Any) -> dict[str, torch.Tensor]:
    """A copy of the state dict: parameters and buffers by name; empty for what is no module."""
    held = module.state_dict() if isinstance(module, torch.nn.Module) else {}
    return {name: p.detach().clone() for name, p in held.items()}


def _optimizer(module: torch.nn.Module, name: str = "SGD", **options: Any) -> torch.optim.Optimizer:
    """The optimizer of this name in torch.optim, for all parameters of `module`."""
    kind: type[torch.optim.Optimizer] = getattr(torch.optim, name)
    return kind(module.parameters(), **options)


def _fill(module: torch.nn.Module, value: float) -> None:
    """Give every number of every parameter this value."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.fill_(value)


def _backward(loss: torch.Tensor) -> torch.Tensor:
    """Call `loss.backward()`; the loss, detached."""
    loss.backward()
    return loss.detach()


def _repeat(times: int, function: Callable[..., Any], *args: Any, **kwargs: Any) -> list[Any]:
    """The results of so many calls of `function`, in a list."""
    return [function(*args, **kwargs) for _ in range(times)]


def _modes_of(module: torch.nn.Module) -> dict[str, bool]:
    """For the module and each part by its name: whether it is in training mode."""
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
        if func in (torch.Tensor.__getitem__, torch.Tensor.__setitem__) and not args[0].is_meta:
            index = args[1] if isinstance(args[1], tuple) else (args[1],)
            if any(isinstance(part, torch.Tensor) and part.is_meta for part in index):
                # PyTorch takes an index on the CPU for a tensor on any device, and one on "meta" for what it is not
                raise RuntimeError("an index on meta has no numbers")
        made = func(*args, **kwargs)
        if not isinstance(made, torch.Tensor) or made.ndim == 0 or kwargs.get("device") is not None:
            return made
        given = [*args, *kwargs.values()]
        given += [item for value in given if isinstance(value, (list, tuple)) for item in value]
        return made if any(isinstance(value, torch.Tensor) for value in given) else made.to("meta")


def _elsewhere(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The result of a call while tensors that no device is named for are made elsewhere, on "meta".

    This shows without a second device whether an answer cares for the device: a tensor on "meta" holds no data. Where
    reading one, or moving it to another device, fails, the answer gets the benefit of the doubt, and the result of an
    ordinary call; None if that fails so, too. To mix one with the arguments is the mistake itself.
    """
    for mode in (_MadeElsewhere(), contextlib.nullcontext()):
        try:
            with mode:
                return function(*args, **kwargs)
        except (RuntimeError, TypeError) as error:
            if "meta" not in str(error) or mixes_devices(str(error)):
                raise
    return None


def _on_the_way(
    counts: list[int], function: Callable[..., Any], model: Any, *args: Any, **kwargs: Any
) -> list[dict[str, torch.Tensor]]:
    """For each count the parameters of a copy of `model`, a `specimens.Slope`, whose training was broken off when it
    had been called so often."""
    from ..sample_models import Enough

    found = []
    for count in counts:
        own, given = copy.deepcopy(model), [a.clone() if isinstance(a, torch.Tensor) else a for a in args]
        own.patience = count
        with contextlib.suppress(Enough):
            function(own, *given, **kwargs)
        found.append(_state_of(own))
    return found


def _measured(function: Callable[..., Any], *args: Any, **kwargs: Any) -> list[Any]:
    """The result of a call, the shape of the largest tensor of fractions that was made on the way, and how many
    multiplications the matrix products took."""
    with AllocationProbe() as making:
        result = function(*args, **kwargs)
    return [result, list(making.shape), making.products]


def _generator_state(generator: torch.Generator) -> torch.Tensor:
    """The state of a generator, which moves on with each draw."""
    return generator.get_state()


def _all_parameters(module: torch.nn.Module) -> list[torch.nn.Parameter]:
    """The parameters in a list, to be observed or handed on."""
    return list(module.parameters())


def _trainable(module: torch.nn.Module) -> dict[str, bool]:
    """For each parameter by its name: whether it requires a gradient."""
    return {name: p.requires_grad for name, p in module.named_parameters()}


def _attribute(value: Any, name: str) -> Any:
    """An attribute of anything."""
    return getattr(value, name)


def _bases(value: Any) -> list[str]:
    """The names of a value's class and of all that it inherits from."""
    return [kind.__name__ for kind in type(value).__mro__]


def _refusal(words: list[list[Any]], function: Callable[..., Any], *args: Any, **kwargs: Any) -> dict[str, Any]:
    """What a call raises: "type", the first class that Python itself has ("" where it returns), and "says", for each of
    `words` whether the message has one of these names or shapes."""
    try:
        function(*args, **kwargs)
    except NotImplementedError:  # nothing was written yet
        raise
    except Exception as error:
        kind = next(one for one in type(error).__mro__ if one.__module__ == "builtins")
        return {"type": kind.__name__, "says": [any(_says(str(error), one) for one in some) for some in words]}
    return {"type": "", "says": []}


def _says(message: str, word: Any) -> bool:
    """Whether a message has this name, or the numbers of this shape one after the other, in any notation."""
    if isinstance(word, str):
        return re.search(rf"(?<![\w.]){re.escape(word)}(?![\w])", message) is not None
    told = re.sub(r"(?<=\d)x(?=\d)", " x ", message)  # 3x4
    numbers = [int(n) for n in re.findall(r"(?<![\w.])\d+(?![\w.]\w)", told)]
    return any(numbers[i : i + len(word)] == list(word) for i in range(len(numbers)))


# docs/authors.md lists them as their docstrings do
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
    "on_the_way": _on_the_way,
    "parameters": _all_parameters,
    "trainable": _trainable,
    "attribute": _attribute,
    "bases": _bases,
    "refusal": _refusal,
}
