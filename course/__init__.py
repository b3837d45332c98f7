"""The public interface of the course, as its notebooks import it.

Learners call `begin`, `check`, `predict`, `hint`, `solution`, `progress`, `printed`, `hand_in` and `keepsake`. The
modules in `MODULES` draw, or hold models. A notebook's first cell compares `__version__`.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .figures.keepsake import keepsake
    from .notebook.begin import begin
    from .notebook.check import check, printed
    from .notebook.hand_in import hand_in
    from .notebook.hints import hint, solution
    from .notebook.predictions import predict
    from .notebook.progress import progress

__all__ = [
    "alive",
    "attention_only",
    "begin",
    "check",
    "figures",
    "hand_in",
    "hint",
    "keepsake",
    "predict",
    "printed",
    "progress",
    "sentence",
    "sliders",
    "solution",
]
FUNCTIONS = {
    "begin": "notebook.begin",
    "check": "notebook.check",
    "hand_in": "notebook.hand_in",
    "hint": "notebook.hints",
    "keepsake": "figures.keepsake",
    "predict": "notebook.predictions",
    "printed": "notebook.check",
    "progress": "notebook.progress",
    "solution": "notebook.hints",
}  # name -> the module that defines it
MODULES = {
    "alive": "widgets.alive",
    "attention_only": "models.attention_only",
    "figures": "figures",
    "gpt": "models.gpt",
    "pretrained": "models.pretrained",
    "sample_models": "sample_models",
    "sentence": "sample_models.sentence",
    "sliders": "widgets.sliders",
    "small_lm": "models.small_lm",
    "staged_model": "notebook.staged_model",
}  # attribute of `course` in the lessons -> the module's path


def __getattr__(name: str) -> Any:
    # Import lazily: matplotlib is slow and the grader does not need it; torch is slow and reading a verdict does not
    # need it.
    if name in FUNCTIONS:
        return getattr(import_module(f"{__name__}.{FUNCTIONS[name]}"), name)
    if name in MODULES:
        return import_module(f"{__name__}.{MODULES[name]}")
    if name == "__version__":
        return version("attention-course")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
