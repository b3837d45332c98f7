"""The `autograder.py` of Classroom 50: check what was handed in with public examples, and write a provisional result.

`grading package --for classroom50` copies this file, so it needs nothing but Python. Classroom 50's runner starts it in
the student's checkout, with the identity of the submission in environment variables, and reads `result.json`
(classroom50/result/v1), `release-body.md` and $GITHUB_OUTPUT there. An exit status other than 0 is an error of the
grading, not a zero. Beside it are `lesson.json`, the student's wheel, `constraints.txt`, and in `lesson/` the check
data of the lesson, if the wheel does not have it. Read on 2026-11-27:
https://github.com/foundation50/classroom50/wiki/Advanced-Autograding, and in the same repository
schemas/result-v1.schema.json and cli/gh-teacher/skeleton/dotgithub/scripts/runner.py.

Everything here can be read by students, and student code runs in a process that could write its own report. So the
result is provisional, and says so.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SCHEMA = "classroom50/result/v1"
FROM_RUNNER = {
    "classroom": "CLASSROOM",
    "assignment": "ASSIGNMENT",
    "assignment_type": "ASSIGNMENT_TYPE",
    "owner": "OWNER",
    "submission": "SUBMISSION_TAG",
    "commit": "COMMIT_URL",
    "release": "RELEASE_URL",
    "review": "REVIEW_URL",
}
FINEST = 100  # parts of a point that scores distinguish
PROVISIONAL = "Provisional: checked with public examples. Your teacher makes the official grade at collection."
MINUTES = 8  # for the whole check
WORKFLOWS_OWN = ("GITHUB_", "ACTIONS_", "RUNNER_", "INPUT_")  # variables that student code does not need
MAX_READ = 16 * 2**20  # bytes of records
MAX_TEXT = 4_000  # characters of one report
NO_ANSWERS = 2  # exit status of `attention check` if the file has no answers; the message says why


class NotSetUp(Exception):
    """The check could not run, through no fault of the student's."""


