"""The recorded trainings with nine bugs that the bug museum shows, made by `tools/record_training_bugs.py`.

recorded = training_bugs.load()
recorded.runs["no causal mask"].held_out    # steps, and the held-out loss at each
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files

FILE = "models/training_bugs.json"
BUGS = (
    "no zero_grad",
    "zero_grad after backward",
    "targets not shifted",
    "targets shifted twice",
    "no causal mask",
    "softmax before the loss",
    "flattened differently",
    "always the same batch",
    "learning rate too high",
)
Curve = tuple[list[float], list[float]]  # steps, losses in nats


@dataclass(frozen=True)
class Run:
    """One training: its losses, as means over some steps, and the held-out losses."""

    training: Curve
    held_out: Curve


@dataclass(frozen=True)
class Recorded:
    """A training without a bug, one with each of BUGS, and the losses of three baselines."""

    right: Run
    runs: dict[str, Run]
    baselines: dict[str, float]
    date: str


def load() -> Recorded:
    """Return the recorded trainings."""
    found = json.loads(files("course").joinpath(FILE).read_text(encoding="utf-8"))
    mean, look = found["every"]

    def run(name: str) -> Run:
        training, held_out = found["runs"][name]["training"], found["runs"][name]["held out"]
        middles = [mean * i + (mean + 1) / 2 for i in range(len(training))]
        return Run((middles, training), ([float(look * i) for i in range(len(held_out))], held_out))

    return Recorded(run("no bug"), {bug: run(bug) for bug in BUGS}, found["baselines"], found["date"])
