"""A Jupyter server extension to grade new submissions from nbgrader's formgrader.

`server.json` enables it wherever the engine is installed.
"""

from __future__ import annotations

from typing import Any


def _jupyter_server_extension_points() -> list[dict[str, Any]]:
    return [{"module": "grading.nbgrader_plugins.formgrader"}]


def _load_jupyter_server_extension(server: Any) -> None:
    from .handlers import install

    install(server.web_app)
