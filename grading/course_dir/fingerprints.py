"""Fingerprints of what code means, to find derived data that is out of date.

A fingerprint covers Python files and everything that they import, by their syntax trees. Comments, docstrings, layout
and a file's time do not change it. It is the same on every machine and contains no absolute path.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import course
import grading

GRADER_TESTS = "grader_tests"
FILE = "fingerprints.json"  # beside the lessons in grader_tests, and committed with them
_ENGINE = Path(grading.__file__).parent
SHIPPED = (_ENGINE / "templates" / FILE, _ENGINE.parent / GRADER_TESTS / FILE)  # in a wheel, and in a checkout
# Titles of alternatives; for Python these lines are only comments
TITLE = re.compile(r"^# %% (.+)$", re.MULTILINE)
# These follow from the rest of the tree, or only describe how the text was written
IGNORED = {"ctx", "kind", "type_comment"}


class Code(NamedTuple):
    """The meaning and the imports of one file.

    digest   a hash of its meaning
    imports  each (level, module, names) of `from <level dots><module> import <names>`; `import a.b` is (0, "a.b", ())
    """

    digest: str
    imports: tuple[tuple[int, str, tuple[str, ...]], ...] = ()


def code_digest(path: Path) -> str:
    """The hash of a file: a Python file by its syntax tree, any other by its bytes."""
    return _read(path).digest


def text_digest(code: str) -> str:
    """The hash of Python code by its syntax tree, or by its text if it is not Python."""
    return _analysed(code.encode()).digest


def digest(parts: Iterable[str]) -> str:
    """A hash of texts in their order."""
    return hashlib.sha256(json.dumps(list(parts)).encode()).hexdigest()


class Packages:
    """Python packages by name, each with its folder; their files import one another.

    Reads each file only once: make a new object after files have changed.
    """

    def __init__(self, folders: Mapping[str, Path]) -> None:
        self.folders = {name: _absolute(folder) for name, folder in folders.items()}
        self._files: dict[Path, Code] = {}
        self._imported: dict[Path, list[Path]] = {}

    def closure(self, *files: Path | str) -> dict[str, Path]:
        """These files and all that they import, sorted by name.

        A name looks like "course/harness/compare.py". Give each file by its name or its path.
        """
        found: dict[Path, None] = {}
        left = [self._path(file) if isinstance(file, str) else _absolute(file) for file in files]
        while left:
            if (file := left.pop()) not in found:
                found[file] = None
                left += self._imports_of(file)
        return dict(sorted((self._name(file), file) for file in found))

    def fingerprint(self, *files: Path | str, about: Iterable[str] = ()) -> str:
        """A hash of the closure of these files, and of other inputs in `about`."""
        code = [f"{name} {self._code(path).digest}" for name, path in self.closure(*files).items()]
        return digest([*code, *about])

    def _code(self, file: Path) -> Code:
        if file not in self._files:
            self._files[file] = _read(file)
        return self._files[file]

    def _path(self, name: str) -> Path:
        package, _, inside = name.partition("/")
        return self.folders[package] / inside

    def _name(self, file: Path) -> str:
        for name, folder in self.folders.items():
            if file.is_relative_to(folder):
                return f"{name}/{file.relative_to(folder).as_posix()}"
        raise ValueError(f"{file} is in none of the packages {', '.join(self.folders)}")

    def _imports_of(self, file: Path) -> list[Path]:
        if file not in self._imported:
            package = self._name(file).split("/")[:-1]
            names = (name for one in self._code(file).imports for name in _meant_by(package, *one))
            own = ".".join(package)  # its __init__.py runs first
            self._imported[file] = [found for name in dict.fromkeys([own, *names]) for found in self._found(name)]
        return self._imported[file]

    def _found(self, module: str) -> Iterator[Path]:
        """The files that an import of this module runs, with those of its parent packages."""
        first, *rest = module.split(".")
        if first not in self.folders:
            return
        place = self.folders[first]
        for name in ("", *rest):
            place = place / name
            for file in (place / "__init__.py", place.with_suffix(".py")):
                if file.is_file() and file.is_relative_to(self.folders[first]):
                    yield file


def python_files(folder: Path) -> list[Path]:
    """The Python files in the folder of an exercise or a lesson."""
    return sorted(folder.glob("*.py"))


def packages(tests: Path | None = None) -> Packages:
    """The packages `course` and `grading`, and a course's grader_tests if given."""
    folders = {package.__name__: Path(package.__file__ or "").parent for package in (course, grading)}
    return Packages(folders | ({GRADER_TESTS: tests} if tests else {}))


