"""Run all measurements, one after the other, and print one summary: `make bench`.

    python -m benchmarks [NAME ...]

Names: kernels, classes, large, term, steps, file, checks, alive, training and hostile, which takes longest and runs
only if it is named. The results of `classes` and `term` are written to docs/performance.md. Compare figures of the
same run only, not of two runs or two machines.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from collections.abc import Callable

from grading.sandbox import SandboxUnavailable, require

from . import alive, checks, classes, grade_file, hostile, kernel_start, large, steps, term

ALL: dict[str, tuple[str, Callable[[list[str]], list[str]]]] = {
    "kernels": ("A sandboxed kernel beside an ordinary one", kernel_start.main),
    "classes": ("A graded class: this course beside nbgrader alone, Otter-Grader and the floor", classes.main),
    "large": ("A submission in the gradebook of ten thousand students", large.main),
    "term": ("Release, feedback, report and export, beside nbgrader alone", term.main),
    "steps": ("A graded notebook, step by step", steps.main),
    "file": ("One submission on a platform, from the command to its result", grade_file.main),
    "checks": ("What `check` takes beyond the learner's own code", checks.main),
    "alive": ("The widget of attention, from a key to its picture", alive.main),
    "hostile": ("Hostile submissions: this course beside nbgrader alone", hostile.main),
}

WRITTEN = ("classes", "term")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="all but hostile, where none is named")
    names = parser.parse_args(arguments).names or [name for name in ALL if name != "hostile"]
    if unknown := set(names) - set(ALL):
        parser.error(f"no measurement {', '.join(sorted(unknown))}; there are {', '.join(ALL)}")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    try:
        require()
    except SandboxUnavailable as problem:
        print(f"benchmarks: there is nothing to measure without the sandbox. {problem}", file=sys.stderr)
        return 1
    summary = []
    for number, name in enumerate(names, 1):
        title, measured = ALL[name]
        print(f"\n[{number} of {len(names)}] {title}\n", flush=True)
        begun = time.monotonic()
        lines = measured(["--write"] if name in WRITTEN else [])
        summary += [f"{title} ({time.monotonic() - begun:.0f} s)", *(f"  {line}" for line in lines)]
    cores, load = os.cpu_count(), os.getloadavg()[0]
    print(f"\nSummary: {platform.machine()}, {cores} processors, load {load:.1f} at the end\n")
    print("\n".join(summary))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
