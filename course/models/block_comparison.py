"""The recorded comparison of transformer blocks that lesson 08 shows, made by `tools/compare_blocks.py`.

recorded = block_comparison.load()
recorded.kinds["modern"].losses     # held-out losses at the end, one per seed
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files

FILE = "models/block_comparison.json"


@dataclass(frozen=True)
class Kind:
    """One kind of block.

    steps             steps of training in the given CPU seconds
    seconds_per_step  CPU seconds
    curves            one per seed: pairs (step, held-out loss in nats)
    """

    steps: int
    seconds_per_step: float
    parameters: int
    curves: list[list[tuple[int, float]]]

    @property
    def losses(self) -> list[float]:
        """The held-out loss at the end, one per seed."""
        return [curve[-1][1] for curve in self.curves]

    @property
    def mean(self) -> float:
        """The mean of the losses."""
        return sum(self.losses) / len(self.losses)

    @property
    def spread(self) -> float:
        """The largest loss minus the smallest."""
        return max(self.losses) - min(self.losses)


@dataclass(frozen=True)
class Comparison:
    """Kinds of blocks by name: "plain", four with one change, "modern" with all; and how they were measured."""

    kinds: dict[str, Kind]
    seconds: float
    seeds: list[int]
    machine: str
    date: str

    @property
    def title(self) -> str:
        """Date and machine, as a sentence."""
        return f"Recorded on {self.date} on {self.machine}."


def load() -> Comparison:
    """Return the recorded comparison."""
    found = json.loads(files("course").joinpath(FILE).read_text(encoding="utf-8"))
    kinds = {
        name: Kind(
            kind["steps"],
            kind["seconds per step"],
            kind["parameters"],
            [[(step, loss) for step, loss in curve] for curve in kind["curves"]],
        )
        for name, kind in found["kinds"].items()
    }
    return Comparison(kinds, found["seconds"], found["seeds"], found["machine"], found["date"])
