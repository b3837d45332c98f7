"""The page that a learner gets back: points, findings and the notebook itself.

One HTML file that needs no server, no internet and no script: figures are in it, equations are MathML, and a content
security policy forbids the rest. Student text is sanitized (`sanitize_html`); reports are made again from the
verdicts; hidden tests are removed. `nbgrader generate_feedback` has a judge make the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import nbformat
from jinja2 import Environment
from markupsafe import Markup
from nbconvert.filters import strip_ansi
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from course.cell_kinds import is_left_out
from course.report import MARKS, Report
from course.report_html import STYLE, to_html
from grading.grader.cell_code import same_code
from grading.grader.verdict import ExerciseVerdict
from grading.grader.verdict_report import to_report
from grading.notebooks.cells import RECORD, check_call, exercise_named, grade_id, title_of, visible
from grading.notebooks.verdict_cell import has_verdict, is_autograded, nbgrader_metadata, verdict_of
from grading.notebooks.written_answers import answered_question, written_answer

from ..judge.job import CellGrade, GradebookView, PageRequest
from ..judge.messages import RenderedPage
from ..notebooks import sanitize_html
from ..notebooks.answers_beside import PICTURES
from ..notebooks.named_pictures import all_pictures
from ..notebooks.submitted_file import UNREADABLE
from ..points import points_text
from ..safe_html import page_templates

TEMPLATES, TEMPLATE = Path(__file__).parent / "templates", "feedback.html.j2"
HEADING = re.compile(r"<(/?)h([1-6])\b")
SECTION_ID = re.compile(rf' id="({sanitize_html.SECTION}[^"]*)"')
WIDGET = re.compile(r"\w+\((children|value|description|options|layout)=")
BY_A_PERSON = ("✎", "graded by a person", "person")
NO_RESPONSE = "No response."  # nbgrader's comment on an unchanged answer, which the status already says
NOTHING = Markup("")
MAX_OUTPUT = 20_000  # characters of one text output


def warm(lesson: None) -> None:
    """Prepare once what many pages need."""
    _rehearse()


@lru_cache(maxsize=1)
def _rehearse() -> None:
    """Make a page to trigger lazy set-up, which is nine tenths of a judge's time."""
    code = new_code_cell("x = 1  # a number", outputs=[new_output("stream", text="1")])
    nb = new_notebook(cells=[new_markdown_cell("# A lesson\n\nWith $x_1$ and <b>bold</b>."), code])
    for _ in run(PageRequest("", GradebookView(student="")), nbformat.writes(nb).encode(), None):
        pass


def prepare(request: PageRequest, place: Path) -> None:
    """Do nothing: a page takes no further rights."""


def run(request: PageRequest, data: bytes, ready: None) -> Iterator[RenderedPage]:
    """Make the page of a graded notebook; yields one message."""
    nb = nbformat.reads(data.decode(), as_version=4)
    for cell in nb.cells:
        if nbgrader_metadata(cell).get("locked"):
            cell.source = visible(cell.source)
    page = FeedbackPage.of(nb, request.notebook, request.known)
    yield RenderedPage(normalise_headings(_environment().get_template(TEMPLATE).render(page=page)))


@dataclass(frozen=True)
class ExercisePage:
    """One graded cell as the page shows it."""

    name: str
    earned: float
    points: float
    mark: str
    status: str
    tone: str
    anchor: str
    report: Report | None = None
    by_a_person: bool = False
    open: bool = False  # no points are given or lost yet
    again: bool = False  # a person looks again at the points


@dataclass(frozen=True)
class Cell:
    """A cell on the page. kind: "text", "code", "answer" (named), "exercise"."""

    kind: str
    html: Markup = NOTHING
    outputs: tuple[Markup, ...] = ()
    name: str = ""
    exercise: ExercisePage | None = None
    comment: Markup = NOTHING
    model: Markup = NOTHING  # rubric and model answer
    prose: bool = False  # whether `html` is text rather than code
    answer: bool = False  # whether `html` is the student's own, and graded where it is


