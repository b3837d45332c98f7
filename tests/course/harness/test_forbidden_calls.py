"""Which forbidden functions are seen while a program runs, and in which spellings."""

from __future__ import annotations

import _thread
import functools
import queue
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from course.harness.bytecode import compile_stand_in
from course.harness.forbidden_calls import (
    MOST_SHAPES,
    ForbiddenCallWatcher,
    is_forbidden,
    is_watching,
    trusting,
    user_visible_names,
)
from course.harness.program import Program
from course.harness.runner import handle_request, observe
from course.harness.serialization import Node
from course.models.right_functions.lesson_05 import masked_attention
from course.models.right_functions.lesson_12 import CrossAttention
from grading.grader.codec import decode_reply, request

X = Node("ref", {"name": "x", "path": []})
FORBIDDEN = ["log_?softmax", "softmax", "matmul"]


SCRIPTED = torch.jit.CompilationUnit("def f(x):\n    return torch.softmax(x, -1)\n")


class Hidden(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return torch.softmax(x, -1)


def without_functions(x):
    with torch._C.DisableTorchFunction():
        return torch.softmax(x, -1)


def in_a_thread(x):
    found = []
    thread = threading.Thread(target=lambda: found.append(torch.softmax(x, -1)))
    thread.start()
    thread.join()
    return found[0]


def in_a_thread_of_their_own_kind(x):
    class Worker(threading.Thread):
        def run(self):
            self.found = getattr(torch, "xamtfos"[::-1])(x, -1)

    worker = Worker()
    worker.start()
    worker.join()
    return worker.found


def in_a_bare_thread(x):
    found = queue.Queue()
    _thread.start_new_thread(lambda: found.put(without_functions(x)), ())
    return found.get()


def in_a_pool(x):
    with ThreadPoolExecutor(2) as pool:
        return torch.stack(list(pool.map(functools.partial(torch.softmax, dim=-1), x)))


def used_by(function):
    """The forbidden functions that a call of `function` used."""
    steps = [("out", Node("student", {"name": "f"}), [Node("ref", {"name": "x", "path": []})], {})]
    return observe(Program({"x": torch.randn(3, 3)}, steps, ["out"], forbidden=FORBIDDEN), {"f": function}).used


@pytest.mark.parametrize(
    "used",
    [
        lambda x: torch.softmax(x, -1),
        lambda x: F.softmax(x, -1),
        lambda x: x.softmax(-1),
        lambda x: torch.nn.Softmax(-1)(x),
        lambda x: torch.nn.LogSoftmax(-1)(x).exp(),
        lambda x: getattr(torch, "soft" + "max")(x, -1),
        lambda x: torch.special.softmax(x, -1),
        lambda x: torch.ops.aten._softmax(x, -1, False),
        lambda x: torch.ops.aten.softmax.int(x, -1),
        lambda x: x @ x.mT,
        lambda x: torch.Tensor.matmul(x, x.mT),
        lambda x: torch.func.vmap(lambda r: torch.softmax(r, -1))(x),
        lambda x: torch.jit.trace(lambda r: torch.softmax(r, -1), x)(x),
        lambda x: SCRIPTED.f(x),
        lambda x: torch.ops.aten._log_softmax(x, -1, False).exp(),
        lambda x: torch._C._nn.log_sigmoid(x) @ x,
        lambda x: F.scaled_dot_product_attention(x[None], torch.eye(3)[None], torch.eye(3)[None], scale=1.0),
        lambda x: F.multi_head_attention_forward(x, x, x, 3, 1, torch.eye(9, 3), *[None] * 3, False, 0.0, x, None),
        lambda x: F.cross_entropy(x, x.exp()),
        lambda x: F.softmin(-x, -1),
        lambda x: F.gumbel_softmax(x),
        lambda x: torch.sparse.softmax(x.to_sparse(), -1),
        lambda x: torch.distributions.Categorical(logits=x).probs,
        lambda x: torch.compile(lambda r: torch.softmax(r, -1), backend="eager")(x),
        lambda x: Hidden.apply(x),
        lambda x: list(map(torch.softmax, [x], [-1])),
        lambda x: without_functions(x),
        lambda x: torch._C._VariableFunctions.softmax(x, -1),
        lambda x: torch._C.TensorBase.softmax(x, -1),
        lambda x: torch._C._nn.scaled_dot_product_attention(x[None], x[None], x[None]),
        lambda x: torch._refs.softmax(x, -1),
        lambda x: F.softmax.__wrapped__(x, -1) if hasattr(F.softmax, "__wrapped__") else F.softmax(x, -1),
        functools.partial(torch.softmax, dim=-1),
        in_a_thread,
        in_a_thread_of_their_own_kind,
        in_a_bare_thread,
        in_a_pool,
    ],
)
def test_a_forbidden_function_is_seen_in_any_spelling(used):
    assert used_by(used)


def test_what_is_not_forbidden_is_not_noted():
    assert not used_by(lambda x: x.exp() / x.exp().sum(-1, keepdim=True))


@pytest.mark.parametrize("use", [list, len, lambda x: 1 - x, lambda x: x**2])
def test_a_method_that_torch_writes_in_python_is_not_the_function_tensor(use):
    with ForbiddenCallWatcher(["tensor"]) as watcher:
        use(torch.arange(3.0))
    assert watcher.used == []
    with ForbiddenCallWatcher(["tensor"]) as watcher:
        torch.tensor([1.0])
    assert watcher.used == ["torch.tensor"]


def test_an_operator_that_is_made_of_others_is_seen_where_only_torchscript_names_it():
    """At the dispatcher cosine similarity is a product, two norms and a quotient."""
    unit = torch.jit.CompilationUnit("def f(x):\n    return torch.cosine_similarity(x, x, -1)\n")
    steps = [("out", Node("student", {"name": "f"}), [Node("ref", {"name": "x", "path": []})], {})]
    seen = observe(Program({"x": torch.randn(3)[None]}, steps, ["out"], forbidden=["cosine_similarity"]), {"f": unit.f})
    assert seen.used == ["torch.ops.aten.cosine_similarity"]


def test_torchscript_may_use_functions_that_are_not_forbidden():
    unit = torch.jit.CompilationUnit("def f(x):\n    e = torch.exp(x)\n    return e / torch.sum(e, -1, True)\n")
    assert not used_by(unit.f)


def test_a_module_of_torch_can_be_forbidden_however_it_was_come_by():
    entropy = torch.distributions.Categorical(probs=torch.ones(3)).entropy
    steps = [("out", Node("student", {"name": "f"}), [], {})]
    seen = observe(Program({}, steps, ["out"], forbidden=["distributions"]), {"f": entropy})
    assert seen.used == ["distributions"]


def test_what_a_stand_in_uses_is_not_noted_and_what_comes_after_it_is():
    names: dict[str, object] = {"torch": torch}
    exec("def f(x): return other(x).relu()\ndef g(x): return torch.log_softmax(other(x), -1)", names)
    for name, noted in (("f", []), ("g", ["torch.log_softmax"])):
        steps = [("out", Node("student", {"name": name}), [Node("ref", {"name": "x", "path": []})], {})]
        program = Program({"x": torch.randn(3, 3)}, steps, ["out"], forbidden=FORBIDDEN)
        program.stand_ins = {"other": compile_stand_in("def other(x):\n    return torch.softmax(x, -1)")}
        assert observe(program, names).used == noted


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("log_softmax", True),
        ("LogSoftmax", True),
        ("_log_softmax", True),
        ("softmax", True),
        ("softmax_", True),
        ("hardsoftmaxish", False),
        ("exp", False),
    ],
)
def test_names_are_compared_without_underscores_and_case(name, found):
    assert is_forbidden(name, FORBIDDEN) == found


