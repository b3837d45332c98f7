"""The Python that a notebook names is found in its first and last bytes, whatever else it holds."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from grading.notebooks.python_version import python_version, python_versions

LANGUAGE = {"codemirror_mode": {"name": "ipython", "version": 3}, "name": "python", "version": "3.13.7"}
LONG = {"cell_type": "code", "source": ["x" * 100_000]}


def write(path: Path, notebook: object, **style: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook, **style))
    return path


@pytest.mark.parametrize("style", [{}, {"indent": 1}, {"separators": (",", ":")}], ids=str)
def test_it_is_found_at_either_end(tmp_path, style):
    metadata = {"language_info": LANGUAGE}
    for notebook in ({"cells": [LONG], "metadata": metadata}, {"metadata": metadata, "cells": [LONG]}):
        assert python_version(write(tmp_path / "a.ipynb", notebook, **style)) == (3, 13)


def test_code_that_shows_the_field_is_not_the_field(tmp_path):
    code = {"cell_type": "code", "source": [json.dumps({"language_info": {**LANGUAGE, "version": "3.99.0"}})]}
    assert python_version(write(tmp_path / "a.ipynb", {"cells": [code], "metadata": {}})) is None


@pytest.mark.parametrize("field", [{"name": "python"}, {"name": "python", "version": 3.13}, {"version": "3.131"}, "x"])
def test_a_notebook_may_name_no_version(tmp_path, field):
    assert python_version(write(tmp_path / "a.ipynb", {"cells": [], "metadata": {"language_info": field}})) is None


def test_only_ordinary_files_are_opened_and_each_version_is_counted(tmp_path):
    elsewhere = write(tmp_path / "elsewhere.ipynb", {"metadata": {"language_info": LANGUAGE}})
    submitted = tmp_path / "submitted"
    for student in ("ada", "bob"):
        write(submitted / student / "01_x" / "01_x.ipynb", {"metadata": {"language_info": LANGUAGE}})
    for name in ("link", "pipe", "folder", "empty"):
        (submitted / name / "01_x").mkdir(parents=True)
    (submitted / "link" / "01_x" / "01_x.ipynb").symlink_to(elsewhere)
    os.mkfifo(submitted / "pipe" / "01_x" / "01_x.ipynb")
    (submitted / "folder" / "01_x" / "01_x.ipynb").mkdir()
    (submitted / "empty" / "01_x" / "01_x.ipynb").touch()
    assert python_versions(submitted) == {(3, 13): 2}
    assert python_versions(tmp_path / "nothing") == {}
