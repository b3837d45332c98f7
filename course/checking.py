"""What a learner calls in a notebook: begin, check, hint, use, progress.

The visible examples, their right outcomes, the outcomes of known mistakes and the hints are data in
`course/examples/`, made from the grader's own description of each exercise; no solution is among them.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch.overrides import resolve_name

from .protocol.comparing import Finding, Reference, compare, leaves
from .protocol.diagnosing import explain
from .protocol.errors import describe, not_written
from .protocol.packing import Node, PackingError, unpack
from .protocol.program import Observation, Program
from .protocol.running import observe
from .protocol.tolerance import Tolerance
from .report import Points, Report, Row, display, in_notebook

EXAMPLES = Path(__file__).parent / "examples"
ENDING = ".examples"
LONG = 300  # characters of one value in a report

_lesson: str | None = None
_names: dict[str, Any] = {}  # where the learner's functions are bound
_hints_shown: dict[str, int] = {}
_last: dict[str, Report] = {}


def begin(lesson: str) -> None:
    """Start a lesson, e.g. `begin("02_softmax")`: its examples and hints are loaded, and every exercise that is not
    written yet gets a placeholder, so that the notebook runs from top to bottom whatever is missing. From here on torch
    computes on one thread, unless OMP_NUM_THREADS says on how many: a lesson's tensors are small, and on a busy machine
    threads wait for each other.

    Raises ValueError for a lesson that does not exist, with the names of those that do, and FileNotFoundError where
    the course was installed without its examples.
    """
    global _lesson, _names
    if lesson not in lessons():
        raise ValueError(f"there is no lesson {lesson!r}; there are {', '.join(lessons())}")
    exercises = _load(lesson)["exercises"]
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    names = shell.user_ns if shell else inspect.currentframe().f_back.f_globals  # type: ignore[union-attr]
    _lesson, _names = lesson, names
    for name in exercises:
        names.setdefault(name, _placeholder(name))
    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(1)


def lessons() -> list[str]:
    """Names of the lessons, in order. Raises FileNotFoundError where there are none."""
    found = sorted(path.name.removesuffix(ENDING) for path in EXAMPLES.glob(f"*{ENDING}"))
    if not found:
        raise FileNotFoundError(f"the examples of the course are missing from {EXAMPLES}: install the course again")
    return found


def check(f: Any) -> Points:
    """Run the visible examples of the exercise `f` and show how it did. Never raises.

    Returns the points that the examples earn, which print as a plain float: all of them if every example is right.
    The hidden cases that grade the exercise are more, and stricter.
    """
    try:
        shown = _report(f)
    except Exception as error:
        said = describe(error)
        shown = Report(_name(f), "needs a person", 0.0, 0.0, headline=f"{said['type']}: {said['message']}")
    _last[shown.exercise] = shown
    display(shown)
    return Points(shown.earned, shown.points)


def hint(f: Any) -> None:
    """Show the next hint for the exercise `f`: a question, then the idea, then the shape of the code."""
    name = _name(f)
    try:
        hints = _find(name)["hints"]
    except (LookupError, OSError, PackingError) as error:
        print(error)
        return
    shown = _hints_shown.get(name, 0)
    if not hints:
        print(f"There are no hints for {name}.")
        return
    index = min(shown, len(hints) - 1)
    _hints_shown[name] = shown + 1
    again = " (the last one)" if index == len(hints) - 1 else ""
    _say(f"**Hint {index + 1} of {len(hints)}{again}.** {hints[index]}")


def progress() -> None:
    """Show the state of every exercise of the lesson, as of its last `check`."""
    if _lesson is None:
        print('No lesson has begun: call begin("02_softmax") first.')
        return
    rows, earned, total = [], 0.0, 0.0
    for name, data in _load(_lesson)["exercises"].items():
        last = _last.get(name)
        earned, total = earned + (last.earned if last else 0.0), total + data["points"]
        rows.append(Row(f"`{name}`", last.status if last else "not started", f"{data['points']:g} points"))
    done = sum(row.status == "right" for row in rows)
    begun = "partly right" if earned else "wrong" if any(row.status != "not started" for row in rows) else "not started"
    status = "right" if done == len(rows) else begun
    headline = f"{done} of {len(rows)} exercises pass their examples."
    display(Report(_lesson, status, earned, total, rows, headline=headline))


class _Used:
    """A function of the learner's, or PyTorch's in its place; `whose` says which."""

    def __init__(self, mine: Any, otherwise: Callable[..., Any], passes: bool) -> None:
        self.mine, self.otherwise, self.passes = mine, otherwise, passes
        self.__name__ = _name(mine)

    @property
    def whose(self) -> str:
        if self.passes:
            return f"your {self.__name__}"
        name = resolve_name(self.otherwise) or getattr(self.otherwise, "__name__", "")
        shown = "a ready-made function" if name in ("", "<lambda>") else name
        return f"{shown}, until your {self.__name__} passes"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.passes:
            gradients = torch.is_grad_enabled()
            try:
                result = self.mine(*args, **kwargs)
                if result is not None:  # as where a `return` was forgotten
                    return result
            except Exception:
                pass
            finally:
                torch.set_grad_enabled(gradients)  # who switches them off for good stops all later training
            self.passes = False
        return self.otherwise(*args, **kwargs)


def use(f: Any, otherwise: Callable[..., Any]) -> _Used:
    """The learner's `f` once its visible examples are right, `otherwise` until then, or where `f` raises or
    returns nothing.

    The result is called like a function (or constructed like a class); `.whose` names it for a caption.
    """
    try:
        passes = _report(f).status == "right"
    except Exception:
        passes = False
    return _Used(f, otherwise, passes)


def _report(f: Any) -> Report:
    name = _name(f)
    data = _find(name)
    points = float(data["points"])
    names = _names_around(f, name)
    seen = _observe([Program(**case["program"]) for case in data["cases"]], names)
    references = [_reference(case) for case in data["cases"]]
    findings = [compare(one, reference) for one, reference in zip(seen, references, strict=True)]
    used = sorted({function for one in seen for function in one.used})
    failing = [i for i, finding in enumerate(findings) if finding]
    rows, told = list[Row](), set[str]()
    for case, one, reference, finding in zip(data["cases"], seen, references, findings, strict=True):
        if finding is None:
            rows.append(Row(case["name"], "right"))
        elif finding.text in told:  # the same words over and over bury those that differ
            rows.append(Row(case["name"], "wrong", "as above"))
        else:
            told.add(finding.text)
            rows.append(Row(case["name"], "wrong", "", _details(case, one, reference, finding)))
    if not failing and not used:
        return Report(name, "right", points, points, rows, footnote="The hidden cases are more, and stricter.")
    if all(not_written(one.raised) for one in seen):
        blank = [Row(row.name, "not started") for row in rows]
        headline = "Write it in the cell above, then run this one."
        return Report(name, "not started", 0.0, points, blank, headline=headline)
    if used:
        text = f"Not allowed in this exercise: {', '.join(used)}. Write it yourself."
        return Report(name, "not allowed", 0.0, points, rows, headline=text)
    outcomes = {m["name"]: [Observation(**o) for o in m["outcomes"]] for m in data["mistakes"]}
    mistake = _mistake(seen, failing, outcomes)
    found = next((m for m in data["mistakes"] if m["name"] == mistake), None)
    earned = points * (len(rows) - len(failing)) / len(rows)
    shown = Report(name, "partly right" if earned else "wrong", round(earned, 2), points, rows, see=data["see"])
    if found:
        shown.headline, shown.see = found["text"], found["see"] or data["see"]
    return shown


def _observe(programs: list[Program], names: dict[str, Any]) -> list[Observation]:
    """Every program's observation; after one that the learner interrupted, the rest is taken to be as endless."""
    seen: list[Observation] = []
    for program in programs:
        interrupted = bool(seen) and seen[-1].raised is not None and seen[-1].raised["type"] == "KeyboardInterrupt"
        seen.append(seen[-1] if interrupted else observe(program, names))
    return seen


