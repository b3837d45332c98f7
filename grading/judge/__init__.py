"""The judge: a confined process that reads and grades one submission.

The coordinator, which has the gradebook, reads nothing that a student wrote.

    coordinator ── submission, grader ──▶ judge (one per submission) ── cells, test cases ──▶ kernel (confined)
     gradebook, ◀── bounded messages: ───  reads, repairs, grades,   ◀── outputs, tensors ──   student's code
     roster         notebook, verdicts     sanitizes

`start_judge` is the coordinator's side, `server` the warm process that judges are forked from, `confinement` what a
judge gives up before it reads. `job` has what a judge is asked, `messages` what it answers. `grade_notebook` grades a
submission, and `kernel` runs the student's kernel.

`grade` is separate: instructors import it from here to grade one exercise in their own notebook.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grading.grader.local import grade

__all__ = ["grade"]


def __getattr__(name: str) -> Any:
    if name in __all__:  # it imports torch, which a judge's client does not need
        return getattr(import_module("grading.grader.local"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
