"""Attention, built and graded: what the course's notebooks import.

`begin`, `check`, `hint`, `solution`, `use`, `progress`, `printed`, `hand_in` and `keepsake` are for the learner;
`figures` and `interactive` draw, by `ready_made` functions until the learner's own pass. `__version__` is the one that
a notebook's first cell asks for.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .checking import begin, check, hint, printed
    from .ending import keepsake
    from .solving import solution
    from .standing import hand_in, progress
    from .using import use

__all__ = [
    "begin",
    "check",
    "figures",
    "hand_in",
    "hint",
    "interactive",
    "keepsake",
    "printed",
    "progress",
    "solution",
    "use",
]
HOMES = {
    "hand_in": "standing",
    "keepsake": "ending",
    "progress": "standing",
    "solution": "solving",
    "use": "using",
}


def __getattr__(name: str) -> Any:
    # Slow to import: matplotlib, which the judge does not need, and torch, which a reader of verdicts does not
    if name in ("figures", "interactive"):
        return import_module(f"{__name__}.{name}")
    if name in __all__:
        return getattr(import_module(f"{__name__}.{HOMES.get(name, 'checking')}"), name)
    if name == "__version__":
        return version("attention-course")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