@dataclass(frozen=True)
class FeedbackPage:
    """The data of the template."""

    title: str
    lesson: str
    student: str
    earned: float
    points: float
    open: float
    again: float
    late_penalty: float
    late: str
    exercises: list[ExercisePage]
    cells: list[Cell]
    repairs: list[str]
    unreadable: str
    not_collected: list[str]
    sandboxed: bool
    sections: frozenset[str]
    not_run: bool
    whole: bool
    code_styles: Markup

    @classmethod
    def of(cls, nb: NotebookNode, name: str, known: GradebookView) -> FeedbackPage:
        record, pictures = nb.metadata.get(RECORD, {}), all_pictures(nb.cells)
        for cell in filter(answered_question, nb.cells):
            cell["attachments"] = pictures  # which are in a cell below
        shown = [cell for cell in nb.cells if not _is_omitted(cell, known)]
        cells = [_cell(cell, known) for cell in shown]
        exercises = [cell.exercise for cell in cells if cell.exercise is not None]
        return cls(
            title=known.title or title_of(c.source for c in nb.cells if c.cell_type == "markdown") or name,
            lesson=name,
            student=known.student,
            earned=max(0.0, sum(e.earned for e in exercises) - known.late_penalty),
            points=sum(e.points for e in exercises),
            open=sum(e.points for e in exercises if e.open),
            again=sum(e.points for e in exercises if e.again),
            late_penalty=known.late_penalty,
            late=known.late,
            exercises=exercises,
            cells=[cell for cell in cells if cell.html or cell.outputs or cell.exercise],
            repairs=[str(text) for text in record.get("repairs", [])],
            unreadable=str(record.get("unreadable", "")),
            not_collected=list(known.not_collected),
            sandboxed=bool(record.get("sandboxed", True)),
            sections=frozenset(SECTION_ID.findall("".join(c.html for c in cells if c.kind == "text"))),
            not_run=any(c.cell_type == "code" and not c.outputs and is_left_out(c.metadata, c.source) for c in shown),
            whole=not known.left_out,
            code_styles=Markup(sanitize_html.styles_of_code()),
        )


def _is_omitted(cell: NotebookNode, known: GradebookView) -> bool:
    """Whether to omit a cell: an unreadable file's notice, the lesson's own text, pictures shown in the answer above."""
    if PICTURES in cell.metadata.get("tags", []):
        return True
    marks = nbgrader_metadata(cell)
    if marks.get("grade") or marks.get("solution") or marks.get("task"):
        return False
    return cell.get("id") == UNREADABLE or cell.source.strip() in known.left_out


def _cell(cell: NotebookNode, known: GradebookView) -> Cell:
    name = grade_id(cell)
    comment = _comment(known, name)
    marks = nbgrader_metadata(cell)
    if marks.get("grade") or marks.get("task"):
        own = marks.get("solution") or marks.get("task")  # it holds an answer that a person grades
        shown = _body(cell) if own else _extra_check_code(cell, name)
        model = sanitize_html.from_markdown(known.models[name]) if name in known.models else NOTHING
        exercise = _exercise(cell, name, known)
        prose, answer = bool(own and _is_prose(cell)), bool(marks.get("solution"))
        return Cell("exercise", shown, (), name, exercise, comment, model, prose, answer)
    kind = "answer" if marks.get("solution") else "text" if cell.cell_type == "markdown" else "code"
    return Cell(kind, _body(cell), tuple(_outputs(cell)), name, comment=comment, prose=_is_prose(cell))


def _is_prose(cell: NotebookNode) -> bool:
    return cell.cell_type == "markdown" or bool(answered_question(cell))


def _comment(known: GradebookView, name: str) -> Markup:
    text = known.comments.get(name, "")
    return sanitize_html.from_markdown(text) if text and text != NO_RESPONSE else NOTHING


def _body(cell: NotebookNode) -> Markup:
    if not cell.source.strip():
        return NOTHING
    if answered_question(cell):
        return sanitize_html.from_markdown(written_answer(cell.source), cell.get("attachments"), deeper=1)
    if cell.cell_type == "markdown":
        return sanitize_html.from_markdown(cell.source, cell.get("attachments"), deeper=1)
    return (
        sanitize_html.code(cell.source) if cell.cell_type == "code" else Markup("<code>{}</code>").format(cell.source)
    )


def _extra_check_code(cell: NotebookNode, name: str) -> Markup:
    """The code of a grade cell that learners see, besides the call of `check`."""
    source = visible(cell.source).strip()
    return sanitize_html.code(source) if source and not same_code(source, check_call(exercise_named(name))) else NOTHING


