"""Test cases: the calls of a learner's function, and the checks of the outcome.

A case is a program for `course.harness` whose dtype, device and references are not chosen yet. `call(...)` makes the
common case of one call; `Script` makes one of several calls, for modules, models and anything with state.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import torch

from course.checkers import NamedChecker
from course.harness.options import Checker, Options
from course.harness.program import Program, calls_in_shapes, holds_tensors, in_brackets
from course.harness.serialization import Node
from course.harness.tolerance import Tolerance

T = TypeVar("T")
MOST_CLAUSES = 3  # that one case tries: of more, a lost case does not say which was broken
PURITY = "purity"  # the convention that every case tries
FEW_NUMBERS = 8  # of a practice case whose tensors are spelled out in a report
EXERCISE = Node("student", {"name": ""})  # the exercise itself; its name is filled in when the case is bound


def ref(name: str, *path: Any) -> Node:
    """A value made earlier in the program; `path`: indices into it, e.g. 0 for the first item."""
    return Node("ref", {"name": name, "path": list(path)})


def student(name: str) -> Node:
    """Another name that the learner defines, e.g. an exercise that this one builds on."""
    return Node("student", {"name": name})


def helper(name: str) -> Node:
    """One of `course.harness.helpers.HELPERS`."""
    return Node("helper", {"name": name})


def method(of: Node, name: str) -> Node:
    """A bound method (or any attribute) of a value, as the target of a step."""
    return Node("method", {"of": of, "name": name})


def sample_model(name: str, state: dict[str, torch.Tensor] | None = None, **kwargs: Any) -> Node:
    """A function or model from `course.sample_models`, made in the kernel by name."""
    return Node("specimen", {"name": name, "kwargs": kwargs, "state": state})


def generator(seed: int) -> Node:
    """A CPU `torch.Generator`, seeded."""
    return Node("generator", {"seed": seed})


def device() -> Node:
    """The device under test, as a `torch.device` argument."""
    return Node("device")


@dataclass(eq=False)
class Case:
    """One program, and how its outcome is checked.

    `call` and `Script.case` make one; the methods here change it.

    options: how the outcome is checked.
    gradients: whether they are compared, too.
    check_unchanged: changing an argument in place, in any case, costs the criterion of this one.
    graded_only_reason: why the learner's `check` does not run cases of this kind; "" if it does.
    clauses: ids of the contract's clauses that it tries; once bound, also those of conventions (see `tries`).
    """

    inputs: dict[str, Any]
    steps: list[tuple[str, Node, list[Any], dict[str, Any]]]
    observe: list[str]
    options: Options = field(default_factory=Options)
    gradients: bool = False
    check_unchanged: bool = False
    description: str = ""
    exact_dtype: torch.dtype = torch.float64
    seconds: float = 5.0
    graded_only_reason: str = ""
    clauses: tuple[str, ...] = ()

    def with_gradients(self, nonfinite: str = "any") -> Case:
        """Compare gradients too, for a random cotangent.

        nonfinite: what is accepted where the exact gradient is not finite: "any" value or None, or only a "finite" one
        """
        return replace(self._with(nonfinite=nonfinite), gradients=True)

    def raises(self, *arguments: str) -> Case:
        """Demand a ValueError that names one of these arguments and its value or shape.

        The oracle raises one too.
        """
        return self._with(raises=arguments)

    def does_not_raise(self) -> Case:
        """Check only that these arguments are accepted; other cases check the result.

        Put such a case into every criterion that uses `raises`: otherwise an answer that refuses all arguments would
        earn it.
        """
        return self._with(does_not_raise=True)

    def tolerance(self, rtol: float, atol: float = 0.0) -> Case:
        """Use this tolerance instead of the dtype's, with a comment that says why.

        atol: relative to the largest magnitude
        """
        return self._with(tolerance=Tolerance(rtol, atol))

    def does_not_mutate(self) -> Case:
        """Make this case's criterion the one that is lost if any case's argument is changed.

        Every case checks that its arguments stay unchanged, except those in `may_mutate` and those that the oracle
        itself changes.
        """
        return replace(self, check_unchanged=True)

    def may_mutate(self, *names: str) -> Case:
        """Allow changes in place to these inputs, which the exercise exists to change."""
        return self._with(may_mutate=frozenset(names))

    def check_with(self, checker: str | Checker, **given: Any) -> Case:
        """Use a checker instead of comparing numbers.

        Either name a function in `course.checkers`, with the values it is `given`; or pass your own
        `checker(seen, exact)`, which returns None or a sentence that says what is wrong (or `tagged`). Your own is
        code, so only cases that `check` does not run may use one.
        """
        return self._with(check_with=NamedChecker(checker, given) if isinstance(checker, str) else checker)

    def same_kinds(self) -> Case:
        """Compare lists and tuples by kind, where the contract says which."""
        return self._with(same_kinds=True)

    def exact_zeros(self) -> Case:
        """Demand exactly 0 where the oracle's result is exactly 0."""
        return self._with(exact_zeros=True)

    def graded_only(self, reason: str) -> Case:
        """Use this kind of case for the grade only, not in the learner's `check`.

        reason: why
        """
        return replace(self, graded_only_reason=reason)

    def device_only(self) -> Case:
        """Check only that the answer makes tensors on the device of its inputs.

        `course.harness.device_check` describes how.
        """
        return self._with(device_only=True)

    def tries(self, *clauses: str) -> Case:
        """Say which clauses of the contract this case tries, by their ids, three at most; else those of its criterion.

        A case also tries the conventions that its other options belong to. One that tries nothing tries its row's first
        clause.
        """
        if not 1 <= len(clauses) <= MOST_CLAUSES:
            raise ValueError(f"a case tries one to {MOST_CLAUSES} clauses, got {len(clauses)}: {clauses}")
        return replace(self, clauses=clauses)

    def label(self, text: str) -> Case:
        """Describe the case in the report, instead of by its shapes. Do not include expected values."""
        return replace(self, description=text)

    def timeout(self, seconds: float) -> Case:
        """Limit the wall time of the whole case, in seconds; 5 by default."""
        return replace(self, seconds=seconds)

    def exact_in_float32(self) -> Case:
        """Compute the exact reference in float32, if the dtype is part of the contract."""
        return replace(self, exact_dtype=torch.float32)

    def _with(self, **options: Any) -> Case:
        return replace(self, options=replace(self.options, **options))


