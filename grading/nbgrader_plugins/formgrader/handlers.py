"""A panel in the formgrader's lists, and its *Autograde*, which says why it cannot take a student's id."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jinja2 import BaseLoader, ChoiceLoader, FileSystemLoader, PrefixLoader, pass_context
from jinja2.runtime import Context
from jupyter_server.utils import url_path_join
from nbgrader.server_extensions.formgrader.apihandlers import AutogradeHandler
from nbgrader.server_extensions.formgrader.base import BaseApiHandler, check_notebook_dir, check_xsrf
from tornado import web
from tornado.ioloop import IOLoop

from ...course_dir.student_ids import why_unfit
from ...notebooks.sanitize_html import from_markdown
from .background import Grading

TEMPLATES = Path(__file__).parent / "templates"
ADDRESS = "/grading/api/grade"
AUTOGRADE = "/formgrader/api/submission/([^/]+)/([^/]+)/autograde"  # nbgrader's
SETTING = "attention_grading"


class GradeHandler(BaseApiHandler):
    """GET: state of the run. POST: start one, for all lessons or `{"lesson": name}`. DELETE: stop it."""

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


class NamedAutogradeHandler(AutogradeHandler):
    """nbgrader's, which takes an id with [ or * in it for a pattern, and says that nothing matches it."""

    @web.authenticated
    @check_xsrf
    @check_notebook_dir
    def post(self, assignment_id: str, student_id: str) -> None:
        if why := why_unfit(student_id):
            self.write(json.dumps({"success": False, "error": why, "log": f"[ERROR] {why}\n"}))
        else:
            super().post(assignment_id, student_id)


def install(app: Any) -> None:
    """Add the panel and its address to a Jupyter server.

    The server asks extensions in the order of their names, so this one's handler comes before nbgrader's.
    """
    app.settings[SETTING] = Grading()
    base = app.settings["base_url"]
    handlers = {ADDRESS: GradeHandler, AUTOGRADE: NamedAutogradeHandler}
    app.add_handlers(".*$", [(url_path_join(base, address), handler) for address, handler in handlers.items()])
    IOLoop.current().add_callback(_extend, app.settings)  # after all extensions, the formgrader too, are loaded


def _extend(settings: dict[str, Any]) -> None:
    _add_panel(settings)
    _render_formulas(settings)


def _add_panel(settings: dict[str, Any]) -> None:
    """Put our templates before nbgrader's. They extend those of the same name as "nbgrader/…"."""
    environment = settings.get("nbgrader_jinja2_env")
    if environment is not None:
        theirs: BaseLoader = environment.loader
        environment.loader = ChoiceLoader([FileSystemLoader(TEMPLATES), PrefixLoader({"nbgrader": theirs}), theirs])


def _render_formulas(settings: dict[str, Any]) -> None:
    """Render the formgrader's Markdown like the feedback page: MathML and no script."""
    exporter = settings.get("nbgrader_exporter")
    if exporter is not None:
        theirs: BaseLoader = exporter.environment.loader
        ours = FileSystemLoader(TEMPLATES / "notebook")
        exporter.environment.loader = ChoiceLoader([ours, PrefixLoader({"nbgrader": theirs}), theirs])
        exporter.register_filter("markdown2html", _markdown)


@pass_context
def _markdown(context: Context, source: str) -> str:
    return from_markdown(source, context.get("cell", {}).get("attachments"))