def _mistake(seen: list[Observation], failing: list[int], outcomes: dict[str, list[Observation]]) -> str | None:
    """The known mistake that explains all failing examples, else the one that explains most of them one by one."""
    named = [explain(seen, [i], outcomes) for i in failing]
    mostly = next((name for name in named if name and 2 * named.count(name) > len(failing)), None)
    return explain(seen, failing, outcomes) or mostly


def _details(case: dict[str, Any], seen: Observation, reference: Reference, finding: Finding) -> list[str]:
    lines = [case["text"], finding.text]
    for name, expected in reference.native.values.items():
        wanted, got = _written(expected), _written(seen.values.get(name)) if not seen.raised else ""
        if wanted and finding.rung not in ("raised", "message", "gradient", "unchanged"):
            lines.append(f"expected {wanted}")
            lines += [f"     got {got}"] if got else []
    return ["\n".join(lines)]


def _written(value: Any) -> str:
    """Few numbers in full, many not at all; a long text is cut."""
    if sum(v.numel() if isinstance(v, torch.Tensor) else 1 for _, v in leaves(value)) > 16:
        return ""
    if isinstance(value, torch.Tensor):
        return str(value.tolist() if not value.is_floating_point() else _rounded(value.tolist()))
    if isinstance(value, tuple):
        return "(" + ", ".join(map(_written, value)) + ")"
    if isinstance(value, Node):
        return ""
    text = repr(_rounded(value))
    return text if len(text) <= LONG else f"{text[:LONG]} …"


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


