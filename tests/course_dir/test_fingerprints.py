"""Fingerprints of code: what changes them, and that they cover all imports."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from grading.authoring.check_data_files import EXPORTER, export_fingerprints
from grading.course_dir.fingerprints import FingerprintFile, Packages, code_digest, packages, text_digest
from grading.gradebook.grade_inputs import graders_fingerprint
from grading.proof.runner import PROVER, fingerprints

from ..support.course_builder import TINY_LESSONS, build_course
from ..support.repository import ROOT

ONE, TWO = TINY_LESSONS
LOADED = """
import sys
from importlib import import_module
import_module(sys.argv[1])
for name, module in list(sys.modules.items()):
    if name.partition(".")[0] in ("course", "grading") and getattr(module, "__file__", None):
        print(module.__file__)
"""

EVERY_KIND = '''
"""A module."""

@kept
class One(Base, kind=2):
    """A class.

        Indented, so that 3.13 strips it.
    """

    width: int = -1_000

    async def method(self, a, /, b=None, *rest: int, c, **more) -> "One":
        """A method."""
        x = f"{a!r:>{b}}" f"" "tail" f"{a}{b:.2f} {'{'}"
        return [y for y in await x if (z := y)] + b"" * 2j

def function(): ...

match function():
    case {"a": [1, *others], **kept} | One(width=2): pass
    case _: raise ValueError from None
try: del a[1:, ::2], b
except* OSError as error: print(*a, **b, end=lambda: 0)
'''


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A course of two lessons beside a copy of the engine.

    The first lesson uses a file of grader_tests/shared.
    """
    root = build_course(tmp_path)
    for package in ("course", "grading"):
        for file in (ROOT / package).rglob("*.py"):
            (copy := root / file.relative_to(ROOT)).parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(file.read_bytes())
    shared = root / "grader_tests" / "shared"
    shared.mkdir()
    (shared / "__init__.py").write_text("")
    (shared / "numbers.py").write_text('"""Numbers."""\n\nSEVEN = 7\n')
    (root / "grader_tests" / ONE / "common.py").write_text("from ..shared.numbers import SEVEN\n")
    rewrite(root / "grader_tests" / ONE / "double" / "contract.py", lambda text: "from ..common import SEVEN\n" + text)
    return root


def rewrite(path: Path, change: Callable[[str], str]) -> None:
    before = path.read_text(encoding="utf-8")
    path.write_text(change(before), encoding="utf-8")
    assert path.read_text(encoding="utf-8") != before


def replaced(old: str, new: str) -> Callable[[str], str]:
    def change(text: str) -> str:
        assert old in text
        return text.replace(old, new, 1)

    return change


