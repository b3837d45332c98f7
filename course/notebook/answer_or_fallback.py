"""The learner's function if it passes, else another one in its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import resolve_name

from ..harness import time_limits
from ..models import torch_fallbacks
from .session import Session

CALL = 60.0  # seconds of processor time per call, which may train a model (see `TrainingProgress`)


class AnswerOrFallback:
    """The learner's function, or its fallback; `whose` says which. `given`: the course defines it in the notebook."""

    def __init__(
        self, session: Session, mine: Any, otherwise: Callable[..., Any], passes: bool, given: bool = False
    ) -> None:
        self.session, self.mine, self.otherwise, self.passes, self.given = session, mine, otherwise, passes, given
        self.__name__ = session.name_of(mine)

    @property
    def whose(self) -> str:
        if self.passes:
            return f"the given {self.__name__}" if self.given else f"your {self.__name__}"
        return f"{self.shown_fallback()} (until your {self.__name__} passes)"

    def shown_fallback(self) -> str:
        """PyTorch's functions, and those that the notebook defines, have names that the learner can look up."""
        name: str = resolve_name(self.otherwise) or getattr(self.otherwise, "__name__", "")
        if name in ("", "<lambda>", self.__name__) or self.otherwise.__module__ == torch_fallbacks.__name__:
            return "the course's class" if isinstance(self.otherwise, type) else "the course's function"
        return name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.passes:
            gradients = torch.is_grad_enabled()
            try:
                with time_limits.limit(CALL):
                    result = self.mine(*args, **kwargs)
                if result is not None:  # None if a `return` was forgotten
                    return result
            except time_limits.CallTimeout:
                self.session.hung.known[self.__name__] = self.mine
            except Exception:
                pass
            finally:
                torch.set_grad_enabled(gradients)  # an answer may have turned them off for good
            self.passes = False
        return self.otherwise(*args, **kwargs)


def own_answer(f: Any) -> Any:
    """The learner's own function, also after `f = use(f)`."""
    return f.mine if isinstance(f, AnswerOrFallback) else f
