"""Progress bars: for checks that take longer than a moment, and for training."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

from torch import nn
from torch.optim import Optimizer
from torch.optim.optimizer import register_optimizer_step_post_hook

from ..harness import time_limits
from ..report import in_notebook

SHOW_AFTER_SECONDS = 0.5  # seconds before it appears and between redraws
REDRAW = 0.3  # seconds between redraws of a training


@contextmanager
def check_progress(what: str) -> Iterator[ProgressBar]:
    """Show a bar for `what` in a notebook or a terminal, nothing elsewhere."""
    bar = ProgressBar(what)
    try:
        yield bar
    finally:
        bar.clear()


class ProgressBar:
    """A bar that is called with the number of completed steps of `total`."""

    def __init__(self, what: str) -> None:
        self.what, self.total = what, 0
        self.drawn = time.monotonic()
        self.handle: Any = None
        self.printed = ""

    def __call__(self, done: int) -> None:
        if time.monotonic() - self.drawn < SHOW_AFTER_SECONDS:
            return
        self.drawn = time.monotonic()
        text = f"{done} of {self.total} {self.what}"
        if in_notebook():
            place = f'value="{done}" max="{self.total}" aria-label="{self.what}"'
            self._show({"text/html": f'<div><progress {place} style="width:22em"></progress> {text}</div>'}, text)
        elif sys.stderr.isatty():
            self.printed = text
            print(f"\r{text}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        if self.handle is not None:
            self._show({"text/html": ""}, "")
        elif self.printed:
            print(f"\r{' ' * len(self.printed)}\r", end="", file=sys.stderr, flush=True)

    def _show(self, shown: dict[str, str], text: str) -> None:
        from IPython.display import display

        if self.handle is None:
            self.handle = display({**shown, "text/plain": text}, raw=True, display_id=True)
        else:
            self.handle.update({**shown, "text/plain": text}, raw=True)


class TrainingProgress:
    """Show the progress of training a model in this block; outside a notebook, one line at the end.

    `with TrainingProgress(model, steps, look, every=100): train(model, ...)`
    Counts the steps of every optimizer of the model's parameters. `look(done)` is called before the first step, after
    each `every` steps and at the end; its result, if any, is shown next to the bar. It may call the model, and need not
    restore its mode.
    """

    def __init__(
        self, model: nn.Module, steps: int, look: Callable[[int], object] | None = None, every: int = 100
    ) -> None:
        self.model, self.steps, self.look, self.every = model, steps, look, every
        self.done, self.looked_at, self.said = 0, -1, ""
        self.handle: Any = None

    def __enter__(self) -> TrainingProgress:
        self.began = time.monotonic()
        self._look()
        self._draw()
        self.hook = register_optimizer_step_post_hook(self._count_step)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.hook.remove()
        if kind is None:
            self.done = self.done or self.steps  # without an optimizer, no step was counted
            self._look()
        self._draw(last=True)

    def _count_step(self, optimizer: Optimizer, *_: object) -> None:
        ours = {id(parameter) for parameter in self.model.parameters()}
        if not any(id(parameter) in ours for group in optimizer.param_groups for parameter in group["params"]):
            return
        self.done += 1
        if self.done <= self.steps:
            time_limits.renew()
        if self.done % self.every == 0:
            self._look()
        if time.monotonic() - self.drawn > REDRAW:
            self._draw()

    def _look(self) -> None:
        if self.look is None or self.looked_at == self.done:
            return
        self.looked_at, mode = self.done, self.model.training
        trainable = [parameter for parameter in self.model.parameters() if parameter.requires_grad]
        try:
            result = self.look(self.done)
        finally:  # training continues whatever `look` has done to the model
            if self.model.training != mode:
                self.model.train(mode)
            for parameter in trainable:
                parameter.requires_grad_()
        self.said = "" if result is None else f", {result}"

    def _draw(self, last: bool = False) -> None:
        self.drawn = time.monotonic()
        text = f"step {self.done} of {self.steps}, {self.drawn - self.began:.0f} s{self.said}"
        if not in_notebook():
            if last:
                print(text)
            return
        from IPython.display import display

        place = f'value="{self.done}" max="{self.steps}" aria-label="steps of the training"'
        bar = f'<progress {place} style="width:22em"></progress> {escape(text)}'
        shown = {"text/html": f"<div>{bar}</div>", "text/plain": text}
        if self.handle is None:
            self.handle = display(shown, raw=True, display_id=True)
        else:
            self.handle.update(shown, raw=True)
