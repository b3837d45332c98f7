"""Checks for packages that only some verbs need, before anything runs.

They are the optional dependencies of grading/pyproject.toml, read from the metadata of the installed distribution.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution, requires
from importlib.util import find_spec

from packaging.requirements import Requirement

from grading.errors import MissingExtra


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
    demanded = map(Requirement, requires("attention-course-teach") or [])
    extra = [wanted for wanted in demanded if wanted.marker and wanted.marker.evaluate({"extra": name})]
    if missing := [wanted for wanted in extra if not _is_installed(wanted.name)]:
        quoted = " ".join(f'"{wanted.name}{wanted.specifier}"' for wanted in missing)
        raise MissingExtra(
            f"nothing was done. {purpose} needs {', '.join(wanted.name for wanted in missing)}, which "
            f"{'is' if len(missing) == 1 else 'are'} not installed: run `pip install {quoted}`"
        )


def _is_installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True
