"""Put this folder into the wheel as the package `grading`.

Settings of hatchling alone are not enough. `sources = {"" = "grading"}` would also move the setting for Jupyter's
server (`shared-data`) below `grading/`; `packages` and `only-include` accept no path outside this folder; and a static
`force-include` would also copy the package into an editable installation (`pip install -e`), for which this hook
includes nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

CONFIG = "nbgrader_config.py"  # of every course, which `grading init` writes
FINGERPRINTS = "grader_tests/fingerprints.json"  # of the student's check data, and of proofs
SUFFIXES = {".py", ".css", ".j2", ".js", ".tpl", ".woff2"}
DATA = {"fingerprints.json", "LICENSE-KaTeX"}


class Package(BuildHookInterface[Any]):
    """Include the files of the package in a wheel that is to be published."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "standard":
            root = Path(self.root)
            every = (file for file in root.rglob("*") if file.suffix in SUFFIXES or file.name in DATA)
            files = (file for file in every if file != Path(__file__))
            if not (root / "PKG-INFO").exists():  # in the repository; an sdist has both files in templates/
                build_data["force_include"][str(root.parent / CONFIG)] = f"grading/templates/{CONFIG}"
                build_data["force_include"][str(root.parent / FINGERPRINTS)] = "grading/templates/fingerprints.json"
            build_data["force_include"] |= {str(file): f"grading/{file.relative_to(root)}" for file in files}
