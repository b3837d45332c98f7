"""Ready to hand in, or why not: told from the file that was saved. The released notebook, in a real kernel."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from course.notebook import catalog, hand_in
from course.notebook.saved_notebook import full_cell, grade_id, source
from course.notebook.session import Session

from ...support.learner_kernel import Kernel, running_kernel
from ...support.repository import ROOT

LESSON = "02_softmax"
NAMES = ("softmax", "log_softmax", "softmax_with_temperature", "entropy")
RELEASED = json.loads((ROOT / "release" / LESSON / f"{LESSON}.ipynb").read_text(encoding="utf-8"))
UNWRITTEN = copy.deepcopy(RELEASED)
READY = "Ready to hand in? Yes: every cell is there exactly once, no cell ended in an error, and"


def cell(notebook: dict[str, Any], grade_id: str) -> dict[str, Any]:
    return next(c for c in notebook["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") == grade_id)


cell(RELEASED, "softmax")["source"] = "def softmax(x, dim=-1):\n    return x.exp() / x.exp().sum(dim, keepdim=True)"


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    """A kernel beside the notebook, in which the lesson has begun and every answer's cell has run."""
    with running_kernel(tmp_path_factory.mktemp("desk")) as started:
        started.run(
            f"import os, torch\nos.environ.pop('JPY_SESSION_NAME', None)\nfrom course import *\nbegin('{LESSON}')"
        )
        for name in NAMES:
            started.run("".join(cell(RELEASED, name)["source"]))
        yield started


@pytest.fixture
def desk(kernel: Kernel, tmp_path: Path) -> Path:
    """The kernel's folder, with nothing in it."""
    kernel.run(f"os.chdir({str(tmp_path)!r})")
    return tmp_path


def notebook() -> dict[str, Any]:
    return copy.deepcopy(RELEASED)


def save(content: dict[str, Any], path: Path) -> None:
    path.write_text(json.dumps(content), encoding="utf-8")


def said(kernel: Kernel, code: str = "progress()") -> str:
    shown = kernel.run(code)
    assert shown.error is None
    words = unescape(re.sub(r"<[^>]*>", "", shown.html + shown.markdown + shown.text)).replace("`", "")
    return re.sub(r"\s+", " ", words)


def test_a_saved_notebook_is_ready(kernel, desk):
    save(notebook(), desk / f"{LESSON}.ipynb")
    assert READY in said(kernel)
    assert "saved. Next, run course.hand_in()." in said(kernel)


def test_a_notebook_in_which_nothing_is_written_is_not_ready(kernel, desk):
    save(UNWRITTEN, desk / f"{LESSON}.ipynb")
    text = said(kernel)
    assert "Ready to hand in? Yes" not in text
    assert "Ready to hand in? No, not yet. The saved notebook has no answers yet" in text


def test_what_is_not_written_is_named_beside_what_is(kernel, desk):
    save(notebook(), desk / f"{LESSON}.ipynb")
    assert "Not written yet: log_softmax, softmax_with_temperature and entropy." in said(kernel)


@pytest.mark.parametrize(
    ("code", "written"),
    [
        ("def f(x):\n    'Words.'\n    # YOUR CODE HERE\n    raise NotImplementedError()", False),
        ("def f(x):\n    y = x + 1\n    raise NotImplementedError", False),
        ("def f(x): ...", False),
        ("def f(x):\n    print('\\d')\n    raise NotImplementedError", False),
        (
            "class f(Module):\n    def __init__(self):\n        super().__init__()\n        raise NotImplementedError",
            False,
        ),
        ("check(f)", False),
        ("print('f')", False),
        ("def f(x):\n    return x", True),
        ("def f(x):\n    if x < 0:\n        raise NotImplementedError\n    return x", True),
        ("class f(Module):\n    def forward(self, x):\n        return x", True),
        ("f = lambda x: x", True),
        ("def f(x)\n    return x", True),
    ],
)
def test_a_stub_is_not_an_answer(code, written):
    made = hand_in.SavedNotebook("f.ipynb", {"cells": [{"cell_type": "code", "metadata": {}, "source": code}]})
    assert hand_in.is_written(made, "f", {}) is written


def test_a_class_is_an_answer_once_it_differs_from_its_stub():
    stub = "class f(Module):\n    def __init__(self):\n        self.n = 1\n\n    def forward(self, x):\n        {}"
    for body, written in (
        ("# YOUR CODE HERE\n        raise NotImplementedError()", False),
        ("return self.n * x", True),
    ):
        cell = {"cell_type": "code", "metadata": {}, "source": stub.format(body)}
        made = hand_in.SavedNotebook("f.ipynb", {"cells": [cell]})
        assert hand_in.is_written(made, "f", {"f": stub.format("raise NotImplementedError()")}) is written