def make_result(tests: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The content of result.json.

    Scores are whole numbers there, so where points have fractions, all of them are multiplied by the same number.

    tests  each with `name`, `earned`, `points`, `passed`, and further fields, which are kept
    """
    rows = [dict(test) for test in tests]
    factor = _whole_factor([row[key] for row in rows for key in ("earned", "points")])
    whole = [
        {
            "test-name": row.pop("name"),
            "passed": row.pop("passed"),
            "score": round(row["earned"] * factor),
            "max-score": round(row.pop("points") * factor),
            "points": row.pop("earned"),
            **row,
        }
        for row in rows
    ]
    about = {name: os.environ.get(variable, "") for name, variable in FROM_RUNNER.items()}
    return {
        "schema": SCHEMA,
        **about,
        "assignment_type": about["assignment_type"] or "individual",
        "owner": about["owner"] or os.environ.get("USERNAME", ""),
        "review": about["review"] or about["commit"],
        "datetime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "score": sum(row["score"] for row in whole),
        "max-score": sum(row["max-score"] for row in whole),
        "tests": whole,
    }


def _whole_factor(points: Sequence[float]) -> int:
    """The smallest number by which all points become whole, at most FINEST."""
    parts = [Fraction(value).limit_denominator(FINEST).denominator for value in points]
    return min(math.lcm(*parts), FINEST)


def main() -> int:
    """Check the file in this folder, and write the result beside it."""
    lesson = json.loads((HERE / "lesson.json").read_text(encoding="utf-8"))
    file, reports, problem = _find_file(Path.cwd(), lesson["lesson"]), dict[str, Any](), ""
    if file is None:
        problem = f"No notebook was handed in. Push {lesson['lesson']}.ipynb."
    else:
        try:
            reports, problem = _check(file, lesson["lesson"], _environment(lesson))
        except NotSetUp as error:
            print(f"::error::{' '.join(_plain(str(error)).split())}")
            return 1
    tests = [_test(name, points, reports.get(name), problem) for name, points in lesson["exercises"].items()]
    earned, most = (sum(test[key] for test in tests) for key in ("earned", "points"))
    summary = f"provisional: {earned:g} of {most:g} points, checked with public examples"
    result = make_result([{**test, "note": PROVISIONAL} for test in tests])
    Path("result.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    Path("release-body.md").write_text(_page(tests, lesson["questions"], f"{earned:g} of {most:g} points"), "utf-8")
    if output := os.environ.get("GITHUB_OUTPUT"):
        status = "success" if all(test["passed"] for test in tests) else "failure"
        with open(output, "a", encoding="utf-8") as file_of_outputs:
            file_of_outputs.write(f"status={status}\nsummary={summary}\n")
    print(summary, *(f"  {line}" for test in tests for line in test["output"].splitlines()), sep="\n")
    return 0


def _find_file(folder: Path, lesson: str) -> Path | None:
    """The notebook of the lesson, else its Python file; that with the shortest path."""
    for ending in (".ipynb", ".py"):
        found = [path for path in folder.rglob(f"{lesson}{ending}") if path.is_file()]
        shown = [path for path in found if not any(p.startswith(".") for p in path.relative_to(folder).parts)]
        if shown:
            return min(shown, key=lambda path: (len(path.parts), path))
    return None


def _environment(lesson: Mapping[str, Any]) -> Path:
    """The folder with the programs of an environment that has the course; makes one if there is none."""
    given = os.environ.get("ATTENTION_ENVIRONMENT")
    folder = Path(given or Path(os.environ.get("RUNNER_TEMP") or tempfile.mkdtemp(), "attention"))
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    if not given:
        _run([sys.executable, "-m", "venv", folder])
        pip = [programs / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        index = os.environ.get("TORCH_INDEX", lesson["torch_index"])  # builds without CUDA
        _run([*pip, lesson["torch"], *(["--index-url", index] if index else [])])
        _run([*pip, "--constraint", HERE / "constraints.txt", HERE / lesson["wheel"]])
    return programs


def _run(command: list[Any]) -> None:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        raise NotSetUp(f"The course could not be installed: {done.stderr[-MAX_TEXT:]}")


def _check(file: Path, lesson: str, programs: Path) -> tuple[dict[str, Any], str]:
    """The reports of `attention check` by exercise, and why there are no more of them. Raises NotSetUp."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(WORKFLOWS_OWN)}
    environment |= {"ATTENTION_MEMORY": "off", "MPLBACKEND": "Agg", "PYTHONIOENCODING": "utf-8"}
    command = [str(programs / "attention"), "check", "--json", "--lesson", lesson, str(file)]
    ended = -1
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        if (HERE / "lesson").is_dir():
            shutil.copytree(HERE / "lesson", folder, dirs_exist_ok=True)
        try:
            ended = subprocess.run(
                command, cwd=folder, env=environment, stdout=out, stderr=errors, timeout=60 * MINUTES
            ).returncode
            problem = f"Python ended with status {ended} while it ran your file."
        except subprocess.TimeoutExpired:
            problem = f"Your file was stopped, because it ran longer than {MINUTES} minutes."
        except OSError as error:
            raise NotSetUp(f"{command[0]} cannot be started: {error}") from None
        for stream in (out, errors):
            stream.seek(0)
        reports = _records(out.read(MAX_READ))
        said = errors.read(MAX_READ).decode("utf-8", "replace").replace(f"{file.parent}{os.sep}", "").strip()
    if ended == 1 and not reports:
        raise NotSetUp(f"attention check: {said[-MAX_TEXT:]}")
    if ended in (0, 1):
        problem = f"{file.name} does not define it."
    return reports, said[-MAX_TEXT:] if ended == NO_ANSWERS else problem


def _records(lines: bytes) -> dict[str, Any]:
    found = dict[str, Any]()
    for line in lines.decode("utf-8", "replace").splitlines():
        try:
            record = json.loads(line)
            if record["record"] == "report":
                found[str(record["exercise"])] = record
        except (ValueError, TypeError, KeyError):
            continue  # what the student's code printed
    return found


def _test(name: str, points: float, report: Mapping[str, Any] | None, problem: str) -> dict[str, Any]:
    """The result of one exercise. `problem`: why it has no report."""
    try:
        earned = min(max(float(report["points"]), 0.0), points) if report else 0.0
        lines = _lines(report) if report else [problem]
    except (KeyError, TypeError, ValueError, AttributeError):  # a record that student code wrote
        earned, lines = 0.0, ["Its report cannot be read."]
    head = f"{name}: {earned:g} of {points:g} points"
    text = _plain("\n".join([head, *(f"  {line}" for line in lines)]))[:MAX_TEXT]
    return {"name": name, "earned": earned, "points": points, "passed": math.isclose(earned, points), "output": text}


def _lines(report: Mapping[str, Any]) -> list[str]:
    """The sentences of a report and its failing case, in the order of the notebook."""
    case = report["example"]
    values = [f"expected {case['expected']}", f"     got {case['got']}"] if case.get("expected") else []
    shown = [case["call"], case["problem"], *values, case["code"]] if case else []
    section = [f"Look at: {report['section']}"] if report["section"] else []
    texts = [report["headline"], *shown, report["advice"], *report["notes"], *section]
    if report["status"] == "not started":
        texts.insert(0, "not started")
    return [line for text in texts for line in str(text).splitlines() if line]


def _plain(text: str) -> str:
    """The text without control characters, which a terminal or a workflow's log would obey."""
    return "".join(letter for letter in text if letter.isprintable() or letter == "\n")


def _page(tests: Sequence[Mapping[str, Any]], questions: Sequence[str], points: str) -> str:
    """The text of the release, in Markdown."""
    table = ["| Exercise | Points |", "|---|---|"]
    table += [f"| {test['name']} | {test['earned']:g} of {test['points']:g} |" for test in tests]
    reports = "\n\n".join(test["output"] for test in tests)
    fence = "`" * max(3, *(len(ticks) + 1 for ticks in re.findall("`+", f"` {reports}")))
    by_hand = [f"Your teacher grades the written answers: {', '.join(questions)}.", ""] if questions else []
    return "\n".join([f"### {points}", "", PROVISIONAL, "", *by_hand, *table, "", fence, reports, fence, ""])


if __name__ == "__main__":
    sys.exit(main())