def test_without_the_dispatchers_notes_calls_from_python_are_seen_still(monkeypatch):
    """A learner's torch may be another than the one that was tested."""
    monkeypatch.delattr(torch._C._autograd, "_enable_profiler_legacy")
    assert used_by(lambda x: torch.softmax(x, -1))
    assert not used_by(lambda x: x.exp())


def test_operators_are_reported_only_if_nothing_else_was_recorded():
    with ForbiddenCallWatcher(["scaleddotproduct.*"]) as watch:
        x = torch.randn(1, 3, 4)
        F.scaled_dot_product_attention(x, x, x)
    assert len(watch.used) > 1
    assert user_visible_names(watch.used) == [watch.used[0]]
    assert watch.used[0].endswith("scaled_dot_product_attention")
    only = [name for name in watch.used if name.startswith("torch.ops.")]
    assert user_visible_names(only) == only


def shares(x):
    exponentials = x.exp()
    return exponentials / exponentials.sum(-1, keepdim=True)


def test_honest_work_in_threads_is_left_alone():
    def answer(x):
        with ThreadPoolExecutor(2) as pool:
            return torch.stack(list(pool.map(shares, x)))

    assert not used_by(answer)
    assert threading._start_new_thread is _thread.start_new_thread if hasattr(threading, "_start_new_thread") else True


def stops_the_profiler(x):
    torch._C._autograd._disable_profiler_legacy()
    return without_functions(x)


def takes_the_watch_away(x):
    watch = torch.overrides._get_current_function_mode()
    TorchFunctionMode.__exit__(watch, None, None, None)
    try:
        return shares(x)
    finally:
        TorchFunctionMode().__enter__()


def hidden_softmax(x):
    return torch.softmax(x, -1)


def trusts_itself(x):
    with trusting([hidden_softmax]):
        return hidden_softmax(x)