FULL = {
    "def softmax(x, dim=-1):\n    raise NotImplementedError()\n    return x": "softmax still raises",
    "def softmax(x, dim=-1):\n    y = x.exp()\n    raise NotImplementedError()": "softmax still raises",
    "z = torch.ones(2).exp()\nz / z.sum()": "Your cell for softmax does not define softmax. Keep the first line",
    "I would divide by the sum.": "Your cell for softmax does not define softmax. Keep the first line",
}


@pytest.mark.parametrize("code", FULL)
def test_a_full_cell_is_never_called_not_started(kernel, desk, code):
    content, right = notebook(), "".join(cell(notebook(), "softmax")["source"])
    cell(content, "softmax")["source"] = code
    cell(content, "entropy")["source"] = "def entropy(p, dim=-1):\n    return 1.0"
    save(content, desk / f"{LESSON}.ipynb")
    kernel.run("ran = get_ipython().history_manager.input_hist_raw\nbefore = ran[:]\nran.clear()\ndel softmax")
    try:
        kernel.run(code)
        text = said(kernel, f"begin('{LESSON}')\ncheck(softmax)")
        assert FULL[code] in text and "not started" not in text
        assert f"No, not yet. {FULL[code]}" in said(kernel)
        kernel.run(right)  # as it says
        save(notebook(), desk / f"{LESSON}.ipynb")
        assert "still raises" not in said(kernel, "check(softmax)") and READY in said(kernel)
    finally:
        kernel.run(f"ran[:] = before\n{right}")


def test_no_cell_of_a_released_lesson_is_full_or_written():
    for lesson in catalog.lessons():
        content = json.loads((ROOT / "release" / lesson / f"{lesson}.ipynb").read_text(encoding="utf-8"))
        stubs, released = catalog.stubs_of(lesson), hand_in.SavedNotebook(f"{lesson}.ipynb", content)
        own = {grade_id(c): source(c) for c in released.cells if grade_id(c) in stubs}
        assert [name for name in stubs if hand_in.is_written(released, name, stubs)] == []
        assert own.keys() >= catalog.exercises_of(lesson).keys()
        assert not any(full_cell(text, stubs[name], name) for name, text in own.items())


def test_what_is_missing_and_what_is_doubled_is_named(kernel, desk):
    content = notebook()
    content["cells"].remove(cell(content, "check_entropy"))
    content["cells"].remove(cell(content, "log_softmax"))
    content["cells"].append(cell(content, "softmax"))
    save(content, desk / f"{LESSON}.ipynb")
    text = said(kernel)
    assert READY not in text
    assert "No, not yet. Missing: the cell of log_softmax and the cell check(entropy). Copy" in text
    assert "No, not yet. More than one copy: the cell of softmax. Keep one copy and delete the others." in text
    save(notebook(), desk / f"{LESSON}.ipynb")  # as it says
    assert READY in said(kernel)


def test_an_error_in_the_file_is_named_by_its_cell(kernel, desk):
    content = notebook()
    failed = next(c for c in content["cells"] if "".join(c["source"]).startswith("words = ["))
    failed["outputs"] = [{"output_type": "error", "ename": "NameError", "evalue": "", "traceback": []}]
    save(content, desk / f"{LESSON}.ipynb")
    assert re.search(r"Ended in an error in the saved notebook: the cell that begins words = \[", said(kernel))
    failed["outputs"] = []  # it ran again
    save(content, desk / f"{LESSON}.ipynb")
    assert READY in said(kernel)


def test_what_ran_and_was_not_saved_is_named(kernel, desk):
    content = notebook()
    cell(content, "entropy")["source"] = ["def entropy(p, dim=-1):\n", "    return 1.0\n"]
    save(content, desk / f"{LESSON}.ipynb")
    text = said(kernel)
    assert "Not saved in the version that last ran: entropy. Save the notebook;" in text
    assert text.count("No, not yet") == 1
    try:
        kernel.run("".join(cell(content, "entropy")["source"]))  # as it says, since the code was changed
        assert READY in said(kernel)
    finally:
        kernel.run("".join(cell(RELEASED, "entropy")["source"]))
    save(notebook(), desk / f"{LESSON}.ipynb")
    assert READY in said(kernel)


