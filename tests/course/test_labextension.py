"""The extension of JupyterLab and Notebook that the student's package brings."""

from __future__ import annotations

import hashlib
import json
from importlib.metadata import version

import pytest
from jupyterlab_server.config import get_federated_extensions

from ..support.installed import install
from ..support.repository import ROOT

FOLDER = ROOT / "course" / "labextension"
ABOUT = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))
FILE, _, HASH = next(value for name, value in ABOUT["jupyterlab"].items() if name != "extension")["load"].partition(
    "?v="
)


def test_its_address_changes_with_its_code():
    """Browsers keep a file of the same address, also after an upgrade."""
    code = hashlib.sha256((FOLDER / FILE).read_bytes()).hexdigest()[: len(HASH)]
    assert len(HASH) == 8
    assert code == HASH, f"course/labextension/package.json: write {FILE}?v={code}"


def test_it_has_the_version_of_the_package():
    assert ABOUT["version"] == version("attention-course"), "set it in course/labextension/package.json"


def test_a_page_of_the_extension_asks_no_other_server():
    code = (FOLDER / FILE).read_text(encoding="utf-8")
    assert [word for word in ("fetch(", "XMLHttpRequest", "import(", "eval(", "innerHTML") if word in code] == []


@pytest.mark.full("installs the wheel into a new environment")
def test_jupyter_finds_it_where_pip_installs_the_wheel(wheels, tmp_path):
    python = install(tmp_path / "environment", "attention-course", wheels)
    place = python.parents[1] / "share" / "jupyter" / "labextensions"
    found = get_federated_extensions([str(place)])
    others = ["@jupyter-widgets/jupyterlab-manager"]  # it comes with ipywidgets
    assert sorted(found) == [*others, "attention-course"]
    assert (place / "attention-course" / FILE).read_bytes() == (FOLDER / FILE).read_bytes()