def _reference(case: dict[str, Any]) -> Reference:
    return Reference(
        Observation(**case["exact"]),
        Observation(**case["native"]),
        case["undefined"],
        Tolerance(*case["tolerance"]) if case["tolerance"] else None,
        case["wrong"],
        case["pure"],
        frozenset(case["mutates"]),
    )


def _names_around(f: Any, name: str) -> dict[str, Any]:
    """The names that the learner's function sees, with `f` itself under the exercise's name."""
    return {**(_names or getattr(f, "__globals__", {})), name: f}


def _find(name: str) -> dict[str, Any]:
    for lesson in [_lesson] if _lesson else lessons():
        found = _load(lesson)["exercises"].get(name)
        if found is not None:
            return found
    where = f"lesson {_lesson}" if _lesson else "any lesson"
    raise LookupError(f"{name!r} is not an exercise of {where}; pass the function itself, e.g. check(softmax)")


@cache
def _load(lesson: str) -> dict[str, Any]:
    path = EXAMPLES / f"{lesson}{ENDING}"
    try:
        return unpack(path.read_bytes())
    except PackingError as error:
        raise PackingError(f"{path} cannot be read ({error}): install the course again") from None


def _name(f: Any) -> str:
    """The exercise that `f` answers: one whose name is bound to it, which may be any object, else its own name."""
    try:
        own = f if type(f) is str else str(getattr(f, "__name__", type(f).__name__))
    except Exception:
        own = type(f).__name__
    exercises = _load(_lesson)["exercises"] if _lesson else {}
    bound = [name for name in exercises if name in _names and _names[name] is f]
    return own if own in bound or not bound else bound[0]


def _placeholder(name: str) -> Callable[..., Any]:
    def missing(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{name} is not written yet")

    missing.__name__ = missing.__qualname__ = name
    return missing


def _say(markdown: str) -> None:
    if in_notebook():
        from IPython.display import Markdown
        from IPython.display import display as show

        show(Markdown(markdown))
    else:
        print(markdown.replace("**", ""))
