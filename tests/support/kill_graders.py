"""Kill graders at random moments and check that no grade is wrong and that the next run finishes the work.

    python -m tests.support.kill_graders 200        (make test-faults ROUNDS=200)

In each round a class hands in, `grading grade` or `nbgrader autograde` starts, and after a random time one of its
processes is killed (kill -9): the command, the judges' server, a judge, the kernels' fork server or a kernel. In every
other round a Dask cluster of two workers grades, and the scheduler, a worker or its nanny may be killed too. The
gradebook, the report and an export must then be right. After a second run, of either command on this machine alone,
every student must have the right grade, and no earlier grade may have been made again.

In every fourth round `grading watch` grades what the class handed in through nbgrader's exchange instead. After it was
killed and started again, every student must also be able to fetch feedback with the right points.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import psutil
from nbgrader.api import Gradebook

from grading.course import Course
from grading.gradebook.store import stored_grades

from .course_builder import TINY_LESSONS, build_course, solved_notebook
from .dask_cluster import DaskCluster
from .exchange import Exchange

LESSON = TINY_LESSONS[0]
PAUSE = "import time\ntime.sleep(0.3)\n"
CLASS = {  # student -> answer, and the points that it earns
    "ada": (f"{PAUSE}def double(x):\n    return 2 * x", 5.0),
    "bob": (f"{PAUSE}def double(x):\n    return x * x", 0.0),
    "cem": (f"{PAUSE}def double(x):\n    return (2 * x).detach()", 3.0),
    "dan": (f"{PAUSE}def double(x):\n    return (", 0.0),
    "eve": (f"{PAUSE}def double(x):\n    return x + x", 5.0),
    "fay": (f"{PAUSE}def double(x):\n    return x", 0.0),
}
COMMANDS = {"grading": ["grade", LESSON, "--workers", "2"], "nbgrader": ["autograde", LESSON]}
WATCH = ["watch", LESSON, "--workers", "2", "--every", "0.1", "--once"]
KINDS = {"judges": "judges' server", "judge": "judge", "kernels": "fork server", "kernel": "kernel"}  # by their names


def make_class(root: Path) -> None:
    """Build a course in which the class has handed in and nobody is graded."""
    submissions = {student: {"double": answer} for student, (answer, _) in CLASS.items()}
    build_course(root, release=[LESSON], submissions=submissions)


def make_hub(place: Path) -> None:
    """Build a course, in `course`, whose class has handed in through an exchange, in `hub`."""
    root = build_course(place / "course", release=[LESSON])
    exchange = Exchange(root, place / "hub").open([LESSON])
    for student, (answer, _) in CLASS.items():
        exchange.submit(student, LESSON, solved_notebook(root, LESSON, double=answer))


def start(root: Path, name: str, cluster: DaskCluster | None = None) -> subprocess.Popen[str]:
    """Start `grading grade` or `nbgrader autograde` in the course; only `grading` can use a cluster."""
    return _run(root, name, *(COMMANDS[name] if cluster is None else ["grade", LESSON, "--scheduler", cluster.address]))


def _run(root: Path, *command: str) -> subprocess.Popen[str]:
    path, (name, *arguments) = Path(sys.executable).parent, command
    return subprocess.Popen(
        [str(path / name), *arguments],
        cwd=root,
        env={**os.environ, "PATH": f"{path}{os.pathsep}{os.environ['PATH']}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def one_round(root: Path, chance: random.Random, longest: float, cluster: DaskCluster | None = None) -> str:
    """Kill one process after at most `longest` seconds, check, run again, check; returns what was killed."""
    name, wait = "grading" if cluster else chance.choice(sorted(COMMANDS)), chance.uniform(0, longest)
    process = start(root, name, cluster)
    time.sleep(wait)
    command = psutil.Process(process.pid)
    if cluster is None:
        what = f"{name}: {_kill({'command': [command]}, command, chance)}"
    else:
        nanny, scheduler = (psutil.Process(one.pid) for one in (cluster.workers[-1], cluster.scheduler))
        what = _kill({"command": [command], "nanny": [nanny], "scheduler": [scheduler]}, nanny, chance)
    said, _ = process.communicate()
    where = f"{what} killed after {wait:.2f} s; it said:\n{said}"
    before = true_grades(root, where)
    again = start(root, chance.choice(sorted(COMMANDS)))
    said, _ = again.communicate()
    where += f"\nthe second run said:\n{said}"
    assert again.returncode == 0, where
    after = true_grades(root, where)
    assert after.keys() == CLASS.keys(), where
    assert all(after[student] == at for student, at in before.items()), f"graded twice; {where}"
    return what


def watched_round(place: Path, chance: random.Random, longest: float) -> str:
    """Kill a process of `grading watch` in a copy of `make_hub`'s folder, watch again; returns what was killed."""
    root, exchange, wait = place / "course", Exchange(place / "course", place / "hub"), chance.uniform(0, longest)
    exchange.open([])  # here, not where it was copied from
    process = _run(root, "grading", *WATCH)
    time.sleep(wait)
    command = psutil.Process(process.pid)
    what = f"watch: {_kill({'command': [command]}, command, chance)}"
    said, _ = process.communicate()
    where = f"{what} killed after {wait:.2f} s; it said:\n{said}"
    before = true_grades(root, where)
    again = _run(root, "grading", *WATCH)
    said, _ = again.communicate()
    where += f"\nthe second one said:\n{said}"
    assert again.returncode == 0, where
    after = true_grades(root, where)
    assert after.keys() == CLASS.keys(), where
    assert all(after[student] == at for student, at in before.items()), f"graded twice; {where}"
    for student, (_, points) in CLASS.items():
        (page,) = exchange.fetched(student, LESSON)
        assert f"<b>{points:g}</b> of 5 points" in page, f"{student}; {where}"
    return what


