"""What a learner calls in a notebook: begin, check, hint, use, progress.

The visible examples, their right outcomes, the outcomes of known mistakes and the hints are data in
`course/examples/`, made from the grader's own description of each exercise; no solution is among them.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch.overrides import resolve_name

from .compare import Reference, Tolerance, compare, explain, leaves
from .packing import Node, unpack
from .probe import Observation, Program, run
from .report import Points, Report, Row, display

EXAMPLES = Path(__file__).parent / "examples"
ENDING = ".examples"

_lesson: str | None = None
_hints_shown: dict[str, int] = {}
_last: dict[str, Report] = {}


def begin(lesson: str) -> None:
    """Start a lesson, e.g. `begin("02_softmax")`: its examples and hints are loaded, and every exercise that is not
    written yet gets a placeholder, so that the notebook runs from top to bottom whatever is missing.

    Raises ValueError for a lesson that does not exist, with the names of those that do.
    """
    global _lesson
    if lesson not in lessons():
        raise ValueError(f"there is no lesson {lesson!r}; there are {', '.join(lessons())}")
    _lesson = lesson
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    names = shell.user_ns if shell else inspect.currentframe().f_back.f_globals  # type: ignore[union-attr]
    for name in _load(lesson)["exercises"]:
        names.setdefault(name, _placeholder(name))


def lessons() -> list[str]:
    """Names of the lessons, in order."""
    return sorted(path.name.removesuffix(ENDING) for path in EXAMPLES.glob(f"*{ENDING}"))


def check(f: Any) -> Points:
    """Run the visible examples of the exercise `f` and show how it did. Never raises.

    Returns the points that the examples earn, which print as a plain float: all of them if every example is right.
    The hidden cases that grade the exercise are more, and stricter.
    """
    try:
        shown = _report(f)
    except Exception as error:
        shown = Report(_name(f), "needs a person", 0.0, 0.0, headline=f"{type(error).__name__}: {error}")
    _last[shown.exercise] = shown
    display(shown)
    return Points(shown.earned, shown.points)


def hint(f: Any) -> None:
    """Show the next hint for the exercise `f`: a question, then the idea, then the shape of the code."""
    name = _name(f)
    try:
        hints = _find(name)["hints"]
    except LookupError as error:
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
    status = "right" if done == len(rows) else "partly right" if earned else "not started"
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
            try:
                return self.mine(*args, **kwargs)
            except Exception:
                self.passes = False
        return self.otherwise(*args, **kwargs)


def use(f: Any, otherwise: Callable[..., Any]) -> _Used:
    """The learner's `f` once its visible examples are right, `otherwise` until then, or where `f` raises.

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
    seen = [run(Program(**case["program"]), names) for case in data["cases"]]
    references = [_reference(case) for case in data["cases"]]
    findings = [compare(one, reference) for one, reference in zip(seen, references, strict=True)]
    used = sorted({function for one in seen for function in one.used})
    failing = [i for i, finding in enumerate(findings) if finding]
    rows = [
        Row(case["name"], "wrong" if finding else "right", "", _details(case, one, reference, finding))
        for case, one, reference, finding in zip(data["cases"], seen, references, findings, strict=True)
    ]
    if not failing and not used:
        return Report(name, "right", points, points, rows, footnote="The hidden cases are more, and stricter.")
    if all(one.raised and one.raised["type"] == "NotImplementedError" for one in seen):
        blank = [Row(row.name, "not started") for row in rows]
        headline = "Write it in the cell above, then run this one."
        return Report(name, "not started", 0.0, points, blank, headline=headline)
    if used:
        text = f"Not allowed in this exercise: {', '.join(used)}. Write it yourself."
        return Report(name, "not allowed", 0.0, points, rows, headline=text)
    outcomes = {m["name"]: [Observation(**o) for o in m["outcomes"]] for m in data["mistakes"]}
    mistake = explain(seen, failing, outcomes)
    found = next((m for m in data["mistakes"] if m["name"] == mistake), None)
    earned = points * (len(rows) - len(failing)) / len(rows)
    shown = Report(name, "partly right" if earned else "wrong", round(earned, 2), points, rows)
    shown.see = data["see"]
    if found:
        shown.headline, shown.see = found["text"], found["see"] or data["see"]
    return shown


def _details(case: dict[str, Any], seen: Observation, reference: Reference, finding: Any) -> list[str]:
    if not finding:
        return []
    lines = [case["text"], finding.text]
    for name, expected in reference.native.values.items():
        wanted, got = _written(expected), _written(seen.values.get(name)) if not seen.raised else ""
        if wanted and finding.rung not in ("raised", "message", "gradient", "unchanged"):
            lines.append(f"expected {wanted}")
            lines += [f"     got {got}"] if got else []
    return ["\n".join(lines)]


def _written(value: Any) -> str:
    """Small numbers in full, larger ones not at all."""
    if sum(v.numel() if isinstance(v, torch.Tensor) else 1 for _, v in leaves(value)) > 16:
        return ""
    if isinstance(value, torch.Tensor):
        return str(value.tolist() if not value.is_floating_point() else _rounded(value.tolist()))
    if isinstance(value, tuple):
        return "(" + ", ".join(map(_written, value)) + ")"
    return "" if isinstance(value, Node) else repr(_rounded(value))


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


def _reference(case: dict[str, Any]) -> Reference:
    return Reference(
        Observation(**case["exact"]), Observation(**case["native"]), case["undefined"],
        Tolerance(*case["tolerance"]) if case["tolerance"] else None, case["wrong"], case["pure"],
        frozenset(case["mutates"]),
    )  # fmt: skip


def _names_around(f: Any, name: str) -> dict[str, Any]:
    """The names that the learner's function sees, with `f` itself under the exercise's name."""
    around = getattr(f, "__globals__", None) or vars(sys.modules.get(getattr(f, "__module__", ""), sys))
    return {**around, name: f}


def _find(name: str) -> dict[str, Any]:
    for lesson in [_lesson] if _lesson else lessons():
        found = _load(lesson)["exercises"].get(name)
        if found is not None:
            return found
    where = f"lesson {_lesson}" if _lesson else "any lesson"
    raise LookupError(f"{name!r} is not an exercise of {where}; pass the function itself, e.g. check(softmax)")


@cache
def _load(lesson: str) -> dict[str, Any]:
    return unpack((EXAMPLES / f"{lesson}{ENDING}").read_bytes())


def _name(f: Any) -> str:
    """The exercise that `f` answers: its own name or, for a decorated function, the name it is bound to."""
    name = f if isinstance(f, str) else str(getattr(f, "__name__", type(f).__name__))
    exercises = _load(_lesson)["exercises"] if _lesson else {}
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if name in exercises or shell is None:
        return name
    return next((n for n in exercises if shell.user_ns.get(n) is f), name)


def _placeholder(name: str) -> Callable[..., Any]:
    def missing(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{name} is not written yet")

    missing.__name__ = missing.__qualname__ = name
    return missing


def _say(markdown: str) -> None:
    from .report import in_notebook

    if in_notebook():
        from IPython.display import Markdown
        from IPython.display import display as show

        show(Markdown(markdown))
    else:
        print(markdown.replace("**", ""))
