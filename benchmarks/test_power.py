"""How many faults in the code the tests of `make test` see.

    python -m benchmarks.test_power draw FAULTS.json [--faults 60] [--seed 57]
    python -m benchmarks.test_power record TREE RECORD      the tests that execute each line, and their times
    python -m benchmarks.test_power run FAULTS.json TREE RECORD RESULTS.json
    python -m benchmarks.test_power table BEFORE.json AFTER.json

A fault changes one operator, constant or condition inside the body of a function of `course` or `grading`. Lines are
drawn at random, then one fault on each. A fault that stops its module from being imported is drawn again.

`run` puts one fault after the other into TREE, a copy of the repository with its own `.venv`, and runs the tests that
execute the changed line: first those of its package, the quickest first, up to the first failure; then the quickest
others, up to `OTHERS` seconds. If no test executes the line in its own process, a judge or a kernel does, and all tests
of its package run. `seen` names the test that failed; a fault that survives is tried with the linter and the type
checker, which are counted apart.

benchmarks/power_before.json has the faults of seed 57, drawn at bd4b14b8, and what saw them there, before the suite was
cut to less than half (2026-11-29).
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from importlib import import_module
from itertools import accumulate
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
OTHERS = 120  # seconds of tests outside the fault's package, the quickest first: what sees it there is mostly quick
HANGS = 1200  # seconds after which a run counts as stopped by the fault
SELECTION = "POWER_SELECTION"  # names the file with the tests of a run, in their order
STATIC = ("test_architecture", "test_plain_words")  # linter and type checker, which are counted apart

SWAPPED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip


@dataclass(frozen=True)
class Fault:
    """A changed expression of `path`: its place (line from 1, columns in bytes), old and new text."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    old: str
    new: str

    @property
    def package(self) -> str:
        parts = Path(self.path).parts
        return "/".join(parts[: 3 if parts[1:2] == ("plugins",) else 2]) if len(parts) > 1 else self.path

    def apply(self, source: str) -> str:
        lines = source.encode().splitlines(keepends=True)
        start = sum(map(len, lines[: self.line - 1])) + self.column
        end = sum(map(len, lines[: self.end_line - 1])) + self.end_column
        text = source.encode()
        assert text[start:end].decode() == self.old, f"{self.path}:{self.line} is not as it was drawn"
        return (text[:start] + self.new.encode() + text[end:]).decode()


def faults_of(path: str, source: str) -> Iterator[Fault]:
    """Every fault inside the functions of a file."""
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for statement in function.body[1 if ast.get_docstring(function) is not None else 0 :]:
                for node, text in _changed(statement):
                    old = ast.get_source_segment(source, node)
                    assert old is not None and node.end_lineno and node.end_col_offset is not None
                    place = node.lineno, node.col_offset, node.end_lineno, node.end_col_offset
                    yield Fault(path, *place, old, text)


