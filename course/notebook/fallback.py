"""The learner's functions in figures once they pass; PyTorch's until then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import resolve_name

from ..harness import time_limits
from ..models import torch_fallbacks
from . import catalog, check, session

CALL = 60.0  # seconds of processor time per call, which may train a model (see `TrainingProgress`)


class AnswerOrFallback:
    """The learner's function, or its fallback; `whose` says which. `given`: the course defines it in the notebook."""

    def __init__(self, mine: Any, otherwise: Callable[..., Any], passes: bool, given: bool = False) -> None:
        self.mine, self.otherwise, self.passes, self.given = mine, otherwise, passes, given
        self.__name__ = session.name_of(mine)

    @property
    def whose(self) -> str:
        if self.passes:
            return f"the given {self.__name__}" if self.given else f"your {self.__name__}"
        name = resolve_name(self.otherwise) or getattr(self.otherwise, "__name__", "")
        if getattr(self.otherwise, "__module__", "") == torch_fallbacks.__name__:
            name = "PyTorch"
        shown = "a ready-made function" if name in ("", "<lambda>") else name
        return f"{shown}, until your {self.__name__} passes"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.passes:
            gradients = torch.is_grad_enabled()
            try:
                with time_limits.limit(CALL):
                    result = self.mine(*args, **kwargs)
                if result is not None:  # None if a `return` was forgotten
                    return result
            except time_limits.CallTimeout:
                session.current.hung.known[self.__name__] = self.mine
            except Exception:
                pass
            finally:
                torch.set_grad_enabled(gradients)  # an answer may have turned them off for good
            self.passes = False
        return self.otherwise(*args, **kwargs)


def use(f: Any, otherwise: Callable[..., Any]) -> AnswerOrFallback:
    """Return `f` if its visible examples pass, else the fallback `otherwise`.

    The fallback also takes over if `f` raises or returns None. Call the result like a function (or a class); `.whose`
    names it for a caption.
    """
    try:
        given = _is_given(f)
        passes = given or (f not in session.current.hung and check.passes_examples(f))
    except Exception:
        given = passes = False
    return AnswerOrFallback(f, otherwise, passes, given)


def _is_given(f: Any) -> bool:
    """Whether the course gives `f` instead of asking for it."""
    name, lesson = session.name_of(f), session.current.lesson
    return lesson is not None and name in catalog.known_exercises(lesson).keys() - catalog.exercises_of(lesson).keys()
