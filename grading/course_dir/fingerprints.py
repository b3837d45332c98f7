"""Fingerprints of what code means: derived data is out of date when its fingerprint changes.

A fingerprint covers Python files with all files that they import, by their syntax trees: comments, docstrings, layout
and the time of a file do not change it. It is the same on every machine and does not hold an absolute path.
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
# Alternatives are named by such lines, which are comments to Python and nothing else
TITLE = re.compile(r"^# %% (.+)$", re.MULTILINE)
# Follow from the rest of the tree, or say how a text was written
IGNORED = {"ctx", "kind", "type_comment"}


class Code(NamedTuple):
    """The meaning and the imports of one file.

    digest   a hash of its meaning
    imports  each (level, module, names) of `from <level dots><module> import <names>`; `import a.b` is (0, "a.b", ())
    """

    digest: str
    imports: tuple[tuple[int, str, tuple[str, ...]], ...] = ()


def code_digest(path: Path) -> str:
    """The hash of a file: of Python by its syntax tree, of anything else by its bytes."""
    return _read(path).digest


def text_digest(code: str) -> str:
    """The hash of Python code by its syntax tree, or by its text if it is not Python."""
    return _analysed(code.encode()).digest


def digest(parts: Iterable[str]) -> str:
    """A hash of texts in their order."""
    return hashlib.sha256(json.dumps(list(parts)).encode()).hexdigest()


class Packages:
    """Python packages by name, each with its folder, whose files import one another.

    A file is read once: make a new object after files have changed.
    """

    def __init__(self, folders: Mapping[str, Path]) -> None:
        self.folders = {name: _absolute(folder) for name, folder in folders.items()}
        self._files: dict[Path, Code] = {}
        self._imported: dict[Path, list[Path]] = {}

    def closure(self, *files: Path | str) -> dict[str, Path]:
        """These files and all that they import, by names such as "course/harness/compare.py", in order.

        A file is named so, too, or given by its path.
        """
        found: dict[Path, None] = {}
        left = [self._path(file) if isinstance(file, str) else _absolute(file) for file in files]
        while left:
            if (file := left.pop()) not in found:
                found[file] = None
                left += self._imports_of(file)
        return dict(sorted((self._name(file), file) for file in found))

    def fingerprint(self, *files: Path | str, about: Iterable[str] = ()) -> str:
        """A hash over the closure of these files, and over what else their outcome depends on."""
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
            own = ".".join(package)  # whose __init__.py runs before the file does
            self._imported[file] = [found for name in dict.fromkeys([own, *names]) for found in self._found(name)]
        return self._imported[file]

    def _found(self, module: str) -> Iterator[Path]:
        """The files that an import of this module runs: those of the packages around it, too."""
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
    """The Python files of an exercise's folder, or of a lesson's."""
    return sorted(folder.glob("*.py"))


def packages(tests: Path | None = None) -> Packages:
    """The packages `course` and `grading`, and a course's grader_tests if given."""
    folders = {package.__name__: Path(package.__file__ or "").parent for package in (course, grading)}
    return Packages(folders | ({GRADER_TESTS: tests} if tests else {}))


def _absolute(path: Path) -> Path:
    """The same path from the root: a lesson that is a link stays where the link is."""
    return Path(os.path.abspath(path))


def _meant_by(package: list[str], level: int, module: str, names: tuple[str, ...]) -> Iterator[str]:
    """The names of all modules that one import may mean."""
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
    """The titles of a text's cells, each with the number of statements above it; none if they are part of a string."""
    code = TITLE.split(text)
    try:
        return [f"{title.strip()} {len(ast.parse(cell).body)}" for title, cell in zip(code[1::2], code[::2])]
    except SyntaxError:
        return []


def _dump(node: object, out: list[str]) -> None:
    """Add the tree as text: the type of each node and its fields that are not empty, alike in every Python."""
    if isinstance(node, ast.Constant):
        out.append(f"{type(node.value).__name__} {node.value!r}")
    elif isinstance(node, ast.AST):
        out.append(f"{type(node).__name__}(")
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(node, ast.JoinedStr):  # Python 3.12 adds an empty text to some
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
    """A text that is a statement: a docstring, or the note after an attribute."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _imports(node: ast.AST) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    """All imports, wherever they are, but for those that only a type checker sees."""
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


class FingerprintFile:
    """A file that holds, in JSON, the fingerprint of what each piece of derived data was made of.

    A file that cannot be read holds none.
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

    def add(self, new: Mapping[str, str]) -> None:
        with self._writing:
            if known := {**self.read(), **new}:
                self.path.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")
