"""Tables, a picture and the machine of what `classes` measured.

docs/performance.md              between its marks; the text around them is written by hand
docs/images/performance.svg      CPU seconds of each way
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import median, quantiles
from typing import Protocol

from matplotlib import rc_context
from matplotlib.figure import Figure

BEGIN, END = "<!-- measured: {} -->", "<!-- end of: {} -->"
PICTURE = "images/performance.svg"
OURS, TWO, OUR_NBGRADER = "grading grade", "grading grade, two workers", "nbgrader autograde, with our judge"
STOCK, OTTER, FLOOR = "nbgrader alone", "Otter-Grader", "the cells and calls alone"
MIB = 2**20
STEADY = 30  # students: most of so many are graded after the first quarter of the time


class Cost(Protocol):
    """Cost of grading a class, see `classes.Cost`."""

    way: str
    size: int
    workers: int
    wall: float
    cpu: float
    between: list[float]
    held: list[float]

    @property
    def each(self) -> float: ...

    @property
    def a_minute_and_core(self) -> float: ...


@dataclass(frozen=True)
class Target:
    """A target; `measured` is None if a part of it was not measured."""

    what: str
    aim: str
    measured: float | None
    reached: Callable[[float], bool]
    unit: str = "×"

    def row(self) -> str:
        if self.measured is None:
            return f"| {self.what} | {self.aim} | not measured | |"
        reached = "yes" if self.reached(self.measured) else "no"
        return f"| {self.what} | {self.aim} | {_number(self.measured)} {self.unit} | {reached} |"


@dataclass(frozen=True)
class Results:
    """All that one run measured.

    memory   see `classes.memories`
    load     of the machine, as the run began
    in_turn  speedup by two workers, and by two processes of the floor, in each round
    """

    lesson: str
    costs: Sequence[Cost]
    memory: Mapping[str, Mapping[str, Mapping[str, float]]]
    load: float
    in_turn: Sequence[tuple[float, float]] = ()

    def further(self, cost: Cost) -> float:
        """CPU seconds of each submission after the first, without the cost of starting."""
        one = next((c.cpu for c in self.costs if c.way == cost.way and c.size == 1), None)
        return cost.each if one is None or cost.size == 1 else (cost.cpu - one) / (cost.size - 1)

    def largest(self, way: str) -> Cost | None:
        return max((c for c in self.costs if c.way == way and c.size > 1), key=lambda c: c.size, default=None)

    def targets(self) -> list[Target]:
        ours, theirs = self.largest(OURS), self.largest(OUR_NBGRADER)
        assert ours is not None
        mine = self.further(ours)

        def times(way: str) -> float | None:
            other = self.largest(way)
            return None if other is None else self.further(other) / mine

        # The same size as nbgrader's class: fixed costs weigh more in a small one
        alike = next((c for c in self.costs if theirs and c.way == OURS and c.size == theirs.size), None)
        floor, autograde = times(FLOOR), self.further(alike) / self.further(theirs) if theirs and alike else None
        kernel = self.memory.get(OURS, {}).get("kernel", {}).get("private", 0.0) / MIB
        grown = _grown(ours.held) if ours.size >= STEADY else None
        workers, processes = (median(times) for times in zip(*self.in_turn, strict=True)) if self.in_turn else (None, 0)
        how = f" ({_number(processes)} × are two processes of the cells and calls alone)" if processes else ""
        return [
            Target("CPU of nbgrader alone, to ours", "at least 20 ×", times(STOCK), lambda it: it >= 20),
            Target("CPU of Otter-Grader, to ours", "at least 20 ×", times(OTTER), lambda it: it >= 20),
            Target(
                "our CPU, to that of the cells and calls alone",
                "at most 1.5 ×",
                floor and 1 / floor,
                lambda it: it <= 1.5,
            ),
            Target(f"two workers, to one{how}", "at least 1.85 ×", workers, lambda it: it >= 1.85),
            Target(
                "`grading grade`, to `nbgrader autograde` with our judge", "at most 1 ×", autograde, lambda it: it <= 1
            ),
            Target(
                f"memory of the coordinator, grown over the last three quarters of {ours.size}",
                "0 MiB",
                grown,
                lambda it: it <= 1,
                "MiB",
            ),
            Target("private memory of a kernel", "under 100 MB", kernel * MIB / 1e6 or None, lambda it: it < 100, "MB"),
        ]

    def summary(self) -> list[str]:
        lines = [
            f"{c.way}, {c.size}: {c.each:.3f} s CPU each, {self.further(c):.3f} each further" for c in self._shown()
        ]
        return lines + [
            target.row().strip("| ").replace(" | ", ": ", 1).replace(" | ", ", ") for target in self.targets()
        ]

    def page(self) -> str:
        """The text between the marks."""
        return "\n\n".join(
            [
                self._about(),
                self._table(),
                f"![{self._alt()}]({PICTURE})",
                self._aims(),
                *self._rounds(),
                self._memory(),
            ]
        )

    def _shown(self) -> list[Cost]:
        return [cost for cost in self.costs if cost.size > 1]

    def _about(self) -> str:
        return (
            f"Measured on {datetime.now(UTC):%Y-%m-%d} with lesson `{self.lesson}`, right answers in several styles,\n"
            f"on {machine()}.\nThe load of the machine as the run began was {self.load:.1f}."
        )

    def _table(self) -> str:
        head = (
            "| graded by | class | CPU s each | each further | s from one to the next, median "
            "| slowest twentieth | a minute and core |"
        )
        return "\n".join([head, "|---|--:|--:|--:|--:|--:|--:|", *map(self._row, self._shown())])

    def _row(self, cost: Cost) -> str:
        alone = cost.workers == 1 and len(cost.between) > 1
        pace = (f"{median(cost.between):.2f}", f"{_slow(cost.between):.2f}") if alone else ("", "")
        cells = [
            cost.way,
            str(cost.size),
            f"{cost.each:.3f}",
            f"{self.further(cost):.3f}",
            *pace,
            f"{cost.a_minute_and_core:.0f}",
        ]
        return f"| {' | '.join(cells)} |"

    def _aims(self) -> str:
        return "\n".join(["| | aim | measured | reached |", "|---|---|--:|---|", *(t.row() for t in self.targets())])

    def _rounds(self) -> Iterator[str]:
        if self.in_turn:
            told = ", ".join(f"{_number(workers)} ({_number(processes)})" for workers, processes in self.in_turn)
            yield (
                "Two workers to one is the median of rounds, each of one worker, two, one process of the cells and\n"
                f"calls alone and two of them, one after the other; in brackets the processes: {told}."
            )

    def _memory(self) -> str:
        rows = [
            f"| {way} | {role} | {_mib(used.get('bytes'))} | {_mib(used.get('private'))} |"
            for way, roles in self.memory.items()
            for role, used in roles.items()
            if used.get("bytes")
        ]
        return "\n".join(["| memory at most, MiB | of one | held | private |", "|---|---|--:|--:|", *rows])

    def _alt(self) -> str:
        bars = ", ".join(f"{way} {seconds:.2f}" for way, seconds in self.bars())
        return f"CPU seconds of each further submission: {bars}"

    def bars(self) -> Iterator[tuple[str, float]]:
        """Each way with its CPU seconds per further submission, for its largest class."""
        for way in dict.fromkeys(cost.way for cost in self.costs):
            cost = self.largest(way)
            if cost is not None:
                yield way, self.further(cost)


def write(root: Path, results: Results) -> None:
    """Put tables and picture into docs/performance.md."""
    put(root, "classes", results.page())
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "performance"}):
        picture(results).savefig(root / "docs" / PICTURE, metadata={"Date": None})


def put(root: Path, name: str, text: str) -> None:
    """Put a text between the marks of this name in docs/performance.md.

    Raises ValueError if they are missing.
    """
    path, begin, end = root / "docs" / "performance.md", BEGIN.format(name), END.format(name)
    before, found, rest = path.read_text(encoding="utf-8").partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise ValueError(f"{path} has no {begin} … {end}")
    path.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}", encoding="utf-8")


def picture(results: Results) -> Figure:
    """A bar for each way."""
    ways, seconds = zip(*results.bars(), strict=True)
    figure = Figure(figsize=(8, 0.45 * len(ways) + 1.0), layout="constrained")
    axes = figure.subplots()
    ours = [way.startswith("grading") or "our" in way for way in ways]
    drawn = axes.barh(ways, seconds, color=["#1a4f8b" if mine else "#9a9a9a" for mine in ours])
    axes.bar_label(drawn, fmt="%.2f", padding=3)
    axes.invert_yaxis()
    axes.margins(x=0.12)
    axes.set_xlabel("CPU seconds of each further submission")
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def machine() -> str:
    """The machine in words, with the versions that were measured."""
    model = platform.processor() or platform.machine()
    memory = ""
    if platform.system() == "Linux":
        found = re.search(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.M)
        model = found[1] if found else model
        memory = f", {os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 2**30:.0f} GiB of memory"
    named = ", ".join(f"{name} {version(name)}" for name in ("torch", "nbgrader"))
    return (
        f"{os.cpu_count()} cores of {model}{memory}, {platform.system()}, Python {platform.python_version()}, {named}"
    )


def _slow(seconds: list[float]) -> float:
    return quantiles(seconds, n=20, method="inclusive")[-1]


def _grown(held: list[float]) -> float | None:
    """Growth of memory in MiB, from a quarter of the time to the end."""
    quarter = len(held) // 4
    return (max(held[-max(1, quarter // 2) :]) - max(held[: quarter + 1])) / MIB if quarter else None


def _number(value: float) -> str:
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def _mib(value: float | None) -> str:
    return "" if value is None else f"{value / MIB:.0f}"
