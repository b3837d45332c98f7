"""Which torch functions were called, whatever their spelling, and whether an exercise forbids them.

Does not cover: what the submitted source says before it runs (the judge reads it for itself).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from torch.overrides import TorchFunctionMode, resolve_name


def normal_name(name: str) -> str:
    """One spelling for a function's many: `F.log_softmax`, `nn.LogSoftmax`, `aten._log_softmax` -> `logsoftmax`."""
    name = re.sub(r"^(linalg|special|sparse)_", "", name.split(".")[0].strip("_").lower())
    return name.replace("_", "")


def is_forbidden(name: str, patterns: Iterable[str]) -> bool:
    """Whether `name`, in its normal spelling, matches one of the patterns (regular expressions) as a whole."""
    return _matches(name, tuple(patterns))


@lru_cache(maxsize=4096)
def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(re.fullmatch(pattern.replace("_", ""), normal_name(name)) for pattern in patterns)


class Watch(TorchFunctionMode):
    """Notes every torch function called under it whose name matches one of `patterns`; stops none."""

    def __init__(self, patterns: list[str]) -> None:
        super().__init__()
        self.patterns = tuple(patterns)
        self.used: list[str] = []

    def __torch_function__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        plain = getattr(func, "__name__", str(func))
        if _matches(plain, self.patterns):
            name = resolve_name(func) or plain
            if name not in self.used:
                self.used.append(name)
        return func(*args, **(kwargs or {}))
