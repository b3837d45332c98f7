"""The formgrader's lists of assignments and submissions, with a panel from which all that is new is graded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import BaseLoader, ChoiceLoader, FileSystemLoader, PrefixLoader, pass_context
from jinja2.runtime import Context
from jupyter_server.utils import url_path_join
from nbgrader.server_extensions.formgrader.base import BaseApiHandler, check_notebook_dir, check_xsrf
from tornado import web
from tornado.ioloop import IOLoop

from ...notebooks.sanitize_html import from_markdown
from .background import Grading

TEMPLATES = Path(__file__).parent / "templates"
ADDRESS = "/grading/api/grade"
SETTING = "attention_grading"


class GradeHandler(BaseApiHandler):
    """GET: how the grading stands. POST: begin it, for all lessons or `{"lesson": name}`. DELETE: stop it."""

    @property
    def grading(self) -> Grading:
        found: Grading = self.settings[SETTING]
        return found

    @web.authenticated
    @check_xsrf
    @check_notebook_dir
    def get(self) -> None:
        self.finish(self.grading.state())

    @web.authenticated
    @check_xsrf
    @check_notebook_dir
    async def post(self) -> None:
        lesson = (self.get_json_body() or {}).get("lesson")
        if lesson is not None and lesson not in self.api.get_source_assignments():
            raise web.HTTPError(404, f"There is no lesson {lesson}.")
        await self.grading.start(Path(self.coursedir.root), [lesson] if lesson else [])
        self.finish(self.grading.state())

    @web.authenticated
    @check_xsrf
    @check_notebook_dir
    def delete(self) -> None:
        self.grading.stop()
        self.finish(self.grading.state())


def install(app: Any) -> None:
    """Add the panel and its address to a Jupyter server."""
    app.settings[SETTING] = Grading()
    app.add_handlers(".*$", [(url_path_join(app.settings["base_url"], ADDRESS), GradeHandler)])
    IOLoop.current().add_callback(_extend, app.settings)  # when every extension is there, the formgrader too


def _extend(settings: dict[str, Any]) -> None:
    _with_the_panel(settings)
    _with_formulas(settings)


def _with_the_panel(settings: dict[str, Any]) -> None:
    """Pages of ours come before nbgrader's of the same name, which they extend as "nbgrader/…"."""
    environment = settings.get("nbgrader_jinja2_env")
    if environment is not None:
        theirs: BaseLoader = environment.loader
        environment.loader = ChoiceLoader([FileSystemLoader(TEMPLATES), PrefixLoader({"nbgrader": theirs}), theirs])


def _with_formulas(settings: dict[str, Any]) -> None:
    """Render Markdown in the formgrader as the feedback page does: with MathML, and no script for formulas."""
    exporter = settings.get("nbgrader_exporter")
    if exporter is not None:
        theirs: BaseLoader = exporter.environment.loader
        ours = FileSystemLoader(TEMPLATES / "notebook")
        exporter.environment.loader = ChoiceLoader([ours, PrefixLoader({"nbgrader": theirs}), theirs])
        exporter.register_filter("markdown2html", _markdown)


@pass_context
def _markdown(context: Context, source: str) -> str:
    return from_markdown(source, context.get("cell", {}).get("attachments"))