def test_an_answer_that_passed_before_and_does_not_as_it_is_now_is_named(kernel, desk):
    content, text = notebook(), "".join(cell(RELEASED, "softmax")["source"])
    right = text.replace("x.exp()", "(x - x.amax(dim, keepdim=True)).exp()")
    kernel.run(f"{right}\ncheck(softmax)")
    cell(content, "softmax")["source"] = wrong = "def softmax(x, dim=-1):\n    return x"
    save(content, desk / f"{LESSON}.ipynb")
    try:
        kernel.run(wrong)
        for call in ("hand_in()", "progress()"):
            assert "No, not yet. softmax passed before, but the version that ran last does not" in said(kernel, call)
        cell(content, "softmax")["source"] = right
        save(content, desk / f"{LESSON}.ipynb")
        kernel.run(right)
        assert READY in said(kernel)
    finally:
        kernel.run(text)
        kernel.run("import course.notebook.session as s\ns.current().store.lessons.clear(); s.current().last.clear()")


@pytest.mark.full
def test_the_file_to_hand_in_has_the_right_name_whatever_the_notebooks_is(kernel, desk):
    content = notebook()
    save(content, desk / f"Copy of {LESSON} (1).ipynb")
    text = said(kernel, "hand_in()")
    assert READY in text
    assert f"hand_in/{LESSON}.ipynb" in text
    assert json.loads((desk / "hand_in" / f"{LESSON}.ipynb").read_text(encoding="utf-8")) == content


@pytest.mark.parametrize("given", ["JPY_SESSION_NAME", "__vsc_ipynb_file__"])
def test_the_notebook_that_runs_is_known_from_what_started_its_kernel(monkeypatch, tmp_path, given):
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "elsewhere" / "my work.ipynb"
    path.parent.mkdir()
    save(notebook(), path)
    names = {given: str(path)} if given.startswith("__") else {}
    monkeypatch.setenv(given, str(path)) if not names else None
    assert hand_in.saved(Session(names=names), LESSON).name == "my work.ipynb"


def test_without_a_file_it_is_said_what_to_do(kernel, desk):
    assert f"Unknown: the notebook's file was not found. Save it as {LESSON}.ipynb" in said(kernel)
    assert "Nothing was written: the notebook's file was not found." in said(kernel, "hand_in()")
    assert list(desk.iterdir()) == []
    save(notebook(), desk / f"{LESSON}.ipynb")  # as it says
    assert f"hand_in/{LESSON}.ipynb is the file" in said(kernel, "hand_in()").replace("**", "")


@pytest.mark.parametrize("text", ["", "[]", "{", '{"cells": 7}', '{"cells": [7, {"metadata": 7}, {"outputs": [7]}]}'])
def test_a_damaged_file_raises_nothing(kernel, desk, text):
    (desk / f"{LESSON}.ipynb").write_text(text)
    assert READY not in said(kernel)
    said(kernel, "hand_in()")


def test_before_a_lesson_has_begun_nothing_is_handed_in(monkeypatch, capsys):
    from course import hand_in
    from course.notebook import session

    session.renew()
    hand_in()
    assert "You have not started a lesson" in capsys.readouterr().out


BETTER = "def softmax(x, dim=-1):\n    return torch.softmax(x, dim)"
OWN = "The grade takes the version in its own cell, and not the one"
LATER_VERSIONS = {
    "a second one": BETTER,
    "another name": "better = torch.softmax\nsoftmax = better",
    "a timed one": f"%%time\n{BETTER}",
    "from a file": "from mine import softmax",
}


def with_cell(code: str, at: int | None = None) -> dict[str, Any]:
    content = notebook()
    added = {"cell_type": "code", "metadata": {}, "outputs": [], "source": code}
    content["cells"].insert(len(content["cells"]) if at is None else at, added)
    return content


@pytest.mark.quick_cases("a second one", "another name")
@pytest.mark.parametrize("version", LATER_VERSIONS)
def test_a_version_below_the_check_is_named_before_handing_in(kernel, desk, version):
    (desk / "mine.py").write_text(f"import torch\n{BETTER}")
    content, own = with_cell(LATER_VERSIONS[version]), "".join(cell(notebook(), "softmax")["source"])
    save(content, desk / f"{LESSON}.ipynb")
    try:
        kernel.run(LATER_VERSIONS[version])
        assert (
            f"This check is of the version that ran last. softmax is defined in more than one cell. {OWN} further down"
            in said(kernel, "check(softmax)")
        )
        for call in ("progress()", "hand_in()"):
            text = said(kernel, call)
            assert f"No, not yet. softmax is defined in more than one cell. {OWN} further down" in text
            assert READY not in text
        kernel.run(own)
        assert "version that ran last" not in said(kernel, "check(softmax)")
        content["cells"].pop()  # as it says
        cell(content, "softmax")["source"] = BETTER
        save(content, desk / f"{LESSON}.ipynb")
        kernel.run(BETTER)
        assert READY in said(kernel)
    finally:
        kernel.run(own)


