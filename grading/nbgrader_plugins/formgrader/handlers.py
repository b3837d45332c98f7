"""The formgrader's grading panel, and an *Autograde* that explains refused ids."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jinja2 import BaseLoader, ChoiceLoader, DictLoader, FileSystemLoader, PrefixLoader, pass_context
from jinja2.runtime import Context
from jupyter_server.utils import url_path_join
from nbconvert.filters import Highlight2HTML
from nbgrader.server_extensions.formgrader.apihandlers import AutogradeHandler
from nbgrader.server_extensions.formgrader.base import BaseApiHandler, check_notebook_dir, check_xsrf
from tornado import web
from tornado.ioloop import IOLoop

from ...course_dir.student_ids import why_unfit
from ...notebooks.sanitize_html import from_markdown
from ...notebooks.written_answers import LINE, written_answer
from ...safe_html import TOKENS
from .background import Grading

TEMPLATES = Path(__file__).parent / "templates"
SHARED = DictLoader({"tokens.css": TOKENS})
ADDRESS = "/grading/api/grade"
AUTOGRADE = "/formgrader/api/submission/([^/]+)/([^/]+)/autograde"  # nbgrader's
SETTING = "attention_grading"
HIGHLIGHTED = Highlight2HTML(pygments_lexer="python")


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
    """Explain why an id cannot be graded, where nbgrader says that nothing matches it.

    nbgrader reads an id with [ or * in it as a pattern.
    """

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
    _read_anew(settings)


def _add_panel(settings: dict[str, Any]) -> None:
    """Put our templates before nbgrader's, which they extend as "nbgrader/…"."""
    environment = settings.get("nbgrader_jinja2_env")
    if environment is not None:
        theirs: BaseLoader = environment.loader
        ours = FileSystemLoader(TEMPLATES)
        environment.loader = ChoiceLoader([ours, SHARED, PrefixLoader({"nbgrader": theirs}), theirs])


def _render_formulas(settings: dict[str, Any]) -> None:
    """Render Markdown and written answers like the feedback page: MathML, no script."""
    exporter = settings.get("nbgrader_exporter")
    if exporter is not None:
        exporter.filters = {**exporter.filters, "highlight_code": _code_or_answer}  # makes a new environment
        theirs: BaseLoader = exporter.environment.loader
        ours = FileSystemLoader(TEMPLATES / "notebook")
        exporter.environment.loader = ChoiceLoader([ours, SHARED, PrefixLoader({"nbgrader": theirs}), theirs])
        exporter.register_filter("markdown2html", _markdown)


def _read_anew(settings: dict[str, Any]) -> None:
    """Have nbgrader read the gradebook again for each request: it keeps one session, and would show what it read first.

    So the page shows what another program has written since, such as a grade that `grading reopen` has opened.
    """
    log: Callable[[web.RequestHandler], None] = settings["log_function"]  # tornado calls it after each request

    def end_reading(handler: web.RequestHandler) -> None:
        if (gradebook := settings.get("nbgrader_gradebook")) is not None:
            gradebook.db.rollback()  # its handlers have committed what they wrote
        log(handler)

    settings["log_function"] = end_reading


@pass_context
def _markdown(context: Context, source: str) -> str:
    return from_markdown(source, context.get("cell", {}).get("attachments"))


def _code_or_answer(source: str, language: str | None = None, metadata: Any = None) -> str:
    """Render a code cell: highlighted, or as Markdown if it answers a written question."""
    if LINE.match(source):
        return f'<div class="rendered_html">{from_markdown(written_answer(source))}</div>'
    return str(HIGHLIGHTED(source, language, metadata))
