"""Rewrite grader_tests from the names of version 0.1 to today's (`old_language`).

    python -m grading.exercises.codemod grader_tests

Formatting and comments are kept; a second run changes nothing. Names are recognised by how they are used: imports from
the exercise module, methods that are called, keywords of the functions that have them, and everything called `shows`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import libcst as cst
from libcst import matchers as m

from course.checkers.old_names import RENAMED

from .old_language import ATTRIBUTES, KEYWORDS, LISTS, MODULE

OLD_MODULE, NEW_MODULE = "grading.judge.exercise", "grading.exercises.exercise"
SHOWS, LOSES = "shows", KEYWORDS["mistake"]["shows"]
#: Methods, renamed where they are called
METHODS = ATTRIBUTES["Case"] | {
    old: names[old] for names in ATTRIBUTES.values() for old in ("base", "says", "whole") if old in names
}
#: Attributes, renamed wherever they are read
PLAIN = {"bases": "reference_answers", "subject": "exercise_name"}


def rename(text: str) -> str:
    """Rename everything in a Python source. Raises `libcst.ParserSyntaxError`."""
    return cst.parse_module(text).visit(_Renamer()).code


def rename_in(path: Path) -> bool:
    """Rewrite one file; return whether it changed.

    Raises OSError, UnicodeDecodeError or `libcst.ParserSyntaxError`.
    """
    text = path.read_bytes().decode()
    if (renamed := rename(text)) == text:
        return False
    path.write_bytes(renamed.encode())
    return True


class _Renamer(cst.CSTTransformer):
    def __init__(self) -> None:
        self.imported: set[str] = set()

    def visit_ImportFrom(self, node: cst.ImportFrom) -> None:
        if _module(node) in (OLD_MODULE, NEW_MODULE) and not isinstance(node.names, cst.ImportStar):
            self.imported |= {str(alias.name.value) for alias in node.names if alias.asname is None}

    def leave_ImportFrom(self, original_node: cst.ImportFrom, updated_node: cst.ImportFrom) -> cst.ImportFrom:
        if _module(original_node) not in (OLD_MODULE, NEW_MODULE):
            return updated_node
        names = updated_node.names
        if not isinstance(names, cst.ImportStar):
            names = [alias.with_changes(name=_in(MODULE, alias.name)) for alias in names]
        return updated_node.with_changes(module=cst.parse_expression(NEW_MODULE), names=names)

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.Name:
        if updated_node.value == SHOWS:
            return updated_node.with_changes(value=LOSES)
        if updated_node.value in LISTS:
            return _in(LISTS, updated_node)
        return _in(MODULE, updated_node) if updated_node.value in self.imported else updated_node

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.Attribute:
        return updated_node.with_changes(attr=_in(PLAIN, updated_node.attr))

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:
        function, args = updated_node.func, updated_node.args
        name = function.attr if isinstance(function, cst.Attribute) else function
        if not isinstance(name, cst.Name):
            return updated_node
        keywords = KEYWORDS.get(name.value, {})
        args = [arg for arg in args if not (arg.keyword and keywords.get(arg.keyword.value) == "")]
        args = [arg.with_changes(keyword=_in(keywords, arg.keyword)) if arg.keyword else arg for arg in args]
        if isinstance(function, cst.Attribute) and not m.matches(function.value, m.Name("self")):
            if METHODS.get(name.value, name.value) == METHODS["holding"] and args:
                args[0] = args[0].with_changes(value=args[0].value.visit(_CheckerNames()))
            function = function.with_changes(attr=_in(METHODS, name))
        return updated_node.with_changes(func=function, args=args)


class _CheckerNames(cst.CSTTransformer):
    """Renames checkers in the first argument of `check_with`, which may be an expression."""

    def leave_SimpleString(self, original_node: cst.SimpleString, updated_node: cst.SimpleString) -> cst.SimpleString:
        name = original_node.raw_value
        return updated_node.with_changes(value=updated_node.value.replace(name, RENAMED.get(name, name)))


def _in(table: Mapping[str, str], name: cst.BaseExpression) -> cst.Name:
    assert isinstance(name, cst.Name)
    return name.with_changes(value=table.get(name.value, name.value))


def _module(node: cst.ImportFrom) -> str:
    return cst.Module([]).code_for_node(node.module) if node.module and not node.relative else ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Rewrite the files and folders named on the command line, and print the files that changed."""
    for root in map(Path, sys.argv[1:] if arguments is None else arguments):
        for path in sorted(root.rglob("*.py")) if root.is_dir() else [root]:
            if rename_in(path):
                print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