def test_a_profiler_that_runs_already_hides_no_operator():
    kinds = torch._C._profiler
    kind = kinds.ProfilerState.CPU
    torch._C._autograd._enable_profiler_legacy(
        kinds.ProfilerConfig(kind, False, False, False, False, False, kinds._ExperimentalConfig())
    )
    assert used_by(without_functions)
    assert not torch._C._autograd._profiler_enabled()


def test_a_watch_ends_where_its_notes_do_not_fit_into_memory(monkeypatch):
    def full():
        raise MemoryError

    watch = ForbiddenCallWatcher(FORBIDDEN)
    with monkeypatch.context() as short_of_memory:
        short_of_memory.setattr(torch._C._autograd, "_disable_profiler_legacy", full)
        with pytest.raises(MemoryError), watch:
            shares(torch.randn(3))
    with trusting([shares]):  # raises during a watched call
        assert not used_by(shares)


@pytest.mark.parametrize("answer", [stops_the_profiler, takes_the_watch_away])
def test_stopping_the_watcher_counts_as_a_forbidden_call(answer):
    assert used_by(answer) == ["stopping the watch for forbidden functions"]


@pytest.mark.parametrize("module", ["course.harness.mine", "torch.mine"])
def test_a_notebook_that_calls_itself_a_module_of_the_package_is_watched(module):
    """Whatever the function is called: `_specimen`, which makes sample models, is not watched in the package."""
    names = {"torch": torch, "__name__": module}
    exec("def _specimen(x): return torch.softmax(x, -1)\ncalled = _specimen", names)
    assert used_by(names["called"]) == ["torch.softmax"]


def test_a_notebook_cannot_have_its_own_functions_trusted():
    assert used_by(trusts_itself) == []  # it raises, and returns nothing
    block = trusting([hidden_softmax])
    block.__enter__()
    program = Program(
        {"x": torch.randn(3, 3)}, [("out", Node("student", {"name": "f"}), [X], {})], ["out"], None, FORBIDDEN
    )
    (seen,) = decode_reply(repr(handle_request(request([program]), {"f": lambda x: hidden_softmax(x)})), 1)
    block.__exit__(None, None, None)
    assert seen.used == ["torch.softmax"]


def test_it_is_known_in_every_thread_while_a_call_is_watched_and_a_thread_that_goes_on_watches_nothing():
    told, ends = queue.Queue(), threading.Event()

    def goes_on():
        told.put(is_watching())
        ends.wait(10)

    with ForbiddenCallWatcher(FORBIDDEN):
        threading.Thread(target=goes_on).start()
        assert told.get(timeout=10) and is_watching()
    assert not is_watching()
    ends.set()


@pytest.mark.parametrize("right", [masked_attention, CrossAttention])
def test_what_the_package_ships_may_stand_in_for_a_wrong_answer(right):
    def f(x, right):
        return right(4, 2).requires_grad_(False)(x, x)[0] if isinstance(right, type) else right(x, x, x)[0]

    steps = [("out", Node("student", {"name": "f"}), [X, Node("student", {"name": "right"})], {})]
    program = Program({"x": torch.randn(1, 3, 4)}, steps, ["out"], forbidden=["course", "scaled_dot_product.*"])
    assert observe(program, {"f": f, "right": right}).used
    with trusting([right]):
        assert not observe(program, {"f": f, "right": right}).used


def failed(call: Callable[[], Any]) -> dict[str, Any]:
    """What the watch knows of the call of torch that failed."""
    watch = ForbiddenCallWatcher([])
    with pytest.raises(Exception) as caught, watch:  # noqa: PT011 - whatever it is
        call()
    return watch.failed_call(caught.value)


class Lying(torch.Tensor):
    @property
    def shape(self) -> Any:
        raise AssertionError("was asked")


def test_the_call_of_torch_that_failed_is_known_with_the_shapes_of_its_tensors() -> None:
    a, b = torch.ones(2, 3), torch.ones(4)
    assert failed(lambda: a * b) == {"operation": "mul", "shapes": [[2, 3], [4]]}
    assert failed(lambda: torch.cat([a, b.reshape(2, 2).sum(0)])) == {"operation": "cat", "shapes": [[2, 3], [2]]}
    assert failed(lambda: torch.where(a > 0, a, other=b))["shapes"] == [[2, 3], [2, 3], [4]]
    assert len(failed(lambda: torch.cat([a] * 20 + [b]))["shapes"]) == MOST_SHAPES
    assert failed(lambda: a.sum().item() + None) == {}
    assert failed(lambda: torch.ops.aten.mul.Tensor(a, b)) == {}  # its name is "mul.Tensor", which nobody writes
    assert failed(lambda: torch.mul(torch.ones(3), torch.ones(4).as_subclass(Lying)))["shapes"] == [[3]]


def test_an_exception_that_was_caught_is_not_taken_for_the_last_one() -> None:
    def answer() -> None:
        try:
            torch.ones(2) + torch.ones(3)
        except RuntimeError as error:
            raise ValueError("no") from error

    assert failed(answer) == {}