@dataclass(eq=False)
class Script:
    """Several calls in a row.

        s = Script(x=draw.normal(2, 5, 12))                  # named inputs
        m = s.call(EXERCISE, 12, n_heads=3)                   # the learner's class; m refers to the new instance
        s.call(helper("load_weights"), m, state, training=False)  # give it these weights
        out = s.call(m, s.x)                                 # the module itself is called
        yield s.case(out)                                    # observe: one or more references

    If gradients of a module's parameters are compared, name the step that makes the module
    (`s.call(..., name="module")`): they are then reported as `module.W_q.weight`.
    """

    inputs: dict[str, Any] = field(default_factory=dict)
    steps: list[tuple[str, Node, list[Any], dict[str, Any]]] = field(default_factory=list)

    def __init__(self, **inputs: Any) -> None:
        self.inputs, self.steps = dict(inputs), []

    def __getattr__(self, name: str) -> Node:
        if name.startswith("_") or name not in self.inputs:
            raise AttributeError(f"the script has no input {name!r}")
        return ref(name)

    def call(self, target: Node, *args: Any, name: str = "", **kwargs: Any) -> Node:
        """Add a step that calls `target`; returns a reference to its result."""
        name = name or f"step{len(self.steps) + 1}"
        self.steps.append((name, target, list(args), kwargs))
        return ref(name)

    def case(self, *observe: Node) -> Case:
        """Make the case. observe: references to whole results (no path); default: the last step."""
        names = [node.name for node in observe] or [self.steps[-1][0]]
        return Case(self.inputs, list(self.steps), names)


