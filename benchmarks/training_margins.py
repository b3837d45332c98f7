"""Margins of training loops from the threshold for `train` of lesson 08.

    python -m benchmarks.training_margins [--seeds N]

The grader measures by how much the expected loss of a trained model on unseen text exceeds the best possible one, in
nats. This does the same over many seeds, for the lesson's own solution, the oracle, every alternative and two more
settings of AdamW, and for every known mistake that this number must reveal. A margin is the distance of the threshold
from the mean, in standard deviations over the seeds.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from course.checkers import training
from course.sample_models import Bigram
from grading.exercises.answer_text import Answer, edited
from grading.exercises.case import Draw
from grading.exercises.exercise import mix
from grading.exercises.lesson import load_lesson, package_of
from grading.proof import namespace

ROOT = Path(__file__).parents[1]
LESSON = "08_training"

Loop = Callable[..., Any]


@dataclass(frozen=True)
class Measured:
    """Losses of one loop over the seeds; `passed` counts those below the threshold."""

    name: str
    right: bool
    losses: list[float]
    threshold: float

    @property
    def mean(self) -> float:
        return statistics.mean(self.losses)

    @property
    def deviation(self) -> float:
        return statistics.stdev(self.losses)

    @property
    def passed(self) -> int:
        return sum(loss < self.threshold for loss in self.losses)

    @property
    def margin(self) -> float:
        """Positive on the right side of the threshold; infinite if all seeds agree."""
        apart = self.threshold - self.mean if self.right else self.mean - self.threshold
        return apart / self.deviation if self.deviation > 1e-6 else float("inf") * apart

    def __str__(self) -> str:
        low, high = min(self.losses), max(self.losses)
        return (
            f"  {self.name:<32} {self.mean:6.3f} {self.deviation:7.3f} {low:7.3f} {high:7.3f} {self.margin:8.1f}"
            f" {self.passed:5}/{len(self.losses)}"
        )


def loops(tests: Any) -> tuple[dict[str, Loop], dict[str, Loop]]:
    """(right, wrong) answers to `train`, by name."""
    train = load_lesson(ROOT / "grader_tests" / LESSON).exercises["train"]

    def with_options(options: str) -> Loop:
        code = edited(train.reference_answers[0].code, {"lr=peak)": f"lr=peak, {options})"})
        made: Loop = Answer("train", options, code).load()
        return made

    right = {"the lesson's solution": namespace(ROOT, LESSON)[0]["train"], "the oracle": train.answer}
    right |= {a.name: a.load() for a in train.alternatives}
    right |= {"AdamW, weight_decay=0.3": with_options("weight_decay=0.3")}
    right |= {"AdamW, betas=(0.8, 0.9)": with_options("betas=(0.8, 0.9)")}
    return right, {m.name: m.load() for m in train.mistakes if train.criteria[0].name in m.loses}


def excess(tests: Any, loop: Loop, seed: int) -> float:
    """The larger excess with the grader's two peaks, in nats."""
    return max(excess_with(tests, loop, seed, peak) for peak in (tests.PEAK, tests.PEAK / 3))


def excess_with(tests: Any, loop: Loop, seed: int, peak: float) -> float:
    """Loss of a model that `loop` has trained with this peak, minus the best possible one, in nats."""
    follows, data, unseen = tests.texts(Draw(mix(seed, LESSON)), 2500)
    model = Bigram(tests.TOKENS, tests.WINDOW)
    torch.nn.init.zeros_(model.table.weight)
    torch.manual_seed(seed)
    loop(model, data, tests.STEPS, tests.BATCH, torch.Generator().manual_seed(seed), peak)
    with torch.no_grad():
        return training.excess(model(unseen), follows, unseen)


def main(arguments: list[str] | None = None) -> list[str]:
    """Measure and print; returns the lines of the summary."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20, metavar="N", help="how many languages and texts (20)")
    options = parser.parse_args(arguments)
    if options.seeds < 2:
        parser.error("a standard deviation takes two seeds")
    torch.set_num_threads(1)
    tests = importlib.import_module(f"{package_of(ROOT / 'grader_tests')}.{LESSON}.train.cases")
    groups = loops(tests)
    print(
        f"train(model, data, {tests.STEPS}, {tests.BATCH}, generator, peak) with peaks of {tests.PEAK} and a third of "
        f"it, {options.seeds} seeds; "
        f"threshold {tests.MARGIN} nats above the best possible loss\n"
    )
    print(f"  {'':<32} {'mean':>6} {'sd':>7} {'least':>7} {'most':>7} {'margin':>8} {'passed':>8}")
    found = []
    for title, right, group in zip(("right loops", "known bugs"), (True, False), groups, strict=True):
        print(f"{title}, threshold above by `margin` sd" if right else f"{title}, threshold below by `margin` sd")
        for name, loop in group.items():
            losses = [excess(tests, loop, seed) for seed in range(options.seeds)]
            found.append(Measured(name, right, losses, tests.MARGIN))
            print(found[-1], flush=True)
    lines = []
    for title, right in (("right loops", True), ("known bugs", False)):
        mine = [one for one in found if one.right is right]
        nearest, runs = min(mine, key=lambda one: one.margin), len(mine) * options.seeds
        lines.append(
            f"{title:<12} {sum(one.passed for one in mine)} of {runs} runs pass; nearest to the threshold: "
            f"{nearest.name}, by {nearest.margin:.1f} standard deviations"
        )
    return lines


if __name__ == "__main__":
    print("", *main(), sep="\n")
