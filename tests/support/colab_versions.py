"""What a fresh machine of Colab has, as far as a lesson's first cell depends on it. It has no `course`.

    cat os-info.txt pip-freeze.txt | python -m tests.support.colab_versions

compares it with these files of googlecolab/backend-info, prints the differences, and fails if there are any.
"""

from __future__ import annotations

import re
import sys

# https://github.com/googlecolab/backend-info at a7240792, of 2026-08-19
PYTHON = "3.13"
COLAB = (
    "torch==2.11.0",
    "numpy==2.1.3",
    "ipython==7.34.0",
    "ipykernel==6.17.1",
    "ipywidgets==7.7.1",
    "matplotlib==3.10.0",
    "pillow==11.3.0",
    "safetensors==0.8.0",
)


def differences(files: str) -> list[str]:
    """What is different in the text of os-info.txt and pip-freeze.txt, one line each."""
    found = dict(re.findall(r"^([\w.-]+)(?:==| @ \S*/[\w.]+-)(\d+(?:\.\w+)*)", files, re.M))
    python = re.search(r"^Python (\d+\.\d+)", files, re.M)
    here = {"Python": PYTHON, **dict(one.split("==") for one in COLAB)}
    there = {**found, "Python": python[1] if python else None}
    return [f"{name}: expected {here[name]}, got {there.get(name)}" for name in here if there.get(name) != here[name]]


if __name__ == "__main__":
    changed = differences(sys.stdin.read())
    print(*changed or ["Colab has the versions of tests/support/colab_versions.py"], sep="\n")
    sys.exit(bool(changed))
