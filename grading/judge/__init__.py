"""The judge: a confined process that reads and grades one submission, so that the gradebook's process need not.

    coordinator ── submission, grader ──▶ judge (one per submission) ── cells, test cases ──▶ kernel (confined)
     gradebook, ◀── bounded messages: ───  reads, repairs, grades,   ◀── outputs, tensors ──   student's code
     roster         notebook, verdicts     sanitizes

`client` is the coordinator's side, `server` the warm process from which judges are forked, `confinement` what a judge
gives up before it reads. `grade_notebook` grades a submission, with the student's kernel run by `kernel`.

`grade` is not part of that: it grades one exercise in an instructor's own notebook, which imports it from here.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grading.grader.local import grade

__all__ = ["grade"]


def __getattr__(name: str) -> Any:
    if name in __all__:  # imports torch, which a judge's client does not need
        return getattr(import_module("grading.grader.local"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