def _changed(node: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    """The expressions below a node that a fault changes, each with its new text."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.JoinedStr):
        return  # a function has its own turn; the places of what is inside an f-string are wrong before Python 3.12
    if isinstance(node, ast.expr) and (text := _other(node)):
        yield node, text
    tests = [node.test] if isinstance(node, ast.If | ast.While | ast.IfExp) else getattr(node, "ifs", [])
    for test in tests:
        if not isinstance(test, ast.UnaryOp | ast.Compare):  # these have their own opposite
            yield test, _text(ast.UnaryOp(ast.Not(), test))
    for name, value in ast.iter_fields(node):
        if name not in ("annotation", "returns"):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from _changed(child)


def _other(node: ast.expr) -> str:
    """The expression with another operator or constant; "" if it has neither."""
    match node:
        case ast.Compare(ops=[only]):
            return _text(ast.Compare(node.left, [SWAPPED[type(only)]()], node.comparators))
        case ast.BinOp(op=op) if type(op) in SWAPPED:
            return _text(ast.BinOp(node.left, SWAPPED[type(op)](), node.right))
        case ast.BoolOp(op=op):
            return _text(ast.BoolOp(SWAPPED[type(op)](), node.values))
        case ast.UnaryOp(op=ast.Not()):
            return _text(node.operand)
        case ast.Constant(value=bool() as value):
            return str(not value)
        case ast.Constant(value=int() as value):
            return str(value + 1)
        case ast.Constant(value=float() as value):
            return str(2 * value or 1.0)
        case ast.Constant(value=str() as value) if value and not any(map(str.isspace, value)):
            return repr(value + "x")  # a key or a name; a sentence is compared by people, too
    return ""


def _text(node: ast.expr) -> str:
    return f"({ast.unparse(node)})"


def draw(number: int, seed: int) -> list[Fault]:
    """Faults of different lines, drawn with a seed, that let their modules be imported."""
    lines: dict[tuple[str, int], list[Fault]] = {}
    for package in ("course", "grading"):
        for file in sorted((ROOT / package).rglob("*.py")):
            path = file.relative_to(ROOT).as_posix()
            for fault in faults_of(path, file.read_text(encoding="utf-8")):
                lines.setdefault((path, fault.line), []).append(fault)
    generator, drawn = random.Random(seed), []
    order = sorted(lines)
    generator.shuffle(order)
    for line in order:
        fault = generator.choice(lines[line])
        if imports(fault):
            drawn.append(fault)
        if len(drawn) == number:
            break
    return drawn


def imports(fault: Fault) -> bool:
    """Whether the fault's module can be imported with the fault, tried in a child process."""
    source = fault.apply((ROOT / fault.path).read_text(encoding="utf-8"))
    module = import_module(fault.path.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
    child = os.fork()
    if not child:
        try:
            exec(compile(source, fault.path, "exec"), vars(module))  # noqa: S102  # our own module, with one change
        except BaseException:
            os._exit(1)
        os._exit(0)
    return not os.waitpid(child, 0)[1]


class Changed:
    """A tree with a fault in it, for a block."""

    def __init__(self, tree: Path, fault: Fault) -> None:
        self.file, self.fault = tree / fault.path, fault

    def __enter__(self) -> None:
        self.before = self.file.read_text(encoding="utf-8")
        self.file.write_text(self.fault.apply(self.before), encoding="utf-8")

    def __exit__(self, *_: object) -> None:
        self.file.write_text(self.before, encoding="utf-8")


def record(tree: Path, into: Path) -> int:
    """Run `make test` once, and keep which tests execute which line, and how long each takes."""
    into.mkdir(parents=True, exist_ok=True)
    settings = into / "coverage.ini"
    settings.write_text(f"[run]\nsource = course,grading\nparallel = true\ndata_file = {into / 'lines'}\n")
    return _pytest(
        tree, "-n", "3", "--cov=course", "--cov=grading", "--cov-context=test", "--cov-report=",
        f"--cov-config={settings}", f"--junitxml={into / 'times.xml'}",
    ).returncode  # fmt: skip


class Record:
    """What `record` kept."""

    def __init__(self, folder: Path, tree: Path) -> None:
        from coverage import CoverageData

        self.tree, self.data = tree, CoverageData(str(folder / "lines"))
        self.data.read()
        self.files = {Path(file).relative_to(tree.resolve()).as_posix(): file for file in self.data.measured_files()}
        cases = ElementTree.parse(folder / "times.xml").iter("testcase")
        self.seconds: Counter[str] = Counter()
        for case in cases:
            self.seconds[f"{case.get('classname')}::{case.get('name')}"] += float(case.get("time") or 0)

    def tests(self, fault: Fault) -> list[str]:
        """The tests that execute the fault's line in their own process, the quickest first."""
        if fault.path not in self.files:
            return []
        contexts = self.data.contexts_by_lineno(self.files[fault.path])
        lines = (fault.line, *_begins(self.tree / fault.path, fault.line))
        named = next((found for line in lines if (found := [c for c in contexts.get(line, []) if c])), [])
        tests = {context.rpartition("|")[0] for context in named}
        return sorted(tests, key=self.time)

    def time(self, test: str) -> float:
        file, _, name = test.partition("::")
        return self.seconds[f"{file.removesuffix('.py').replace('/', '.')}::{name}"]


def _begins(file: Path, line: int) -> list[int]:
    """The first lines of the statements around a line, the innermost first."""
    around = [
        node.lineno
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    return sorted(around, reverse=True)


def own_tests(tree: Path, fault: Fault) -> str:
    """The folder of tests that mirrors the fault's package; for a module at the top, the tests that import it."""
    parts = Path(fault.path).parent.parts
    mirrored = Path("tests", *(parts[1:] if parts[0] == "grading" else parts))
    while not (tree / mirrored).is_dir():
        mirrored = mirrored.parent
    return mirrored.as_posix() + "/"


def run(faults: Iterable[Fault], tree: Path, known: Record) -> Iterator[dict[str, Any]]:
    for fault in faults:
        own = own_tests(tree, fault)
        tests = known.tests(fault)
        near = [test for test in tests if test.startswith(own)] if own != "tests/" else tests
        far = [test for test in tests if test not in set(near)]
        spent = list(accumulate(map(known.time, far)))
        far = [test for test, until in zip(far, spent, strict=True) if until <= OTHERS]
        runs = [[], near, far] if tests else [[own]]
        with Changed(tree, fault):
            seen = next((name for chosen in runs if chosen and (name := _failing(tree, chosen))), "")
            static = "" if seen else _linted(tree)
        yield {**asdict(fault), "tests": len(tests), "seen": seen, "static": static}


def _failing(tree: Path, chosen: list[str]) -> str:
    """The first of these tests, or tests of these folders, that fails; "" if none does."""
    selection = tree / "selection.json"
    selection.write_text(json.dumps(chosen))
    files = sorted({test.partition("::")[0] for test in chosen})
    try:
        done = _pytest(tree, "-x", "-q", "-p", "no:randomly", "-p", "no:cacheprovider", *files)
    except subprocess.TimeoutExpired:
        return "hangs"
    if done.returncode in (0, 5):  # 5: the tests have other names now, and none is left
        return ""
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    if not failed:
        raise SystemExit(f"pytest ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return failed[0].partition(" - ")[0]


def _pytest(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    (marks,) = re.findall(r'^test:.*\n.*-m "([^"]+)"', (tree / "Makefile").read_text(), re.MULTILINE)
    command = [str(tree / ".venv/bin/python"), "-m", "pytest", "-p", "benchmarks.test_power", "-m", marks, *arguments]
    environment = {**os.environ, SELECTION: str(tree / "selection.json")}
    environment["PATH"] = f"{tree / '.venv/bin'}{os.pathsep}{environment['PATH']}"
    return subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, timeout=HANGS)


def _linted(tree: Path) -> str:
    for tool in (["ruff", "check", "course", "grading"], ["mypy"]):
        if subprocess.run([tree / ".venv/bin" / tool[0], *tool[1:]], cwd=tree, capture_output=True).returncode:
            return tool[0]
    return ""


def pytest_collection_finish(session: Any) -> None:
    """As a plugin of the runs above: keep the selected tests, in their order."""
    selection = Path(os.environ.get(SELECTION, ""))
    if not selection.is_file():
        return
    chosen = {test: place for place, test in enumerate(json.loads(selection.read_text()))}
    if any("::" in test for test in chosen):
        session.items[:] = sorted((i for i in session.items if i.nodeid in chosen), key=lambda i: chosen[i.nodeid])
    session.items[:] = [item for item in session.items if not any(name in item.nodeid for name in STATIC)]


def table(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> str:
    """Faults seen before and after, by package."""
    rows = [("package", "faults", "before", "after", "linter or types")]
    pairs = [(Fault(**{key: one[key] for key in Fault.__annotations__}).package, one, two) for one, two in zip(
        before, after, strict=True)]  # fmt: skip
    for package in [*sorted({package for package, *_ in pairs}), ""]:
        ours = [(one, two) for name, one, two in pairs if package in ("", name)]
        counts = len(ours), *(sum(bool(pair[i]["seen"]) for pair in ours) for i in (0, 1))
        rows.append((package or "all", *map(str, counts), str(sum(bool(two["static"]) for _, two in ours))))
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=["draw", "record", "run", "table"])
    parser.add_argument("places", nargs="+", type=Path)
    parser.add_argument("--faults", type=int, default=60)
    parser.add_argument("--seed", type=int, default=57)
    options = parser.parse_args(arguments)
    places: list[Path] = options.places
    if options.verb == "draw":
        places[0].write_text(json.dumps([asdict(fault) for fault in draw(options.faults, options.seed)], indent=1))
    elif options.verb == "record":
        return record(*places)
    elif options.verb == "run":
        drawn, tree, folder, out = places
        results = json.loads(out.read_text()) if out.exists() else []  # goes on where it was stopped
        faults = [Fault(**fault) for fault in json.loads(drawn.read_text())]
        for result in run(faults[len(results) :], tree, Record(folder, tree)):
            results.append(result)
            out.write_text(json.dumps(results, indent=1))
            print(f"{result['path']}:{result['line']}: {result['seen'] or result['static'] or 'survives'}", flush=True)
    else:
        print(table(*(json.loads(place.read_text()) for place in places)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
