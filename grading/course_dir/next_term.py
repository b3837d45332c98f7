"""Set up the next term's course with the lessons and settings of this one.

Copies nothing about students. Comments out settings that are valid for one term only. Does not cover: a course that
begins with published lessons (`scaffold`).
"""

from __future__ import annotations

import ast
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from grading.safe_text import plural

from ..errors import CourseError
from .course_folder import make_course_directory
from .course_template import course_id
from .lesson_base import kept_base, read_lessons
from .lessons import COURSE_FILE
from .paths import CONFIG, open_course
from .scaffold import GITIGNORE, begin_with, check_exchange
from .seeds import FILE as SEED
from .seeds import course_seed

CARRIED = (COURSE_FILE, "comments.toml", ".gitignore")  # besides lessons and the course's own modules
OF_ONE_TERM = {  # in nbgrader_config.py, with the reason why it is not valid in the next term
    "CourseDirectory.db_url": "it names the gradebook of the last term",
    "CourseDirectory.root": "it names the directory of the last term",
    "CourseDirectory.course_id": "nbgrader's exchange tells terms apart by it",
    "JudgedExecute.seed": "the new term draws its cases from a new secret",
    "Delivery.solutions": "no lesson of the new term is over",
}
KEYS_OF_ONE_TERM = ("due", "id", "column", "canvas", "canvas_course", "solutions")  # in course.toml
TO_CHECK = "Delivery.repository"
KEY = re.compile(r"^\s*(?:[\w\"'-]+\s*\.\s*)*([\w-]+)\s*=")


def begin_next_term(root: Path, previous: Path, exchange: str = "") -> list[str]:
    """Set up the course in `root` from the one in `previous`.

    exchange  directory of nbgrader's exchange; "": that of the last term

    Returns lines that describe what was done. Raises CourseError.
    """
    previous = open_course(previous)
    if (root / CONFIG).exists():
        raise CourseError(f"{root} is already a course, with an {CONFIG}; nothing was changed")
    if root.resolve().is_relative_to(previous):
        raise CourseError(f"{root} is inside the course {previous}: choose a directory beside it")
    files, base = read_lessons(previous), kept_base(previous)
    if not files:
        raise CourseError(f"{previous} has no lessons: it has no source/ or no grader_tests/")
    check_exchange(exchange)
    name = course_id(root.resolve().name)
    text, said = next_term_config(_config_of(previous), "" if (previous / COURSE_FILE).exists() else name)
    make_course_directory(root)
    begin_with(root, files, base or {})
    for path in _other_files(previous):
        target = root / path.relative_to(previous)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    if not (root / ".gitignore").exists():
        (root / ".gitignore").write_text(GITIGNORE, encoding="utf-8")
    course_seed(root)
    done = [
        f"{plural(sum(path.startswith('source/') for path in files), 'lesson')} copied from {previous}, with graders",
        "not copied: students, submissions, grades, releases",
        f"{root / SEED}: a new secret seed of the hidden cases. Keep it secret, and keep it as long as the grades",
        *_write_settings(root, name),
    ]
    text += f"c.Exchange.root = {exchange!r}\n" if exchange else ""
    (root / CONFIG).write_text(text, encoding="utf-8")  # last, since this file makes the folder a course
    return [*done, *(f"{CONFIG}: {line}" for line in said), f"Next: change to {root}, and run `grading release`."]


def next_term_config(text: str, course: str) -> tuple[str, list[str]]:
    """Comment out what is valid for one term only in nbgrader_config.py.

    course  the id of the new course, unless course.toml has it

    Returns the new text, and lines that describe the changes.
    """
    lines, said = text.splitlines(), list[str]()
    tree = ast.parse(text)
    for node in ast.walk(tree):
        name = _setting(node)
        if not isinstance(node, ast.Assign) or name not in (*OF_ONE_TERM, TO_CHECK):
            continue
        if name == TO_CHECK or node not in tree.body:
            said.append(f"line {node.lineno}, c.{name}, is unchanged: check that it is right for the new term")
            continue
        for number in range(node.lineno - 1, node.end_lineno or node.lineno):
            lines[number] = f"# {lines[number]}"
        said.append(f"line {node.lineno}, c.{name}, is commented out: {OF_ONE_TERM[name]}")
    lines += ["", f"c.CourseDirectory.course_id = {course!r}"] if course else []
    return "\n".join(lines) + "\n", said


def next_term_settings(text: str, course: str) -> str:
    """Comment out what is valid for one term only in course.toml, such as due dates.

    `course`: the id of the new course.
    """
    lines, open_brackets = [f'id = "{course}"'], 0
    for line in text.splitlines():
        key = KEY.match(line)
        if open_brackets > 0 or (key and key[1] in KEYS_OF_ONE_TERM):
            code = line.partition("#")[0]
            open_brackets += code.count("[") - code.count("]")
            line = f"# {line}"
        lines.append(line)
    return "\n".join(lines) + "\n"


def _config_of(previous: Path) -> str:
    """The text of a course's nbgrader_config.py.

    Raises CourseError if it is not valid Python.
    """
    path = previous / CONFIG
    text = path.read_text(encoding="utf-8")
    try:
        ast.parse(text)
    except SyntaxError as error:
        raise CourseError(f"{path}:{error.lineno}: {error.msg}. Correct the line first.") from None
    return text


def _write_settings(root: Path, course: str) -> Iterator[str]:
    """Rewrite the copied course.toml, if there is one, and report the changes."""
    path = root / COURSE_FILE
    if path.exists():
        before = path.read_text(encoding="utf-8")
        after = next_term_settings(before, course)
        path.write_text(after, encoding="utf-8")
        pairs = enumerate(zip(before.splitlines(), after.splitlines()[1:], strict=True), 2)
        changed = [str(number) for number, (old, new) in pairs if old != new]
        if changed:
            where = f"line{'s' * (len(changed) != 1)} {', '.join(changed)}"
            yield f"{COURSE_FILE}: commented out, because it holds for one term only: {where}"


def _other_files(root: Path) -> Iterator[Path]:
    """Files beside the lessons that are not about students: nbgrader assignments, modules, rubrics."""
    yield from (path for path in (root / name for name in CARRIED) if path.is_file())
    yield from (path for path in root.glob("*.py") if path.name != CONFIG)
    folders = [
        path.parent
        for path in root.glob("source/*/*.ipynb")
        if not (root / "source" / f"{path.parent.name}.py").exists()
    ]
    for folder in dict.fromkeys([*folders, root / "grader_tests", root / "rubrics"]):
        for path in sorted(folder.rglob("*")):
            hidden = any(part.startswith((".", "__pycache__")) for part in path.relative_to(root).parts)
            if path.is_file() and not hidden:
                yield path


def _setting(node: ast.AST) -> str:
    """The name of the setting that a statement assigns, without `c.`; "" if none."""
    target = node.targets[0] if isinstance(node, ast.Assign) else None
    found = re.fullmatch(r"c\.(\w+\.\w+)", ast.unparse(target)) if target else None
    return found[1] if found else ""