def _absolute(path: Path) -> Path:
    """The absolute path, without following links.

    The folder of a lesson may be a link, and must keep its name.
    """
    return Path(os.path.abspath(path))


def _meant_by(package: list[str], level: int, module: str, names: tuple[str, ...]) -> Iterator[str]:
    """The names of all modules that one import statement may refer to."""
    around = package[: len(package) - level + 1] if level else []
    base = ".".join([*around, *([module] if module else [])])
    yield base
    yield from (f"{base}.{name}" for name in names)


def _read(path: Path) -> Code:
    content = path.read_bytes()
    return _analysed(content) if path.suffix == ".py" else Code(hashlib.sha256(content).hexdigest())


@lru_cache(maxsize=4096)
def _analysed(content: bytes) -> Code:
    try:
        text = content.decode()
        whole = ast.parse(text)
    except (SyntaxError, ValueError):
        return Code(hashlib.sha256(content).hexdigest())
    meaning: list[str] = []
    _dump(whole, meaning)
    if TITLE.search(text):
        meaning += _cells(text)
    return Code(digest(meaning), tuple(_imports(whole)))


def _cells(text: str) -> list[str]:
    """The titles of a text's cells, each with the number of statements above it.

    Empty if the titles are part of a string.
    """
    code = TITLE.split(text)
    try:
        return [f"{title.strip()} {len(ast.parse(cell).body)}" for title, cell in zip(code[1::2], code[::2])]
    except SyntaxError:
        return []


def _dump(node: object, out: list[str]) -> None:
    """Append the tree as text: each node's type and its nonempty fields.

    The text is the same in every version of Python.
    """
    if isinstance(node, ast.Constant):
        out.append(f"{type(node.value).__name__} {node.value!r}")
    elif isinstance(node, ast.AST):
        out.append(f"{type(node).__name__}(")
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(node, ast.JoinedStr):  # Python 3.12 adds empty texts to some
                value = [part for part in node.values if not (isinstance(part, ast.Constant) and part.value == "")]
            if name not in IGNORED and value is not None and value != []:
                out.append(f"{name}=")
                _dump(value, out)
        out.append(")")
    elif isinstance(node, list):
        out.append("[")
        for item in node:
            if not _says_nothing(item):
                _dump(item, out)
                out.append(",")
        out.append("]")
    else:
        out.append(repr(node))


def _says_nothing(node: object) -> bool:
    """Whether a statement is only a string: a docstring, or a note on an attribute."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _imports(node: ast.AST) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    """All imports anywhere in the tree, except those only for a type checker."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from ((0, alias.name, ()) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            yield child.level, child.module or "", tuple(alias.name for alias in child.names)
        elif isinstance(child, ast.If) and _for_types(child.test):
            yield from _imports(ast.Module(child.orelse, []))
        elif isinstance(child, (ast.stmt, ast.excepthandler, ast.match_case)):
            yield from _imports(child)


def _for_types(test: ast.expr) -> bool:
    return getattr(test, "attr", getattr(test, "id", "")) == "TYPE_CHECKING"


def fingerprint_file(root: Path) -> FingerprintFile:
    """The file of a course, with which a fresh clone need not make its data again."""
    return FingerprintFile(root / GRADER_TESTS / FILE)


def shipped_fingerprints() -> dict[str, str]:
    """The fingerprints of our own lessons."""
    return next((FingerprintFile(path).read() for path in SHIPPED if path.is_file()), {})


class FingerprintFile:
    """A JSON file with the fingerprint of the inputs of each piece of derived data.

        "check data of NN_lesson/EXERCISE"            made for `check`; without /EXERCISE, the lesson's examples
        "verdicts of NN_lesson/EXERCISE"              recorded in tests/verdicts
        "proof of NN_lesson/EXERCISE with VERSIONS"   made by `grading prove`

    An unreadable file counts as empty.
    """

    _writing = Lock()

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> dict[str, str]:
        try:
            known = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return known if isinstance(known, dict) else {}

    def add(self, new: Mapping[str, str], drop: Iterable[str] = ()) -> None:
        """Write these fingerprints, and drop the ones of these names."""
        with self._writing:
            known = self.read()
            if (changed := {key: known[key] for key in known.keys() - set(drop)} | dict(new)) != known:
                self.path.write_text(json.dumps(changed, indent=1, sort_keys=True) + "\n", encoding="utf-8")
