"""Put the repository's address into what an index shows of the packages: `project.urls`, and the links of README.md.

    python tools/add_repository_links.py https://github.com/OWNER/NAME v0.2.0

Changes pyproject.toml, grading/pyproject.toml and README.md in the current folder. `.github/workflows/publish.yml` runs
it before it builds, since the project may be published from any repository.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

RELATIVE = re.compile(r"\]\((?!https?:|mailto:|#)([^)\s]+)\)")
URLS = """
[project.urls]
Homepage = "{address}"
Documentation = "{address}/blob/{tag}/{page}"
Changelog = "{address}/blob/{tag}/CHANGELOG.md"
Issues = "{address}/issues"
"""
PAGES = {"pyproject.toml": "docs/students.md", "grading/pyproject.toml": "docs/teachers.md"}


def with_absolute_links(text: str, address: str, tag: str) -> str:
    """Markdown whose relative links lead to the repository's files at this tag."""

    def absolute(link: re.Match[str]) -> str:
        kind = "raw" if link[1].endswith((".png", ".svg")) else "blob"
        return f"]({address}/{kind}/{tag}/{link[1]})"

    return RELATIVE.sub(absolute, text)


def main(address: str, tag: str) -> None:
    """Change the three files."""
    for name, page in PAGES.items():
        with Path(name).open("a", encoding="utf-8") as project:
            project.write(URLS.format(address=address, tag=tag, page=page))
    readme = Path("README.md")
    readme.write_text(with_absolute_links(readme.read_text(encoding="utf-8"), address, tag), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
