"""How students get the package `course`: a notebook's setup cell and badge.

`c.Delivery.package` in nbgrader_config.py says where the package comes from. The build writes it into the setup cell of
every lesson that uses the package, and adds a badge if `c.Delivery.repository` says where the notebooks are published.
Does not cover: making that repository (`student_repo`).
"""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from urllib.parse import urlencode

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell
from traitlets import List, Unicode
from traitlets.config import Configurable

from ..course_dir.course_config import load_config
from ..course_dir.paths import CONFIG
from ..errors import CourseError
from . import setup_cell

PACKAGE = "attention-course"
SET_UP = "set-up"  # id of the cell
USES_THE_PACKAGE = re.compile(r"^\s*(from|import) course\b", re.M)
ADDRESS = re.compile(r"https?://[^\s\"'()<>|?#]+")
GITHUB = re.compile(r"https://github\.com/(?P<name>[\w.-]+/[\w.-]+?)(\.git)?(/tree/(?P<branch>[^\s?#]+?))?/?")
BADGE = "[![Open in Colab](https://colab.research.google.com/assets/colab-badge.svg)]({})"
TITLE = "# @title Set up: installs the package `course` if it is missing, and changes no other installed package"


class Delivery(Configurable):
    """Where students get the package from, and where the notebooks are published."""

    package = Unicode(
        "",
        help="Package that a notebook's first cell installs: '' for the wheel beside the notebook, or the "
        "URL of a wheel. {version} is replaced by the version that you release with.",
    ).tag(config=True)
    repository = Unicode(
        "",
        help="Address where students find what `grading publish` writes, such as "
        "https://github.com/you/attention or https://github.com/you/attention/tree/autumn. Badges "
        "link to it.",
    ).tag(config=True)
    hub = Unicode(
        "",
        help="Address of a JupyterHub with nbgitpuller, such as https://hub.example.edu. The page that `grading "
        "publish` writes links each notebook there, if `repository` is set.",
    ).tag(config=True)
    solutions = List(
        Unicode(),
        help="Lessons whose solutions `grading publish` adds: ['*'] for all, as in an open course; in a "
        "graded course, the lessons that are over, such as ['01_dot_products'] (default: none).",
    ).tag(config=True)


@dataclass(frozen=True)
class PackageSource:
    """The targets of setup cells and badges.

    version  version of the package that the notebooks need
    package  what pip installs: the name of a wheel beside the notebook, or a wheel's URL
    name     the repository on GitHub, "owner/name"; "" if unknown, and then without badges
    branch   branch of the repository
    hub      address of a JupyterHub with nbgitpuller; "" if there is none
    """

    version: str
    package: str
    name: str = ""
    branch: str = "main"
    hub: str = ""

    def colab(self, notebook: str) -> str:
        """The address that opens a notebook in Colab.

        `notebook`: its path in the repository.
        """
        return f"https://colab.research.google.com/github/{self.name}/blob/{self.branch}/{notebook}"

    def on_hub(self, notebook: str) -> str:
        """The address that copies the repository to a student's folder on the hub, and opens a notebook there.

        `notebook`: its path in the repository.
        """
        folder = self.name.partition("/")[2]  # where nbgitpuller puts the repository
        about = {
            "repo": f"https://github.com/{self.name}",
            "branch": self.branch,
            "urlpath": f"lab/tree/{folder}/{notebook}",
        }
        return f"{self.hub}/hub/user-redirect/git-pull?{urlencode(about)}"

    def raw(self, file: str) -> str:
        """The address of a file of the repository."""
        return f"https://github.com/{self.name}/raw/{self.branch}/{file}"


def wheel_of(number: str) -> str:
    return f"attention_course-{number}-py3-none-any.whl"


def delivery(root: Path) -> Delivery:
    """Load a course's delivery settings."""
    return Delivery(config=load_config(root))


def origin(settings: Delivery) -> PackageSource:
    """Read the package source.

    Raises CourseError for an invalid setting, or for a version that is not installed here.
    """
    number = version(PACKAGE)
    package = settings.package.replace("{version}", number) or wheel_of(number)
    if package != wheel_of(number):
        _check_wheel_url(package, number)
    if settings.hub and not ADDRESS.fullmatch(settings.hub):
        raise CourseError(
            f"{CONFIG}: c.Delivery.hub: expected the address of a JupyterHub, such as https://hub.example.edu, got "
            f"{settings.hub!r}"
        )
    if not settings.repository:
        return PackageSource(number, package)
    found = GITHUB.fullmatch(settings.repository)
    if not found:
        raise CourseError(
            f"{CONFIG}: c.Delivery.repository: expected https://github.com/OWNER/NAME, with /tree/BRANCH "
            f"after it if the branch is not main, got {settings.repository!r}"
        )
    return PackageSource(number, package, found["name"], found["branch"] or "main", settings.hub.rstrip("/"))


def _check_wheel_url(package: str, number: str) -> None:
    if not re.fullmatch(r"https?://[^\s\"'\\]+/attention_course-[^/\s\"'\\]+\.whl", package):
        raise CourseError(
            f"{CONFIG}: c.Delivery.package: expected the URL of a wheel, attention_course-….whl, "
            f"got {package!r}. Leave it empty for the wheel beside the notebook"
        )
    if not package.endswith("/" + wheel_of(number)):
        raise CourseError(
            f"{CONFIG}: c.Delivery.package is {package!r}, but version {number} is installed here. Name "
            f"its wheel, {wheel_of(number)}, or write {{version}} instead of the number"
        )


def first_cell(where: PackageSource) -> str:
    """The code of a setup cell: the function in setup_cell.py, and its call."""
    code = inspect.getsource(setup_cell.set_up).rstrip()
    return f'{TITLE}\n{code}\n\n\nset_up("{where.package}", "{where.version}")\ndel set_up'


def insert_setup_cell(notebook: NotebookNode, path: str, where: PackageSource) -> None:
    """Insert or replace the setup cell, the badge and Colab's metadata.

    The setup cell comes before the first use of the package. `path`: the notebook's path in the repository.
    """
    cells = notebook.cells = [cell for cell in notebook.cells if cell.get("id") != SET_UP]
    uses = [i for i, c in enumerate(cells) if c.cell_type == "code" and USES_THE_PACKAGE.search(c.source)]
    if not uses:
        return
    marks = {"tags": ["code"], "cellView": "form", "jupyter": {"source_hidden": True}}
    cells.insert(uses[0], new_code_cell(first_cell(where), id=SET_UP, metadata=marks))
    notebook.metadata["colab"] = {"provenance": [], "toc_visible": True}
    if where.name and cells[0].cell_type == "markdown":
        title, *rest = cells[0].source.split("\n")
        kept = rest[2:] if rest[1:] and rest[1].startswith(BADGE.partition("]")[0]) else rest
        cells[0].source = "\n".join([title, "", BADGE.format(where.colab(path)), *kept])
