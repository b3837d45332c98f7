"""Names of this package that an answer must not use, because they may solve it.

Does not cover: watching an answer while it runs (`course.harness.forbidden_calls`), reading its source (the grader).
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from . import FUNCTIONS, MODULES

PACKAGE = __package__
MODULE_OF = {f"{PACKAGE}.{name}": f"{PACKAGE}.{module}" for name, module in MODULES.items()}
# These show, draw, read or name something, but compute nothing that an exercise asks for
HARMLESS = (
    *FUNCTIONS,
    "__version__",
    "figures",
    "models.gpt.CharTokenizer",
    "models.gpt.Checkpoint",
    "models.gpt.Run",
    "models.gpt.Sizes",
    "models.gpt.load_bundled_model",
    "models.pretrained",
    "notebook.progress_bars",
    "widgets",
)


def answers_an_exercise(path: Sequence[str]) -> bool:
    """Whether the name at this path of the package, split at its dots, may answer an exercise.

    An empty path is the package itself, which may.
    """
    name = f"{PACKAGE}.{'.'.join(path)}"
    for module in (name.rsplit(".", taken)[0] for taken in range(len(path))):
        if module in MODULE_OF:
            name = MODULE_OF[module] + name.removeprefix(module)
            break
    return not f"{name}.".startswith(tuple(f"{PACKAGE}.{harmless}." for harmless in HARMLESS))


def names_of(module: str) -> list[str]:
    """Names of this package that `from module import *` may bind; none for other modules."""
    if not answers_an_exercise(module.split(".")[1:]) or not f"{module}.".startswith(f"{PACKAGE}."):
        return []
    try:
        found = vars(import_module(module))
    except Exception:  # there is no such module
        return []
    return [name for name, value in found.items() if str(getattr(value, "__module__", "")).startswith(PACKAGE)]