def call(*args: Any, **kwargs: Any) -> Case:
    """One call of the exercise with exactly these positional and keyword arguments."""
    return Case({"args": list(args), "kwargs": kwargs}, [], ["result"])


def bind_arguments(case: Case, exercise: str, oracle: Any) -> Case:
    """Name a `call` case's arguments by the oracle's signature; fill in the exercise."""
    if not case.steps:
        args, kwargs = case.inputs["args"], case.inputs["kwargs"]
        names = list(inspect.signature(oracle).parameters)[: len(args)]
        inputs = dict(zip(names, args, strict=True)) | kwargs
        step = ("result", student(exercise), [ref(n) for n in names], {n: ref(n) for n in kwargs})
        return replace(case, inputs=inputs, steps=[step])
    steps = [(n, student(exercise) if t is EXERCISE else t, a, k) for n, t, a, k in case.steps]
    return replace(case, steps=steps)


def conventions(case: Case, checks_types: bool) -> tuple[str, ...]:
    """The conventions that a case tries by its options: their ids in docs/contracts/README.md.

    checks_types  whether its criterion is the one that checks types
    """
    found = {
        "errors": bool(case.options.raises) or case.options.does_not_raise,
        "gradients": case.gradients,
        PURITY: case.check_unchanged,
        "device": case.options.device_only,
        "dtype": checks_types,
    }
    return tuple(name for name, applies in found.items() if applies)


def to_program(case: Case, *, dtype: torch.dtype | None = None, **options: Any) -> Program:
    """The program of a bound case, with floating-point tensors in `dtype` (None: unchanged)."""
    inputs = case.inputs if dtype is None else cast(case.inputs, dtype)
    steps = case.steps if dtype is None else cast(case.steps, dtype)
    return Program(inputs=inputs, steps=steps, observe=case.observe, **options)


def cast(value: Any, dtype: torch.dtype) -> Any:
    if isinstance(value, torch.Tensor):
        if not value.is_floating_point() or value.dtype == dtype:
            return value
        return value.to(dtype)
    if isinstance(value, (list, tuple)):
        return type(value)(cast(item, dtype) for item in value)
    if isinstance(value, dict):
        return {key: cast(item, dtype) for key, item in value.items()}
    if isinstance(value, Node):
        return Node(value.kind, cast(value.fields, dtype))
    return value


def describe(case: Case) -> str:
    """Describe the case for a report: shapes and plain arguments, no entries of tensors."""
    if case.options.device_only:
        return f"{describe(case._with(device_only=False))}, on another device than PyTorch's default"
    if case.description:
        return case.description

    return calls_in_shapes(to_program(case))


def spelled_out(case: Case) -> str:
    """Write a case as a call that a learner could type. Large tensors appear only with their shapes."""

    def show(value: Any) -> str:
        if isinstance(value, torch.Tensor):
            return _typed(value) if value.numel() <= 24 else f"<{tuple(value.shape)}>"
        if holds_tensors(value):
            return in_brackets(value, [show(item) for item in value])
        if isinstance(value, Node) and value.kind == "ref" and value.name in case.inputs:
            return show(case.inputs[value.name])
        if isinstance(value, Node) and value.kind == "specimen":
            return f"sample_models.{value.name}({', '.join(f'{k}={show(v)}' for k, v in value.kwargs.items())})"
        return value.kind if isinstance(value, Node) else repr(value)

    plain = to_program(case)
    if case.description or len(plain.steps) > 1:
        return describe(case)
    _, target, args, kwargs = plain.steps[0]
    listed = [show(a) for a in args] + [f"{k}={show(v)}" for k, v in kwargs.items()]
    return re.sub(r"(?<![\w.])(inf|nan)\b", r"torch.\1", f"{target.name}({', '.join(listed)})")


def _typed(tensor: torch.Tensor) -> str:
    """An expression that makes the tensor, with as many digits as its dtype holds."""
    numbers = tensor.tolist()
    dtype = "" if torch.tensor(numbers).dtype == tensor.dtype else f", dtype={tensor.dtype}"
    text = str(numbers)
    if tensor.dtype == torch.float32:
        text = re.sub(r"\d+\.\d{7,}(e-?\d+)?", lambda found: repr(float(f"{float(found[0]):.7g}")), text)
    return f"torch.tensor({text}{dtype})"


