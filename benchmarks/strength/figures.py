"""Figures on the strength of the graders: plain data per exercise, and their pages.

Does not cover: measuring (`proof/prover.py`, `error_margins.py`), writing files (`write_reports.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from grading.proof.prover import Proof

from .error_margins import Exactness

Figures = dict[str, Any]
HEAD = """# How strong the graders are, exercise by exercise

What `make measure` measured of every exercise. A *mutant* is a right answer with one small change; one that
loses nothing is listed in the exercise's `equivalent.toml` with the reason why it is as right as the original.
"""


def figures(proof: Proof) -> Figures:
    """The strength of one exercise, from its proof."""
    made: Figures = {
        "points": proof.exercise.points,
        "right": sum(not name.startswith("mistake ") for name in proof.verdicts),
        "mistakes": len(proof.exercise.mistakes),
        "named": proof.named,
        "criteria": [
            {
                "name": c.name,
                "points": c.points,
                "mistakes": proof.caught[c.name],
                "mutants": proof.trials.caught.get(c.name, 0) if proof.trials else 0,
                "alone": proof.trials.alone.get(c.name, "") if proof.trials else "",
            }
            for c in proof.exercise.criteria
        ],
    }
    if proof.trials:
        survived = [str(mutant) for mutant in proof.trials.survivors]
        made["mutants"] = {
            "tried": proof.trials.tried,
            "killed": proof.trials.tried - len(survived),
            "by some seeds only": [str(mutant) for mutant in proof.trials.lucky],
            "equivalent": proof.equivalent,
            "survived": [mutant for mutant in survived if mutant not in proof.equivalent],
        }
    return made


def measured(found: Exactness) -> Figures:
    """Measurements over many seeds, as plain data; of the names that were given only the wrong ones."""
    made = asdict(found)
    named = made.pop("named")
    known = {mistake: mistake.partition(" (")[0] for mistake in named}  # variants share one name
    made["named rightly"] = sum(counts.get(known[mistake], 0) for mistake, counts in named.items())
    wrong = {mistake: {n: c for n, c in counts.items() if n != known[mistake]} for mistake, counts in named.items()}
    made["named otherwise"] = {mistake: counts for mistake, counts in wrong.items() if counts}
    return made


def page(strength: Mapping[str, Any]) -> str:
    """The page with all figures."""
    exercises: Mapping[str, Figures] = strength["exercises"]
    parts = (_sums, _criteria, _mutants, _names, _tolerances, _seeds)
    sections = [HEAD, *("\n".join(part(exercises)) + "\n" for part in parts), _devices(strength)]
    return "\n".join(sections)


def _table(*heads: str) -> list[str]:
    return [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]


def _row(cells: Iterable[object]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def headline(strength: Mapping[str, Any]) -> str:
    """The sums over all exercises, and the versions and devices of the measurement."""
    measured_with = f"Measured on {strength['date']} by `make measure`, with torch {strength['torch']}."
    return "\n".join([measured_with, "", *_sums(strength["exercises"])])


def _sums(exercises: Mapping[str, Figures]) -> Iterator[str]:
    def total(*path: str) -> int:
        found: list[Any] = list(exercises.values())
        for key in path:
            found = [one[key] for one in found if key in one]
        return sum(one if isinstance(one, int) else len(one) for one in found)

    yield from _table("", "")
    yield _row(("right answers, all with full marks", total("right")))
    yield _row(("known mistakes, all losing what they should", total("mistakes")))
    yield _row(("of them named rightly with every seed", total("named")))
    yield _row(("mutants tried", total("mutants", "tried")))
    yield _row(("killed", total("mutants", "killed")))
    yield _row(("equivalent, with a reason", total("mutants", "equivalent")))
    yield _row(("survived", total("mutants", "survived")))
    yield _row(("right answers and mistakes whose points change with the seed", total("seeds", "changing")))


def _criteria(exercises: Mapping[str, Figures]) -> Iterator[str]:
    yield "## What each criterion catches\n"
    yield "How many known mistakes lose it, how many mutants lose it first, and an answer that it alone catches.\n"
    yield from _table("exercise", "criterion", "points", "mistakes", "mutants", "alone")
    for name, one in exercises.items():
        for c in one["criteria"]:
            yield _row((name, c["name"], f"{c['points']:g}", c["mistakes"], c["mutants"], _code(c["alone"]) or "–"))


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def _mutants(exercises: Mapping[str, Figures]) -> Iterator[str]:
    yield "## Mutants\n"
    yield from _table("exercise", "tried", "killed", "by some seeds only", "equivalent", "survived")
    tried = {name: one["mutants"] for name, one in exercises.items() if "mutants" in one}
    for name, m in tried.items():
        lists = (len(m[key]) for key in ("by some seeds only", "equivalent", "survived"))
        yield _row((name, m["tried"], m["killed"], *lists))
    yield "\nWhy those that lose nothing are right:\n"
    for name, m in tried.items():
        for why in dict.fromkeys(m["equivalent"].values()):
            yield f"- {name}: {why} ({list(m['equivalent'].values()).count(why)})"


def _names(exercises: Mapping[str, Figures]) -> Iterator[str]:
    yield "## Names\n"
    yield "Known mistakes that are named otherwise with seeds that no author has looked at:\n"
    yield from _table("exercise", "named rightly", "mistake", "named")
    for name, one in _with_seeds(exercises):
        others = one["named otherwise"] or {"": {}}
        for mistake, counts in others.items():
            told = ", ".join(f"{other} ({count})" for other, count in counts.items())
            yield _row((name, one["named rightly"], mistake, told))


def _with_seeds(exercises: Mapping[str, Figures]) -> Iterator[tuple[str, Figures]]:
    return ((name, one["seeds"]) for name, one in exercises.items() if "seeds" in one)


def _tolerances(exercises: Mapping[str, Figures]) -> Iterator[str]:
    yield "## Tolerances\n"
    yield "The largest error of a right answer, as a share of what is allowed, and the smallest of a mistake in a"
    yield "criterion that it must lose by its values, as a multiple. Above a million is a million.\n"
    yield "![errors of right answers and of mistakes beside what is allowed](tolerances.png)\n"
    yield from _table("exercise", "cases", "dtype", "right", "whose", "wrong", "whose")
    for name, one in _with_seeds(exercises):
        for dtype in sorted({*one["right"], *one["wrong"]}):
            right, wrong = one["right"].get(dtype, ("", "")), one["wrong"].get(dtype, ("", ""))
            cells = (_figure(right[0]), right[1], _figure(wrong[0]), wrong[1])
            yield _row((name, one["draws"], dtype, *cells))


def _figure(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.2g}"


def _seeds(exercises: Mapping[str, Figures]) -> Iterator[str]:
    yield "## Seeds\n"
    yield "Known answers whose points change with the seed, and with how many seeds they get what:\n"
    yield from _table("exercise", "seeds", "answer", "points (seeds)")
    for name, one in _with_seeds(exercises):
        for answer, counts in (one["changing"] or {"none": {}}).items():
            yield _row((name, one["seeds"], answer, ", ".join(f"{p} ({n})" for p, n in sorted(counts.items()))))


def _devices(strength: Mapping[str, Any]) -> str:
    other = [
        f"- {name}: {', '.join(one['other device'])}"
        for name, one in strength["exercises"].items()
        if one.get("other device")
    ]
    return "\n".join(
        ["## Devices\n", f"All figures are of a CPU, torch {strength['torch']}. CUDA: {strength['cuda']}.\n", *other]
    )
