"""Sealed code computes what its text says, and the text does not come with it."""

from __future__ import annotations

import inspect
import sys

import pytest
import torch

from course.harness.bytecode import compile_stand_in, load_stand_in
from course.harness.errors import exception_to_record
from grading.exercises.lesson import load_lesson

from ...support.corpus import ROOT

TEXT = '''
"""A module's docstring."""

def right(x, *, dim=-1):
    """Says how it is done."""
    # and so does this
    def inner(y):
        "and this"
        return y / y.sum(dim, keepdim=True)

    if not x.ndim:
        raise ValueError(f"x has no dimension: {x}")
    return inner(x)


class Layer(torch.nn.Module):
    """Its docstring."""

    def __init__(self):
        "only this"


def empty():
    "nothing else"
'''


def opened(text: str) -> dict[str, object]:
    names = {"torch": torch}
    exec(load_stand_in(compile_stand_in(text)), names)
    return names


def test_it_computes_the_same():
    names, x = opened(TEXT), torch.rand(3, 4)
    assert torch.equal(names["right"](x, dim=0), x / x.sum(0, keepdim=True))
    assert names["empty"]() is None


def test_neither_source_nor_docstrings_nor_lines_are_there():
    names = opened(TEXT)
    for one in (names["right"], names["Layer"], names["empty"]):
        assert not one.__doc__ or "docstring" not in one.__doc__
        with pytest.raises((OSError, TypeError)):
            inspect.getsource(one)
    code = names["right"].__code__
    assert {line for _, _, line in code.co_lines()} <= {1, None}
    held = repr(load_stand_in(compile_stand_in(TEXT)).co_consts) + repr(code.co_consts)
    assert not any(words in held for words in ("how it is done", "and so does", "and this", "docstring", ".py"))


def test_the_line_of_an_error_in_it_is_the_learners_own():
    names = opened(TEXT)
    try:
        names["right"](torch.tensor(1.0))
    except ValueError as error:
        told = exception_to_record(error)
    assert told["message"].startswith("x has no dimension")
    assert "raise" not in told["line"]


def test_another_python_is_reported(monkeypatch):
    sealed = compile_stand_in("x = 1")
    monkeypatch.setattr("importlib.util.MAGIC_NUMBER", b"\0\0\r\n")
    with pytest.raises(ValueError, match="version of Python"):
        load_stand_in(sealed)


@pytest.mark.parametrize("path", sorted((ROOT / "grader_tests").glob("[0-9]*/")), ids=lambda path: path.name)
def test_every_oracle_can_be_sealed_and_says_nothing_of_itself(path):
    for exercise in load_lesson(path).exercises.values():
        names = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "math": sys.modules["math"]}
        exec(load_stand_in(exercise.sealed), names)
        assert callable(names[exercise.name])