def practice_text(case: Case, drawn: bool) -> str:
    """A practice case for a report: spelled out if that says all of it in few numbers, else by its shapes.

    drawn  whether the grade draws other numbers for it; else its numbers are not shown
    """
    tensors = [value for value in case.inputs.values() if isinstance(value, torch.Tensor)]
    few = sum(tensor.numel() for tensor in tensors) <= FEW_NUMBERS
    typed = drawn and few and not case.options.device_only and all(tensor.is_contiguous() for tensor in tensors)
    return spelled_out(case) if typed else describe(case)


class Draw:
    """Random inputs from one seed. Floating-point tensors are float32 unless asked otherwise."""

    def __init__(self, seed: int) -> None:
        self._generator = torch.Generator().manual_seed(seed)

    def normal(self, *shape: int, scale: float = 1.0, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """Normally distributed around 0, with the standard deviation `scale`."""
        made = torch.randn(shape, generator=self._generator, dtype=torch.float64) * scale
        return made.to(dtype)

    def uniform(
        self, *shape: int, low: float = 0.0, high: float = 1.0, dtype: torch.dtype = torch.float32
    ) -> torch.Tensor:
        """Evenly distributed in [low, high)."""
        made = low + (high - low) * torch.rand(shape, generator=self._generator, dtype=torch.float64)
        return made.to(dtype)

    def integers(self, low: int, high: int, *shape: int) -> torch.Tensor:
        """int64 in [low, high)."""
        return torch.randint(low, high, shape, generator=self._generator)

    def integer(self, low: int, high: int) -> int:
        """A plain int in [low, high)."""
        return int(self.integers(low, high, 1))

    def number(self, low: float, high: float) -> float:
        """A plain float in [low, high)."""
        return float(self.uniform(1, low=low, high=high, dtype=torch.float64))

    def permutation(self, n: int) -> torch.Tensor:
        """The numbers 0 … n - 1 in a random order."""
        return torch.randperm(n, generator=self._generator)

    def chance(self, probability: float, *shape: int) -> torch.Tensor:
        """bool, True with this probability."""
        return torch.rand(shape, generator=self._generator) < probability

    def until(self, make: Callable[[], T], holds: Callable[[T], bool], tries: int = 20_000) -> T:
        """The first of `make()`, `make()`, … that `holds`: what a case must contain, such as a tie.

        Raises RuntimeError after so many tries.
        """
        for _ in range(tries):
            if holds(made := make()):
                return made
        raise RuntimeError(f"nothing drawn in {tries} tries has the property that a case needs")

    def distribution(self, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """Positive numbers that sum to 1 along the last dimension."""
        made = torch.rand(shape, generator=self._generator, dtype=torch.float64) + 0.05
        return (made / made.sum(-1, keepdim=True)).to(dtype)

    def state(self, dtype: torch.dtype = torch.float32, **shapes: tuple[int, ...]) -> dict[str, torch.Tensor]:
        """Weights for a module, with variance 1 / fan-in.

        shapes: by name, with `__` for the dot, e.g. W_q__weight
        """
        return {
            name.replace("__", "."): self.normal(*shape, scale=shape[-1] ** -0.5, dtype=dtype)
            for name, shape in shapes.items()
        }


def non_contiguous(tensor: torch.Tensor) -> torch.Tensor:
    """The same values with other strides.

    Either the last two dimensions are swapped in memory, or the tensor uses every second element.

    Raises ValueError for a tensor of fewer than two elements, which is contiguous whatever its strides.
    """
    if tensor.numel() < 2:
        raise ValueError(f"a tensor of shape {tuple(tensor.shape)} is always contiguous")
    if tensor.ndim >= 2 and min(tensor.shape[-2:]) > 1:
        return tensor.transpose(-1, -2).contiguous().transpose(-1, -2)
    return torch.stack([tensor, torch.zeros_like(tensor)], dim=-1)[..., 0]
