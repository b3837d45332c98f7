"""Environments with our wheels as people install them: what is imported and not declared is not there.

An environment holds our wheels, put there by pip, and exactly the packages that the wheels' metadata demands, linked
from the environment of the tests.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Callable, Iterable
from importlib.metadata import Distribution, EntryPoint, PathDistribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

SCRIPT = "#!{python}\nimport sys\nfrom {module} import {attr}\nsys.exit({attr}())\n"

Run = Callable[..., str]


def described(wheel: Path) -> Distribution:
    """A wheel's metadata."""
    (folder,) = (path for path in zipfile.Path(wheel).iterdir() if path.name.endswith(".dist-info"))
    return PathDistribution(folder)


def scripts(found: Distribution) -> list[EntryPoint]:
    return [entry for entry in found.entry_points if entry.group == "console_scripts"]


def demanded(wanted: str, ours: dict[str, Distribution]) -> dict[str, Distribution]:
    """What pip would install for the requirement `wanted`: `ours`, the rest as it is installed here."""
    todo, seen = [Requirement(wanted)], dict[tuple[str, str], Distribution]()
    while todo:
        requirement = todo.pop()
        name = canonicalize_name(requirement.name)
        for extra in ("", *requirement.extras):
            if (name, extra) in seen:
                continue
            found = seen[name, extra] = ours.get(name) or distribution(name)
            assert requirement.specifier.contains(found.version, prereleases=True), requirement
            lines = map(Requirement, found.requires or [])
            todo += [line for line in lines if line.marker is None or line.marker.evaluate({"extra": extra})]
    return {name: found for (name, _), found in seen.items()}


def linked(folder: Path, needed: Iterable[Distribution], with_pip: bool = False) -> Path:
    """A virtual environment with these distributions, as they are installed here; returns its Python."""
    venv.create(folder, with_pip=with_pip, symlinks=True)
    python = folder / "bin" / "python"
    for found in needed:
        for file in found.files or ():
            path = Path(os.path.normpath(found.locate_file(file)))
            inside = path.relative_to(sys.prefix)
            if inside.parts[0] != Path(sysconfig.get_path("scripts")).name and path.is_file():
                (folder / inside).parent.mkdir(parents=True, exist_ok=True)
                link(path, folder / inside)
        for entry in scripts(found):
            made = folder / "bin" / entry.name
            made.write_text(SCRIPT.format(python=python, module=entry.module, attr=entry.attr))
            made.chmod(0o755)
    return python


def install(folder: Path, wanted: str, wheels: dict[str, Path]) -> Path:
    """A virtual environment in which `wanted` was installed from these wheels; returns its Python."""
    metadata = {canonicalize_name(described(wheel).name): wheel for wheel in wheels.values()}
    needed = demanded(wanted, {name: described(wheel) for name, wheel in metadata.items()})
    python = linked(folder, [found for name, found in needed.items() if name not in metadata])
    files = [str(wheel) for name, wheel in metadata.items() if name in needed]
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(python)]
    subprocess.run([*pip, "install", "--quiet", "--no-deps", "--no-index", *files], check=True)
    return python


def link(path: Path, to: Path) -> None:
    """A hard link, which the sandbox takes for the file that it is; a copy where it would lie on another disk."""
    try:
        os.link(path, to)
    except OSError:
        shutil.copy2(path, to)


def runner(python: Path, home: Path) -> Run:
    """run(directory, program, *arguments, status=0) by this environment alone: what it printed. Raises where it fails.

    More named arguments are variables of its environment.
    """
    home.mkdir()
    environment = {"PATH": f"{python.parent}{os.pathsep}{os.defpath}", "HOME": str(home), "LANG": "C.UTF-8"}

    def run(directory: Path, program: str, *arguments: str, status: int = 0, **more: str) -> str:
        command = [str(python.parent / program), *arguments]
        done = subprocess.run(command, cwd=directory, env=environment | more, capture_output=True, text=True)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout

    return run
