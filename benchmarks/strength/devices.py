"""Comparison of verdicts on an accelerator, if there is one, with those on the CPU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from grading.exercises.exercise import Exercise
from grading.proof.mutation_runs import lost_criteria

NOT_RUN = "not run: there is no such device"


def device() -> str:
    """The accelerator to compare verdicts on; "" if there is none."""
    return "cuda" if torch.cuda.is_available() else ""


def in_words() -> str:
    """The device and the precision of its products, or that there is none, as text."""
    if not device():
        return NOT_RUN
    tf32 = torch.backends.cuda.matmul.allow_tf32
    return f"{torch.cuda.get_device_name()}, TF32 {'on' if tf32 else 'off'}, default reduced-precision reductions"


def differing(exercise: Exercise, right: Mapping[str, Mapping[str, Any]], seed: int = 0) -> list[str] | None:
    """Known answers that lose other criteria there than on the CPU; None if none was run."""
    there = device()
    if not there:
        return None
    mistakes = {f"mistake {one.name}": {exercise.name: one.load()} for m in exercise.mistakes for one in m.all_forms}

    def lose(names: Mapping[str, Any], on: str) -> list[str]:
        return list(lost_criteria(exercise, names, seed, on, lenient=True))

    return [name for name, names in {**right, **mistakes}.items() if lose(names, "cpu") != lose(names, there)]
