"""`attention start`: a folder with the lessons' notebooks, opened in a real JupyterLab."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from course import cli, lessons_folder
from course.lessons_folder import (
    FilledFolder,
    UnusableFolder,
    assistant_files,
    default_folder,
    fill_folder,
    lesson_notebooks,
)

RELEASE = Path(__file__).parents[2] / "release"
NAMES = sorted(path.name for path in RELEASE.glob("*/*.ipynb"))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_an_empty_folder_gets_every_notebook_and_the_rules_for_assistants(tmp_path):
    filled = fill_folder(tmp_path / "new" / "lessons")
    assert (filled.added, filled.kept) == (NAMES, [])
    notebooks = {name: (RELEASE / name[:-6] / name).read_bytes() for name in NAMES}
    assert contents(filled.path) == {**notebooks, **assistant_files()}


def test_what_a_learner_has_is_kept_and_the_rest_is_added(tmp_path):
    mine = {"02_softmax.ipynb": b"my own work", "00_start.ipynb": b"", "my_answers.py": b"x = 1", "AGENTS.md": b"mine"}
    for name, content in mine.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "04_scaling.ipynb").symlink_to(tmp_path / "a disk that is not here")
    filled = fill_folder(tmp_path)
    assert filled.kept == ["00_start.ipynb", "02_softmax.ipynb", "04_scaling.ipynb"]
    assert sorted(filled.added + filled.kept) == NAMES
    assert mine == {name: (tmp_path / name).read_bytes() for name in mine}
    assert not (tmp_path / "04_scaling.ipynb").exists()
    assert fill_folder(tmp_path).added == []


def test_what_is_added_and_what_is_kept_is_listed():
    filled = FilledFolder(Path("mine"), ["01_dot_products.ipynb", "03_x.ipynb"], ["02_softmax.ipynb"])
    assert filled.to_text().splitlines() == [
        "2 notebooks added to mine: 01_dot_products.ipynb, 03_x.ipynb",
        "1 notebook kept unchanged in mine: 02_softmax.ipynb",
    ]
    assert FilledFolder(Path(), ["03_x.ipynb"]).to_text() == "1 notebook added to this folder: 03_x.ipynb"


def test_a_copy_that_breaks_off_leaves_no_notebook(tmp_path, monkeypatch):
    def full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full_disk)  # the copy beside it is written
    with pytest.raises(UnusableFolder, match=r"00_start\.ipynb cannot be written: No space left on device"):
        fill_folder(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_notebooks_is_used_again_and_another_gets_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert default_folder() == Path("attention-lessons")
    Path("02_softmax.ipynb").write_text("mine")
    assert default_folder() == Path()


def test_a_notebook_of_another_name_in_a_lessons_folder_is_not_a_lesson(tmp_path, monkeypatch):
    for name in (
        "02_softmax/02_softmax.ipynb",
        "02_softmax/.ipynb_checkpoints/02_softmax.ipynb",
        "02_softmax/mine.ipynb",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}")
    monkeypatch.setattr(lessons_folder, "INSTALLED", tmp_path)
    assert list(lesson_notebooks()) == ["02_softmax.ipynb"]


def test_what_cannot_be_done_is_explained_in_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("")
    assert cli.main(["start", "file"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("file/00_start.ipynb cannot be written: ") and "attention start FOLDER" in told
    assert fill_folder(Path("folder")).added == NAMES
    for place in ("INSTALLED", "CHECKOUT"):
        monkeypatch.setattr(lessons_folder, place, tmp_path)
    assert cli.main(["start"]) == 2
    assert capsys.readouterr().err.startswith("This installation of the course has no notebooks.")


def without_home(folder: Path) -> dict[str, str]:
    """An environment whose home nobody can write, root included."""
    (folder / "no-folder").touch()
    unset = dict.fromkeys(("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"), "")
    return {"HOME": str(folder / "no-folder" / "home"), **unset}


def test_options_after_two_dashes_go_to_jupyterlab(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(sys, "executable", "echo")
    assert cli.main(["start", str(tmp_path), "--no-browser", "--", "--allow-root", "--port=9000"]) == 0
    assert capfd.readouterr().out.endswith(f" -m jupyterlab {tmp_path} --no-browser --allow-root --port=9000\n")


def test_root_is_told_the_whole_command_that_starts_jupyterlab(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "executable", "false")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.chdir(tmp_path)
    assert cli.main(["start", "my lessons", "--", "--port=9000"]) == 1
    command = "attention start 'my lessons' -- --port=9000 --allow-root"
    assert capsys.readouterr().err == f"If JupyterLab refuses to run as root, type: {command}\n"
    assert cli.main(shlex.split(command)[1:]) == 1
    assert capsys.readouterr().err == ""


def test_without_jupyterlab_the_command_to_type_again_is_whole(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "executable", "true")
    monkeypatch.chdir(tmp_path)
    with monkeypatch.context() as without:
        without.setattr(cli, "find_spec", lambda name: None)
        assert cli.main(["start", "my lessons"]) == 2
    told = re.search("Run `pip install jupyterlab`, then `(.*)` again", capsys.readouterr().err)
    assert told
    assert cli.main(shlex.split(told[1])[1:]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["my lessons"]


class Lab:
    """`attention start` in a process of its own, until its JupyterLab answers."""

    def __init__(self, command: Path, folder: Path, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [str(command), "start", *arguments, "--no-browser", "--", "--allow-root", "--ip=127.0.0.1", "--port=0"],
            cwd=folder,
            env=os.environ | without_home(folder),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.printed = ""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.printed += line
            if found := re.search(r"(http://127\.0\.0\.1:\d+/)lab\?token=(\w+)", line):
                self.address, self.token = found.groups()
                return
        raise AssertionError(self.printed)

    def ask(self, path: str) -> Any:
        request = urllib.request.Request(f"{self.address}{path}", headers={"Authorization": f"token {self.token}"})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        while True:
            try:
                with opener.open(request) as answer:
                    return json.loads(answer.read())
            except urllib.error.URLError as error:  # it prints its address a moment before it listens
                if not isinstance(error.reason, ConnectionRefusedError) or self.process.poll() is not None:
                    raise
                time.sleep(0.1)

    def end(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


def test_jupyterlab_opens_in_the_folder_and_ctrl_c_ends_it_without_a_traceback(tmp_path):
    pytest.importorskip("jupyterlab", reason="a learner's environment may have none")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "random.py").write_text("raise SystemExit('JupyterLab has imported the file of a learner')")
    lab = Lab(Path(sys.executable).with_name("attention"), tmp_path, "mine")
    try:
        home, kept = tmp_path / "no-folder" / "home", tmp_path / "mine" / ".jupyter"
        assert f"JupyterLab cannot write in {home}/.jupyter, so it keeps its settings in {kept}.\n" in lab.printed
        assert "Starting JupyterLab. To stop it, press Ctrl-C here.\n" in lab.printed
        listed = {item["name"] for item in lab.ask("api/contents")["content"]}
        assert listed == {*NAMES, "random.py", "AGENTS.md", "TUTOR.md"}
        assert lab.ask("api/contents/02_softmax.ipynb?content=0")["type"] == "notebook"
        os.killpg(lab.process.pid, signal.SIGINT)  # as a terminal does; without one, JupyterLab does not ask again
        assert lab.process.stdout is not None
        assert "Traceback" not in lab.process.stdout.read()
        assert lab.process.wait() == 0
    finally:
        lab.end()
