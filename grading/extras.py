"""Checks for packages that only some verbs need, before anything runs.

They are the optional dependencies of grading/pyproject.toml.
"""

from __future__ import annotations

from importlib.util import find_spec

from grading.errors import MissingExtra

EXTRAS = {
    "canvas": ("canvasapi", "requests"),
    "cluster": ("distributed",),
    "site": ("docutils", "myst_nb", "quickjs", "sphinx", "sphinx_book_theme", "sphinx_copybutton"),
}


def demand_package(package: str, purpose: str) -> None:
    """Raise MissingExtra if a package is missing that new installations include.

    purpose: what needs it, as in "Completion"
    """
    if find_spec(package) is None:
        raise MissingExtra(f"{purpose} needs {package}, which is not installed: run `pip install {package}`")


def demand_extra(name: str, purpose: str) -> None:
    """Raise MissingExtra unless the packages of an extra are installed.

    purpose: what needs it, as in "A web site"
    """
    if missing := [package for package in EXTRAS[name] if find_spec(package) is None]:
        raise MissingExtra(
            f"nothing was done. {purpose} needs {', '.join(missing)}, which {'is' if len(missing) == 1 else 'are'} not "
            f'installed: run `pip install "attention-course-teach[{name}]"`'
        )