def _exercise(cell: NotebookNode, name: str, known: GradebookView) -> ExercisePage:
    verdict = _verdict(cell)
    grade = known.grades.get(name)
    if grade is None:  # graded elsewhere
        points = float(cell.metadata["nbgrader"].get("points", 0.0))
        grade = CellGrade(verdict.earned if verdict else 0.0, verdict.points if verdict else points)
        waiting = verdict is None or verdict.status == "needs a person"
        again = False
    else:
        waiting, again = grade.waiting, grade.waiting and grade.given
    if waiting:
        mark, status, tone = MARKS["needs a person"]
    elif grade.manual:
        mark, status, tone = BY_A_PERSON
    else:
        unknown = "needs a person" if is_autograded(cell) else "not started"  # or a verdict of another version
        mark, status, tone = MARKS[verdict.status if verdict else unknown]
    exercise = exercise_named(name)
    return ExercisePage(
        exercise,
        grade.score,
        grade.points,
        mark,
        status,
        tone,
        f"exercise-{exercise}",
        report=to_report(verdict) if verdict else None,
        by_a_person=grade.manual and not waiting,
        open=waiting and not again,
        again=again,
    )


def _verdict(cell: NotebookNode) -> ExerciseVerdict | None:
    """The verdict in a graded cell; only there are the outputs the grader's own."""
    if not is_autograded(cell) or not has_verdict(cell):
        return None
    try:
        verdict = verdict_of(cell)
    except (TypeError, ValueError):  # from another version of the course: the gradebook still has the points
        return None
    return verdict if verdict.status in MARKS else None


def _outputs(cell: NotebookNode) -> list[Markup]:
    found = [_output(output) for output in cell.get("outputs", [])]
    return [shown for shown in found if shown]


def _output(output: NotebookNode) -> Markup:
    if output.output_type == "stream":
        return _text(output.text)
    if output.output_type == "error":
        return _text("\n".join(output.traceback) or f"{output.ename}: {output.evalue}")
    data = {mime: "".join(value) if isinstance(value, list) else value for mime, value in output.data.items()}
    plain = str(data.get("text/plain", ""))
    if "application/vnd.jupyter.widget-view+json" in data or WIDGET.match(plain):
        return Markup('<p class="aside">Interactive control: open the notebook to use it.</p>')
    for mime in ("text/html", "image/png", "image/jpeg", "text/markdown", "text/latex"):
        if isinstance(data.get(mime), str):
            return _rich(mime, data[mime], plain)
    return _text(plain) if plain else NOTHING


def _rich(mime: str, content: str, plain: str) -> Markup:
    if mime == "text/html":
        return sanitize_html.from_html(content)
    if mime == "text/markdown":
        return sanitize_html.from_markdown(content, deeper=2)
    if mime == "text/latex":
        return Markup("<p>{}</p>").format(sanitize_html.equation(content.strip().strip("$"), display=True))
    picture = f"data:{mime};base64,{''.join(content.split())}"
    alt = plain if plain and not plain.startswith("<") else "A figure without a description"
    return sanitize_html.from_html(Markup('<img alt="{}" src="{}">').format(alt, picture))


def _text(text: str) -> Markup:
    text = strip_ansi(text)
    cut = text if len(text) <= MAX_OUTPUT else f"{text[:MAX_OUTPUT]}\n… cut: {len(text):,} characters in all"
    return Markup("<pre>{}</pre>").format(cut.rstrip("\n")) if cut.strip() else NOTHING


def normalise_headings(page: str) -> str:
    """Limit headings to one level below the previous; drop duplicate ids."""
    level, opened, seen = 0, list[int](), set[str]()

    def renumber(found: re.Match[str]) -> str:
        nonlocal level
        if found[1]:
            return f"</h{opened.pop() if opened else found[2]}"
        level = min(int(found[2]), level + 1)
        opened.append(level)
        return f"<h{level}"

    def drop_duplicate(found: re.Match[str]) -> str:
        new = found[0] not in seen
        seen.add(found[0])
        return found[0] if new else ""

    return SECTION_ID.sub(drop_duplicate, HEADING.sub(renumber, page))


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = page_templates(TEMPLATES)
    environment.filters |= {"slug": sanitize_html.slug, "report": _report}
    environment.globals |= {"report_styles": Markup(STYLE), "points": points_text}
    return environment


def _report(report: Report, sections: frozenset[str]) -> Markup:
    """The HTML of a report, which links to its section if that is on the page."""
    section = sanitize_html.slug(report.see)
    return Markup(to_html(report, style=False, links={report.see: f"#{section}"} if section in sections else {}))