def true_grades(root: Path, where: str) -> dict[str, str]:
    """student -> time of the grade. Fails if grades are wrong, or differ between gradebook, report and export."""
    with Gradebook(f"sqlite:///{root}/gradebook.db", "attention") as gradebook:
        found = {one.student: one.graded_at.isoformat() for one in stored_grades(gradebook, LESSON)}
    points = {student: score for (student, _), (score, _) in Course(root).scores().items()}
    assert points == {student: CLASS[student][1] for student in found}, where
    handed_in = {path.name for path in (root / "submitted").glob("*/")}
    assert {student for student, _ in Course(root).ungraded()} == handed_in - found.keys(), where
    exported = root / "grades.csv"
    command = [Path(sys.executable).parent / "nbgrader", "export", f"--to={exported}"]
    subprocess.run(command, cwd=root, check=True, capture_output=True)
    with exported.open(encoding="utf-8-sig", newline="") as file:
        said = {row["student_id"]: row["score"] for row in csv.DictReader(file)}
    assert {s: float(text) for s, text in said.items() if text} == points, where
    return found


def _kill(parts: dict[str, list[psutil.Process]], parent: psutil.Process, chance: random.Random) -> str:
    """Kill one process, of these or of the current descendants of `parent`; returns its kind."""
    try:
        every = parent.children(recursive=True)
        for one in sorted(every, key=lambda one: len(one.parents())):
            kind = "worker" if "spawn_main" in " ".join(one.cmdline()) else KINDS.get(one.name())
            if kind:
                parts.setdefault(kind, []).append(one)
    except psutil.NoSuchProcess:
        pass  # it has just ended
    what = chance.choice(sorted(parts))
    for one in parts[what][-1:]:
        try:
            one.send_signal(signal.SIGKILL)
        except psutil.NoSuchProcess:
            what = f"{what}, which had ended"
    return what


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rounds", type=int, nargs="?", default=20)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    chance, killed = random.Random(options.seed), Counter[str]()
    with tempfile.TemporaryDirectory() as place, ExitStack() as clusters:
        ready = Path(place) / "ready"
        make_class(ready)
        make_hub(Path(place) / "hub")
        longest = 0.0
        cluster: DaskCluster | None = None
        for number in range(-1, options.rounds):
            root = Path(place) / f"round-{number}"
            watched = number % 4 == 2
            shutil.copytree(Path(place) / "hub" if watched else ready, root)
            if watched:
                killed[watched_round(root, chance, longest)] += 1
            elif number < 0:  # an undisturbed round, to measure how long it takes
                begun = time.monotonic()
                start(root, "grading").communicate()
                longest = time.monotonic() - begun
                true_grades(root, "nothing was killed")
            else:
                if number % 2 and (cluster is None or cluster.broken):
                    clusters.close()
                    cluster = clusters.enter_context(DaskCluster(Path(place) / f"cluster-{number}"))
                    for _ in range(2):  # one remains if the other's nanny is killed
                        cluster.add_worker(threads=1)
                what = one_round(root, chance, longest, cluster if number % 2 else None)
                killed[f"{what}, on a cluster" if number % 2 else what] += 1
            print(f"\r{number + 1} of {options.rounds} rounds", end="", flush=True)
            shutil.rmtree(root)
    print(f"\nno grade was false, lost or made twice; killed: {dict(killed)}")


if __name__ == "__main__":
    main()
