"""Our known answers under public test suites.

    python -m benchmarks.suites SUITE FOLDER

    torchcode  a clone of https://github.com/duoan/TorchCode
    cs336      one of https://github.com/stanford-cs336/assignment1-basics, with what its tests import (einops)

If a suite has the same task as an exercise, every known answer is adapted to the suite and tried. Correct ones should
pass. Known mistakes that lose the exercise's first criterion, the values on plain cases, are counted separately: no
suite can mean to let them pass. The others concern what our contracts ask for besides, such as gradients, dtypes and
error messages.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import io
import os
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from grading.exercises.exercise import Exercise
from grading.exercises.lesson import load_lesson

ROOT = Path(__file__).resolve().parents[1]
SEED = 0
Adapter = Callable[[Any], Any]


@dataclass(frozen=True)
class Task:
    """A suite's task that is an exercise's; `adapt` makes our answer fit its call."""

    lesson: str
    exercise: str
    name: str
    adapt: Adapter


@dataclass
class Count:
    """Answers tried and passed: correct ones, plain mistakes, all mistakes."""

    right: int = 0
    right_passed: int = 0
    plain: int = 0
    plain_passed: int = 0
    wrong: int = 0
    wrong_passed: int = 0


def _embedding(embed: Any) -> Any:
    class Embedding(nn.Module):
        def __init__(self, rows: int, width: int) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.randn(rows, width))

        def forward(self, ids: torch.Tensor) -> Any:
            return embed(ids, self.weight)

    return Embedding


def _causal(attention: Any) -> Any:
    return lambda q, k, v: attention(q, k, v, torch.ones(q.shape[-2], k.shape[-2]).triu(1).bool())[0]


def _rope_of_two(rope: Any) -> Any:
    return lambda q, k: tuple(rope(x, torch.arange(x.shape[-2])) for x in (q, k))


def _loss(loss: Any) -> Any:
    return lambda logits, targets: loss(logits[None], targets[None])


TORCHCODE = (
    Task("02_softmax", "softmax", "softmax", lambda f: f),
    Task("03_queries_keys_values", "embed", "embedding", _embedding),
    Task("04_scaling", "scaled_dot_product_attention", "attention", lambda f: lambda q, k, v: f(q, k, v)[0]),
    Task("05_causal_mask", "masked_attention", "causal_attention", _causal),
    Task("07_rope", "apply_rope", "rope", _rope_of_two),
    Task("08_training", "language_model_loss", "cross_entropy", _loss),
)
CS336 = (
    Task("02_softmax", "softmax", "test_nn_utils.py::test_softmax_matches_pytorch run_softmax", lambda f: f),
    Task(
        "05_causal_mask",
        "masked_attention",
        "test_model.py::test_scaled_dot_product_attention run_scaled_dot_product_attention",
        lambda f: lambda Q, K, V, mask=None: f(Q, K, V, None if mask is None else ~mask)[0],
    ),
    Task(
        "07_rope",
        "apply_rope",
        "test_model.py::test_rope run_rope",
        lambda f: (
            lambda width, theta, max_seq_len, in_query_or_key, token_positions: f(
                in_query_or_key, token_positions, theta ** (-torch.arange(0, width, 2) / width)
            )
        ),
    ),
    Task("08_training", "language_model_loss", "test_nn_utils.py::test_cross_entropy run_cross_entropy", _loss),
)


def torchcode(folder: Path, task: Task, answer: Any) -> bool:
    """Whether all tests of a task pass, run as the suite runs them."""
    path = folder / "torch_judge" / "tasks" / f"{task.name}.py"
    made = importlib.util.spec_from_file_location(task.name, path)
    if made is None or made.loader is None or not path.exists():
        raise FileNotFoundError(f"{folder} holds no torch_judge/tasks/{task.name}.py: is it a clone of TorchCode?")
    module = importlib.util.module_from_spec(made)
    made.loader.exec_module(module)
    name = module.TASK["function_name"]
    try:
        for test in module.TASK["tests"]:
            torch.manual_seed(SEED)
            exec(test["code"].replace("{fn}", name), {name: task.adapt(answer)})  # noqa: S102 - the suite's own tests
    except Exception:
        return False
    return True


def cs336(folder: Path, task: Task, answer: Any) -> bool:
    """Whether a test passes in pytest, where `tests.adapters` returns the answer."""
    test, _, wanted = task.name.partition(" ")
    if not (folder / "tests" / test.partition("::")[0]).exists():
        raise FileNotFoundError(f"{folder} holds no tests/{test.partition('::')[0]}: is it a clone of assignment 1?")
    handed_over = task.adapt(answer)
    adapters = types.ModuleType("tests.adapters")
    adapters.__getattr__ = lambda name: handed_over if name == wanted else None  # type: ignore[method-assign]
    for name in [name for name in sys.modules if name == "tests" or name.startswith("tests.")]:
        del sys.modules[name]
    sys.modules["tests.adapters"] = adapters
    torch.manual_seed(SEED)
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
        status = pytest.main(["-q", "-p", "no:cacheprovider", "--rootdir", str(folder), f"tests/{test}"])
    if status not in (0, 1):
        raise RuntimeError(f"pytest cannot run {test} of {folder}: exit status {int(status)}; see what it imports")
    return status == 0


SUITES: dict[str, tuple[tuple[Task, ...], Callable[[Path, Task, Any], bool]]] = {
    "torchcode": (TORCHCODE, torchcode),
    "cs336": (CS336, cs336),
}


def answers(exercise: Exercise) -> Iterator[tuple[str, str, Any]]:
    """(kind, name, answer) of each known answer: "right", "plain" or "wrong".

    A mistake is plain if it must lose the first criterion.
    """
    for right in exercise.alternatives:
        yield "right", right.name, right.load()
    for mistake in exercise.mistakes:
        kind = "plain" if exercise.criteria[0].name in mistake.loses else "wrong"
        yield kind, mistake.name, mistake.load()


def count(folder: Path, task: Task, passes: Callable[[Path, Task, Any], bool], *, tell: bool = False) -> Count:
    """Try every known answer to one exercise."""
    found = Count()
    exercise = load_lesson(ROOT / "grader_tests" / task.lesson).exercises[task.exercise]
    for kind, name, answer in answers(exercise):
        passed = int(passes(folder, task, answer))
        if kind == "right":
            found.right, found.right_passed = found.right + 1, found.right_passed + passed
            continue
        found.wrong, found.wrong_passed = found.wrong + 1, found.wrong_passed + passed
        if kind == "plain":
            found.plain, found.plain_passed = found.plain + 1, found.plain_passed + passed
            if tell and passed:
                print(f"    passes: {name}", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tell", action="store_true", help="name the plain mistakes that pass")
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.path.insert(0, str(options.folder.resolve()))
    tasks, passes = SUITES[options.suite]
    print(f"{'':30} right ones pass   plain mistakes pass   all mistakes pass")
    for task in tasks:
        f = count(options.folder.resolve(), task, passes, tell=options.tell)
        shown = (
            f"{one} of {of}"
            for one, of in ((f.right_passed, f.right), (f.plain_passed, f.plain), (f.wrong_passed, f.wrong))
        )
        print(f"{task.exercise:30} {next(shown):15}   {next(shown):19}   {next(shown)}", flush=True)


if __name__ == "__main__":
    main()
