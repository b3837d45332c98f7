"""The judge: exercises and cases, references, diagnosis, verdicts. `grade` is for an instructor's own notebook."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .inprocess import grade

__all__ = ["grade"]


def __getattr__(name: str) -> Any:
    if name in __all__:  # it imports torch, which a reader of verdicts does not need
        return getattr(import_module(f"{__name__}.inprocess"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
