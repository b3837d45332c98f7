"""The container images for learners, and Binder's: what can be tried of them without building one."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from importlib.metadata import distribution
from pathlib import Path

import pytest

from course import cli

from .support.installed import demanded, linked
from .support.repository import ROOT

IMAGE = ROOT / ".devcontainer"
BINDER = ROOT / ".binder"
CPU = "https://download.pytorch.org/whl/cpu"
PINNED = (ROOT / "constraints.txt").read_text().splitlines()


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's instructions, each with its arguments."""
    lines = [line for line in (IMAGE / "Dockerfile").read_text().splitlines() if line and not line.startswith("#")]
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in lines)]


def pip_lines() -> list[str]:
    """What each file has pip do, for a folder like the repository's top."""
    runs = [rest for word, rest in instructions() if word == "RUN" and rest.startswith("pip ")]
    return [*runs, "pip install -r .binder/requirements.txt"]


def test_versions_are_those_of_the_constraints():
    named = re.findall(r"\b([\w.-]+==[\w.+-]+)", "\n".join([(IMAGE / "Dockerfile").read_text(), *binder()]))
    assert [name.split("==")[0] for name in named] == ["torch", "torch"]
    assert set(named) <= set(PINNED)
    assert "-c constraints.txt" in pip_lines()[1] and "-c ../constraints.txt" in binder()
    python = (BINDER / "runtime.txt").read_text().strip().removeprefix("python-")
    assert ("FROM", f"python:{python}-slim") in instructions()
    assert python in re.findall(r"\d\.\d+", PINNED[0])


def binder() -> list[str]:
    return (BINDER / "requirements.txt").read_text().splitlines()


def test_torch_comes_in_its_cpu_build():
    assert pip_lines()[0].endswith(f"--index-url {CPU}")
    assert f"--extra-index-url {CPU}" in binder()


def copy_as_the_image_does(folder: Path) -> None:
    """Put into a folder what the Dockerfile copies into its image."""
    for *sources, target in (shlex.split(rest) for word, rest in instructions() if word == "COPY"):
        for source in sources:
            into = folder / target / (source if target.endswith("/") else "")
            into.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if (ROOT / source).is_dir() else shutil.copy)(ROOT / source, into)


def test_the_image_gets_the_package_and_no_solution(tmp_path):
    copy_as_the_image_does(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        "README.md", "LICENSE", "constraints.txt", "course", "grading", "pyproject.toml", "release",
    }  # fmt: skip
    assert [path.name for path in (tmp_path / "grading").iterdir()] == ["pyproject.toml"]


def test_the_editors_file_names_the_image_and_its_user():
    settings = json.loads((IMAGE / "devcontainer.json").read_text())
    assert (IMAGE / settings["build"]["dockerfile"]).is_file()
    assert (IMAGE / settings["build"]["context"]).resolve() == ROOT
    assert ("USER", settings["remoteUser"]) in instructions()


def test_the_images_command_is_one_of_attention(tmp_path, monkeypatch, capsys):
    (command,) = (json.loads(rest) for word, rest in instructions() if word == "CMD")
    assert command[0] == "attention"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cli, "find_spec", lambda name: None)  # as where JupyterLab is not installed
    assert cli.main(command[1:]) == 2
    assert "JupyterLab is not installed" in capsys.readouterr().err
    assert list((tmp_path / "attention-lessons").glob("*.ipynb"))
    assert ("RUN", "mkdir attention-lessons") in instructions()


@pytest.mark.full("installs the course into new environments")
@pytest.mark.parametrize("files", ["image", "binder"])
def test_the_pip_lines_install_the_course_at_the_versions_of_the_constraints(files, tmp_path):
    """In an environment that has everything but the course: pip fetches nothing, and must find every version right."""
    ours = {"attention-course": distribution("attention-course")}
    needed = {**demanded("attention-course", ours), **demanded("jupyterlab", {}), **demanded("hatchling", {})}
    python = linked(
        tmp_path / "environment", [found for name, found in needed.items() if name not in ours], with_pip=True
    )
    folder = tmp_path / "src"
    copy_as_the_image_does(folder)
    shutil.copytree(BINDER, folder / BINDER.name)
    *image, last = pip_lines()
    # pip reads 0 as "no isolation": the line's own build would fetch hatchling
    offline = {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0", "PYTHONPATH": ""}
    for line in image if files == "image" else [last]:
        command = [str(python), "-m", *shlex.split(line)]
        done = subprocess.run(command, cwd=folder, env={**os.environ, **offline}, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    freeze = [str(python), "-m", "pip", "freeze", "--exclude", "attention-course"]
    kept = subprocess.run(freeze, env={**os.environ, **offline}, capture_output=True, text=True, check=True).stdout
    names = {line.split("==")[0].lower().replace("_", "-"): line for line in PINNED if "==" in line}
    found = {line.split("==")[0].lower().replace("_", "-"): line.split("+")[0] for line in kept.splitlines()}
    assert found and all(names[name].lower() == line.lower() for name, line in found.items())
    start = [str(python.with_name("attention")), "start", "--help"]
    told = subprocess.run(
        start, cwd=tmp_path, env={**os.environ, **offline}, capture_output=True, text=True, check=True
    )
    assert "usage: attention start" in told.stdout
