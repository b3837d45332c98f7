"""Files of check data beside a notebook choose inputs, and run no code."""

from __future__ import annotations

import subprocess
import zlib

import pytest
import torch

from course.check_data import read, split_packed
from course.data_only import ensure_data_only
from course.harness.bytecode import compile_stand_in
from course.harness.program import Program
from course.harness.runner import observe
from course.harness.serialization import Node, PackingError, pack, unpack
from course.notebook import catalog
from course.notebook.catalog import EXAMPLES

from ..support.learner import RIGHT, Learner

CODE = "import pathlib\npathlib.Path('owned').touch()\ndef helper(x): return x"


def ref(name, *path):
    return Node("ref", {"name": name, "path": list(path)})


def method(of, name):
    return Node("method", {"of": of, "name": name})


def student(name):
    return Node("student", {"name": name})


def attribute(of, name, to):
    return (to, Node("helper", {"name": "attribute"}), [of, name], {})


X = ref("x")
# What a program would do besides calling the answer: its changes to a right one
HOSTILE = {
    "compiled code": {"stand_ins": {"helper": compile_stand_in(CODE)}},
    "another function of the notebook": {"steps": [("y", student("touch"), ["owned"], {})]},
    "a function of torch": {"steps": [("y", Node("dtype", {"name": "load"}), ["owned"], {})]},
    "a class of torch": {"inputs": {"x": Node("dtype", {"name": "UntypedStorage"})}},
    "the methods of a file": {
        "steps": [("n", method(X, "numpy"), [], {}), ("y", method(ref("n"), "tofile"), ["owned"], {})]
    },
    "a method in an argument": {"steps": [("y", student("softmax"), [{"x": [method(X, "tofile")]}], {})]},
    "no sample model": {"inputs": {"x": Node("specimen", {"name": "torch", "kwargs": {}, "state": None})}},
    "no helper": {"steps": [("y", Node("helper", {"name": "exec"}), [CODE], {})]},
    "no kind of value": {"inputs": {"x": Node("ref_", {"name": "x"})}},
    "a way into a function": {"steps": [("y", method(student("softmax"), "__globals__"), [], {})]},
}


def hostile(change):
    return Program({"x": torch.ones(2)}, [("out", student("softmax"), [X], {})], ["out"]).to_plain() | change


@pytest.mark.parametrize("change", HOSTILE)
def test_a_program_that_could_run_other_code_is_refused(change):
    with pytest.raises(PackingError, match=r"^softmax: "):
        ensure_data_only(hostile(HOSTILE[change]), "softmax")


@pytest.mark.parametrize(
    "steps",
    [
        [attribute(student("f"), "__globals__", "g")],
        [attribute(X, "numpy", "n"), ("a", ref("n"), [], {})],
        [attribute(student("shell"), "os", "n")],
        [("y", Node("helper", {"name": "optimizer"}), [student("model"), "__import__"], {})],
    ],
)
def test_helpers_lead_to_no_code(steps):
    """Their arguments are values that a program computes, so they look at them themselves."""
    shell = type("Shell", (), {"os": subprocess})()
    names = {"f": lambda x: x, "shell": shell, "model": torch.nn.Linear(1, 1)}
    seen = observe(Program({"x": torch.ones(2)}, steps, []), names)
    assert seen.raised is not None
    assert seen.raised["type"] in ("TypeError", "AttributeError", "ValueError")


@pytest.fixture
def beside(tmp_path, monkeypatch):
    """A working directory with the files of the softmax lesson, which a test may change."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "02_softmax").mkdir()
    for name in ("02_softmax.examples", "02_softmax/softmax.practice"):
        (tmp_path / name).write_bytes((EXAMPLES / name).read_bytes())
    for cached in (catalog.read_examples, read):
        cached.cache_clear()
    yield tmp_path
    for cached in (catalog.read_examples, read):
        cached.cache_clear()


@pytest.mark.parametrize("change", ["compiled code", "another function of the notebook"])
def test_check_runs_no_code_of_an_example_beside_the_notebook(beside, learner: Learner, change):
    path = beside / "02_softmax.examples"
    data = unpack(path.read_bytes())
    data["exercises"]["softmax"]["cases"][0]["program"] |= HOSTILE[change]
    path.write_bytes(pack(data))
    learner.names["touch"] = lambda name: (beside / name).touch()
    printed = learner.run(
        f"try:\n    begin('02_softmax')\nexcept Exception as error: print(error)\n{RIGHT}\ncheck(softmax)"
    )
    assert not (beside / "owned").exists()
    assert "02_softmax.examples cannot be read (softmax: " in printed


def test_check_runs_no_code_of_a_practice_case_beside_the_notebook(beside, learner: Learner):
    path = beside / "02_softmax" / "softmax.practice"
    asked, known = split_packed(path.read_bytes())
    data = unpack(asked)
    data["cases"][0]["program"] |= HOSTILE["compiled code"]
    path.write_bytes(zlib.compress(pack(data)) + zlib.compress(known))
    printed = learner.run(f"begin('02_softmax')\n{RIGHT}\ncheck(softmax)")
    assert not (beside / "owned").exists()
    assert "softmax.practice cannot be read (softmax: " in printed


@pytest.mark.full
def test_the_packages_own_files_are_data():
    for lesson in catalog.lessons():
        for name in catalog.tasks_of(lesson):
            assert catalog.practice_of(lesson, name).cases