def test_a_version_above_is_named_and_changes_nothing(kernel, desk):
    content = with_cell(BETTER, 20)
    save(content, desk / f"{LESSON}.ipynb")
    text = said(kernel)
    assert READY in text
    assert f"{OWN} above" in text


def test_after_a_rename_it_does_not_guess_and_keeps_what_is_there(kernel, desk):
    save(notebook(), desk / "my work.ipynb")
    save(UNWRITTEN, desk / f"{LESSON}.ipynb")
    handed_in = desk / "hand_in" / f"{LESSON}.ipynb"
    handed_in.parent.mkdir()
    save(notebook(), handed_in)
    kernel.run(f"os.environ['JPY_SESSION_NAME'] = {str(desk / 'before.ipynb')!r}")
    try:
        text = said(kernel, "hand_in()")
        assert "Nothing was written: there is no before.ipynb any more. Was it renamed or moved?" in text
        assert 'Here are 02_softmax.ipynb and my work.ipynb. Run course.hand_in("NAME.ipynb")' in text
        kernel.run("os.environ.pop('JPY_SESSION_NAME')")

        text = said(kernel, "hand_in()")
        assert (
            "Nothing was written: hand_in/02_softmax.ipynb has an answer to softmax, and 02_softmax.ipynb has" in text
        )
        assert json.loads(handed_in.read_text(encoding="utf-8")) == notebook()

        assert "hand_in/02_softmax.ipynb** is the file" in said(
            kernel, 'hand_in("my work.ipynb")'
        )  # both messages' remedy
        assert READY in said(kernel)
        handed_in.unlink()  # the other remedy
        assert "hand_in/02_softmax.ipynb** is the file" in said(kernel, f'hand_in("{LESSON}.ipynb")')
    finally:
        kernel.run(
            "os.environ.pop('JPY_SESSION_NAME', None)\nfrom course.notebook import session\nsession.current().file = ''"
        )


FORGET = "from course.notebook import session\nsession.current().file = ''"


@pytest.mark.parametrize("other", [f'{LESSON} "new".ipynb', f"{LESSON} (1).ipynb"])
def test_of_several_notebooks_it_asks_which_is_open_and_the_remedy_works(kernel, desk, other):
    save(UNWRITTEN, desk / f"{LESSON}.ipynb")
    save(notebook(), desk / other)
    text = said(kernel, "hand_in()")
    assert f"several notebooks have the name of the lesson: {other} and 02_softmax.ipynb" in text
    assert not (desk / "hand_in").exists()
    call = re.search(r"Run course\.(hand_in\(.*?ipynb\"\))", text)
    assert call
    try:
        assert READY in said(kernel, call[1])
    finally:
        kernel.run(FORGET)


def test_a_notebook_that_was_moved_into_another_folder_is_handed_in_by_its_path(kernel, desk):
    (desk / "done").mkdir()
    save(notebook(), desk / "done" / "mine.ipynb")
    kernel.run(f"os.environ['JPY_SESSION_NAME'] = {str(desk / 'mine.ipynb')!r}")
    try:
        assert "If it is in another folder, write its path." in said(kernel, "hand_in()")
        assert READY in said(kernel, 'hand_in("done/mine.ipynb")')
    finally:
        kernel.run(f"os.environ.pop('JPY_SESSION_NAME')\n{FORGET}")


def test_a_folder_that_cannot_be_written_is_named_with_a_remedy(kernel, desk):
    save(notebook(), desk / f"{LESSON}.ipynb")
    (desk / "hand_in").write_text("a file")
    text = said(kernel, "hand_in()")
    assert f"Nothing was written: {desk / 'hand_in'} cannot be written (File exists)." in text
    (desk / "own").mkdir()
    (desk / "own" / f"{LESSON}.ipynb").write_bytes((desk / f"{LESSON}.ipynb").read_bytes())
    kernel.run("os.chdir('own')")
    assert "hand_in/02_softmax.ipynb** is the file" in said(kernel, "hand_in()")
    kernel.run("os.chdir('..')")
    (desk / "hand_in").unlink()
    assert "hand_in/02_softmax.ipynb** is the file" in said(kernel, "hand_in()")