def in_other_words(text: str) -> str:
    """The same code laid out by `ast.unparse`, with other docstrings and comments."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Module)) and ast.get_docstring(node):
            node.body[0] = ast.Expr(ast.Constant("In other words."))
    return f"# said more clearly\n{ast.unparse(tree)}\n"


def everything(root: Path) -> dict[str, str]:
    """All fingerprints of the course: of check data, proofs and grades."""
    folders = {name: root / name for name in ("course", "grading", "grader_tests")}
    found = {}
    for lesson in TINY_LESSONS:
        code, tests = Packages(folders), root / "grader_tests" / lesson
        exports = export_fingerprints(tests, root / "course" / "examples", code)
        found |= {f"check data of {lesson}/{name}": made for name, made in exports.items()}
        found |= {f"proof of {lesson}/{name}": made for name, made in fingerprints(root, lesson, code).items()}
        found |= {f"grades of {lesson}": graders_fingerprint(tests)}
    return found


def stale(before: dict[str, str], now: dict[str, str]) -> set[str]:
    return {name for name in before if before[name] != now[name]}


@pytest.mark.full
def test_comments_docstrings_and_layout_make_nothing_stale(course):
    before = everything(course)
    code = [path for package in ("course", "grading", "grader_tests") for path in (course / package).rglob("*.py")]
    changed = [path for path in code if path.name != "alternatives.py" and path.read_text().strip()]
    for path in changed:
        rewrite(path, in_other_words)
    for path in course.rglob("alternatives.py"):  # their titles are comments
        rewrite(path, lambda text: f"{text}# said more clearly\n")
    assert len(changed) > 200
    assert stale(before, everything(course)) == set()


def test_a_new_statement_in_the_engine_makes_check_data_and_proofs_stale_but_no_grade(course):
    for file in ("grading/errors.py", "grading/exercises/case.py", "course/harness/compare.py"):
        before = everything(course)
        rewrite(course / file, lambda text: f"{text}\nMORE = 1\n")
        assert stale(before, everything(course)) == {name for name in before if not name.startswith("grades")}, file


def test_a_changed_constant_makes_only_its_importers_stale(course):
    before = everything(course)
    checker = course / "course" / "checkers" / "dropout.py"
    rewrite(checker, lambda text: f"{text}\nMORE = 1\n")
    assert stale(before, everything(course)) == {name for name in before if not name.startswith("grades")}

    before = everything(course)
    rewrite(course / "grader_tests" / "shared" / "numbers.py", replaced("7", "8"))
    of_one = {f"check data of {ONE}/", f"check data of {ONE}/double", f"proof of {ONE}/double", f"grades of {ONE}"}
    assert stale(before, everything(course)) == of_one

    before = everything(course)
    rewrite(course / "grading" / "proof" / "mutants.py", replaced("ast.Add: ast.Sub", "ast.Add: ast.Mult"))
    assert stale(before, everything(course)) == {f"proof of {ONE}/double", f"proof of {TWO}/halve"}

    before = everything(course)
    rewrite(course / "grading" / "lms" / "roster.py", lambda text: f"{text}\nMORE = 1\n")
    assert stale(before, everything(course)) == set()


@pytest.mark.full
def test_the_meaning_of_a_lessons_code_decides_whether_its_proofs_are_stale(course):
    before, text = everything(course), course / "source" / f"{ONE}.py"
    rewrite(text, replaced("# # To double", "# # To double a number"))
    rewrite(text, replaced("return (2 * x)", "return 2 * x  # twice"))
    assert stale(before, everything(course)) == set()
    rewrite(text, replaced("return 2 * x", "return x * 2"))
    assert stale(before, everything(course)) == {f"proof of {ONE}/double"}


def test_the_name_of_an_alternative_counts_although_it_is_a_comment(course):
    before = everything(course)
    rewrite(course / "grader_tests" / ONE / "double" / "alternatives.py", replaced("by_a_sum", "by_addition"))
    assert f"proof of {ONE}/double" in stale(before, everything(course))


@pytest.mark.full
@pytest.mark.parametrize("file", [EXPORTER, PROVER])
def test_all_modules_that_a_process_loads_are_found_statically(file):
    module = file.removesuffix(".py").replace("/", ".")
    done = subprocess.run([sys.executable, "-c", LOADED, module], capture_output=True, text=True, check=True)
    loaded = {Path(line) for line in done.stdout.splitlines()}
    assert len(loaded) > 20
    assert loaded <= set(packages().closure(file).values())


def test_a_fingerprint_does_not_depend_on_the_folder(tmp_path):
    for place in ("here", "there"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "one.py").write_text("from . import two\n")
        (tmp_path / place / "two.py").write_text("X = 1\n")

    def fingerprint(place: str) -> str:
        return Packages({"package": tmp_path / place}).fingerprint("package/one.py")

    assert list(Packages({"package": tmp_path / "here"}).closure("package/one.py")) == [
        "package/one.py",
        "package/two.py",
    ]
    assert fingerprint("here") == fingerprint("there")
    (tmp_path / "there" / "two.py").rename(tmp_path / "there" / "three.py")
    (tmp_path / "there" / "one.py").write_text("from . import three\n")
    assert fingerprint("here") != fingerprint("there")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("x = 1", "x = (1)  # one", True),
        ("x = 1", "x = 1.0", False),
        ("x = None", "x = ...", False),
        ("x = ''", "x = b''", False),
        ("f(a=None)", "f(a=0)", False),
        ("{**a}", "{a: a}", False),
        ("def f(*, a, b=1): 0", "def f(*, a=1, b): 0", False),
        ("def f():\n    'doc'", "def f():\n    'other'", True),
        ("x = 1\n'about x'", "x = 1", True),
        ("f('a')", "f('b')", False),
        ("if x: 'no'\nelse: y", "if x: y", False),
        ("no python:", "no  python:", False),
    ],
)
def test_code_is_equal_if_its_syntax_tree_is(tmp_path, one, other, same):
    files = [tmp_path / "one.py", tmp_path / "other.py"]
    for file, text in zip(files, (one, other), strict=True):
        file.write_text(text)
    assert (code_digest(files[0]) == code_digest(files[1])) is same


def test_a_digest_is_the_same_on_every_python():
    """The recorded digest was made on 3.11: later versions add fields to nodes, and texts to f-strings."""
    assert text_digest(EVERY_KIND) == "04b2cc995bca869463941c2f0376a47ea0c3bfb0c47af84e1ca29a4c63ba36c4"


def test_imports_for_type_checkers_do_not_count(tmp_path):
    (tmp_path / "used.py").write_text("")
    (tmp_path / "types.py").write_text("")
    (tmp_path / "one.py").write_text(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from . import types\nelse:\n    from . import used\n"
    )
    assert list(Packages({"package": tmp_path}).closure("package/one.py")) == ["package/one.py", "package/used.py"]


def test_a_lesson_may_be_a_link(tmp_path):
    tests, elsewhere = tmp_path / "grader_tests", build_course(tmp_path / "course") / "grader_tests"
    tests.mkdir()
    (tests / ONE).symlink_to(elsewhere / ONE)
    assert graders_fingerprint(tests / ONE) == graders_fingerprint(elsewhere / ONE)


@pytest.mark.parametrize("damaged", ["", "[1]", '{"a": '])
def test_an_unreadable_file_counts_as_empty_and_is_written_again(tmp_path, damaged):
    file = FingerprintFile(tmp_path / "fingerprints.json")
    file.path.write_text(damaged)
    assert file.read() == {}
    file.add({TWO: "2"})
    file.add({ONE: "1"})
    assert file.read() == {ONE: "1", TWO: "2"}
    file.add({TWO: "3"}, drop=[ONE])
    assert file.read() == {TWO: "3"}
