"""Overhead of `check` by exercise: `python -m benchmarks.checks [LESSON ...]`.

Each lesson runs in a process of its own, as in a notebook's kernel, and checks each of its correct answers twice. The
first check also reads examples and practice cases. Both times are in milliseconds, without the answer itself. The aim:
an answer that takes a tenth of a second should not wait three tenths for its check.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import inspect
import io
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

from grading.coordinator.demo_class import correct_answers
from grading.course_dir.lessons import list_lessons
from grading.exercises.lesson import load_lesson

ROOT = Path(__file__).resolve().parents[1]


class Own:
    """Seconds that the answer's code ran, measured at its outermost calls."""

    def __init__(self) -> None:
        self.seconds, self._inside = 0.0, False

    def timed(self, call: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(call)
        def watched(*args: Any, **kwargs: Any) -> Any:
            if self._inside:
                return call(*args, **kwargs)
            self._inside, begun = True, time.perf_counter()
            try:
                return call(*args, **kwargs)
            finally:
                self._inside = False
                self.seconds += time.perf_counter() - begun

        return watched

    def watch(self, answer: Any) -> Any:
        """Time an answer; for a class, the functions that it defines."""
        if not inspect.isclass(answer):
            return self.timed(answer)
        for name, member in list(vars(answer).items()):
            if inspect.isfunction(member):
                setattr(answer, name, self.timed(member))
        return answer


def measured(lesson: str) -> dict[str, list[tuple[float, float]]]:
    """(overhead, answer) in seconds for two checks of each exercise in this process."""
    from course import begin, check

    names, found = InteractiveShell.instance().user_ns, {}  # `begin` does more in a notebook than in a script
    answers = correct_answers(load_lesson(ROOT / "grader_tests" / lesson), 0)
    with contextlib.redirect_stdout(io.StringIO()):
        begin(lesson)
        for code in answers.values():
            exec(compile(code, "<answer>", "exec"), names)  # noqa: S102 - the lesson's own right answers
        for name in answers:
            own = Own()
            names[name] = own.watch(names[name])
            found[name] = [_seconds(functools.partial(check, names[name]), own) for _ in range(2)]
    return found


def _seconds(act: Callable[[], Any], own: Own) -> tuple[float, float]:
    own.seconds, begun = 0.0, time.perf_counter()
    act()
    return time.perf_counter() - begun - own.seconds, own.seconds


def main(arguments: list[str]) -> list[str]:
    parser = argparse.ArgumentParser(prog="benchmarks.checks", description=__doc__)
    parser.add_argument("lessons", nargs="*", metavar="LESSON", help="all, where none is named")
    parser.add_argument("--here", action="store_true", help="one lesson, in this process, as JSON")
    asked = parser.parse_args(arguments)
    names = list_lessons(ROOT, asked.lessons)
    if asked.here:
        print(json.dumps(measured(names[0])))
        return []
    print("| lesson | exercise | first check, ms | second, ms | the answer itself, ms |\n|---|---|--:|--:|--:|")
    took: list[tuple[float, str]] = []
    for lesson in names:
        command = [sys.executable, "-m", "benchmarks.checks", "--here", lesson]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        for name, ((first, _), (second, own)) in json.loads(done.stdout).items():
            print(f"| {lesson} | {name} | {1000 * first:.0f} | {1000 * second:.0f} | {1000 * own:.0f} |", flush=True)
            took.append((second, f"{lesson} {name}"))
    middle = statistics.median(seconds for seconds, _ in took)
    slowest = ", ".join(f"{name} {1000 * seconds:.0f}" for seconds, name in sorted(took, reverse=True)[:3])
    return [f"{len(took)} exercises, second checks, ms beyond the answer: median {1000 * middle:.0f}; {slowest}"]


if __name__ == "__main__":
    print("\n".join(main(sys.argv[1:])))
