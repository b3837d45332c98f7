"""What is left of a hostile notebook in autograded/: nothing that runs, within sizes, and all that is for reading."""

from __future__ import annotations

import base64
import copy
import json
import time
from typing import Any

import nbformat
import pytest
from nbconvert.exporters import HTMLExporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output, new_raw_cell
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde

from grading.grader.verdict import needs_a_person
from grading.notebooks import sanitize_markdown
from grading.notebooks.sanitize import MAX_CODE, MAX_CODES, MAX_OUTPUTS, MAX_PROSE, clean, is_picture
from grading.notebooks.verdict_cell import write_verdict

from ..support.html_pages import Elements
from ..support.nbgrader_runner import run_converter
from ..support.two_exercise_course import DOUBLE, HALVE, LESSON, submit_file, with_answers
from .test_sanitize_html import HOSTILE_MARKDOWN

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(64)).decode()
KEPT = [
    "# A title\n\nText with **bold**, *italics*, `code <b>`, a < b, 3 > 2 & more.",
    "A [link](https://example.org/a?b=c), <https://example.org>, [a place](#here), <a@example.org>.",
    "- one\n- two\n  1. three\n\n> quoted\n\n| a | b |\n|---|:-:|\n| 1 | $x<y$ |\n\n- [x] done\n\n---",
    "```python\nif x<y: pass\n```\n\n    <b>indented</b>",
    "$$\\begin{aligned} a &< b \\\\ c &= d \\end{aligned}$$ and $\\text{softmax}(x)_i$",
    "<details>\n<summary>Answer</summary>\n\nIt is *one*.\n\n</details>\n\nx<sub>1</sub><br>y",
    "It costs \\$5, or $6; 2 * 3 * 4; snake_case_name; 50 % of [1] and [x](",
]
REWRITTEN = {
    "a <b>bold</b> word": "a bold word",
    "[a](javascript:alert(1))": "a (`javascript:alert(1)`)",
    "[a][1]\n\n[1]: javascript:x": "a (`javascript:x`)",
    "![a](https://example.org/x.png)": "[a](https://example.org/x.png)",
    "[notes](notes.html)": "notes (`notes.html`)",
    "$\\href{javascript:x}{y}$": "$href{javascript:x}{y}$",
    "$a$ \\\\href $\\style{color:red}{x}$": "$a$ href $style{color:red}{x}$",
    "# check_softmax": "**check_softmax**",
    "a\ue0000\ue001 [b](c 'd&#xe000;0&#xe001;')": "a\ue0000\ue001 b (`c`)",
    "```mermaid\n<img src=x>\n```": "```\n<img src=x>\n```",
    "<img src=x onerror=alert(1)> *after*": "&#60;img src=x onerror=alert(1)> *after*",
}


@pytest.mark.parametrize("source", KEPT)
def test_harmless_markdown_is_kept_to_the_byte(source: str) -> None:
    assert sanitize_markdown.cleaned(source) == source


@pytest.mark.parametrize("source", REWRITTEN)
def test_harmful_text_is_rewritten(source: str) -> None:
    assert sanitize_markdown.cleaned(source) == REWRITTEN[source]


@pytest.mark.parametrize("source", HOSTILE_MARKDOWN)
def test_hostile_markdown_is_harmless_and_stays_as_it_is_then(source: str) -> None:
    made = sanitize_markdown.cleaned(source)
    assert sanitize_markdown.is_harmless(made, {})
    assert sanitize_markdown.cleaned(made) == made


@pytest.mark.quick_cases("source4", "source0", "source3", "source2")
@pytest.mark.parametrize("source", ["$$" * 9_000, "[" * 19_000, "> " * 9_000, "`" * 5_000 + "<" * 9_000, "*a " * 6_000])
def test_what_a_parser_chokes_on_is_shown_as_code_or_not_at_all(source: str) -> None:
    begun = time.process_time()
    assert sanitize_markdown.is_harmless(sanitize_markdown.cleaned(source), {})
    assert time.process_time() - begun < 60


def test_a_text_too_long_for_a_page_is_cut_and_says_so() -> None:
    made = sanitize_markdown.cleaned("a" * 30_000)
    assert made.startswith("```\naaa")
    assert made.endswith("… cut: 30,000 characters in all")


def cleaned(*cells: Any, **settings: Any) -> Any:
    """A notebook of these cells after cleaning, which is valid."""
    raw = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": copy.deepcopy(list(cells))}
    notebook = nbformat.from_dict(raw)
    clean(notebook, **settings)
    nbformat.validate(notebook)
    return notebook


def outputs_of(*outputs: Any) -> list[Any]:
    cell = new_code_cell("1")
    cell.outputs = [nbformat.from_dict(output) for output in outputs]
    return list(cleaned(cell).cells[0].outputs)


def shown(data: dict[str, Any]) -> dict[str, Any]:
    return {"output_type": "display_data", "data": data, "metadata": {}}


@pytest.mark.parametrize(
    "mime",
    [
        "application/javascript",
        "image/svg+xml",
        "application/vnd.jupyter.widget-view+json",
        "application/vnd.attention-course.verdict+json",
        "application/vnd.plotly.v1+json",
        "text/x-anything",
    ],
)
def test_forms_of_output_that_are_not_known_are_dropped(mime: str) -> None:
    assert outputs_of(shown({mime: "<script>"})) == []
    assert outputs_of(shown({mime: {"a": "<script>"}, "text/plain": "x"}))[0].data == {"text/plain": "x"}


def test_html_of_an_output_is_cleaned_and_its_pictures_stay() -> None:
    figure = f'<figure><img alt="a" src="data:image/png;base64,{PNG}"></figure>'
    html = figure.replace("<img ", '<img onerror="x" ') + "<script>x</script>$\\href{a}$"
    isolated = {"text/html": {"isolated": True}}
    (output,) = outputs_of({**shown({"text/html": html, "text/plain": "x"}), "metadata": isolated})
    assert output.data["text/html"] == figure + "$href{a}$"
    assert output.metadata == {}


def test_pictures_are_pictures_and_nothing_else() -> None:
    assert is_picture("image/png", PNG)
    for data in (f'{PNG}" onerror="x', "AAAA" * 9, PNG + "<", "", PNG.replace("A", " ")):
        assert not is_picture("image/png", data)
        assert outputs_of(shown({"image/png": data})) == []
    assert not is_picture("image/jpeg", PNG)
    assert not is_picture("image/svg+xml", base64.b64encode(b"<svg/>").decode())


def test_latex_and_markdown_of_outputs_hold_no_tag() -> None:
    (first, second) = outputs_of(
        shown({"text/latex": "$a<b$ \\href{javascript:x}{y}"}), shown({"text/markdown": "<script>x</script>"})
    )
    assert first.data["text/latex"] == "$a\\lt b$ href{javascript:x}{y}"
    assert "<" not in second.data["text/markdown"]


@pytest.mark.parametrize("count", [True, False, -1, 1.5, "7", "<b>", 10**30, None, [1]])
def test_execution_counts_of_other_types_are_dropped(count: Any) -> None:
    cell = new_code_cell("1")
    cell["execution_count"] = count
    cell.outputs = [
        nbformat.from_dict({**shown({"text/plain": "x"}), "output_type": "execute_result", "execution_count": count})
    ]
    made = cleaned(cell).cells[0]
    assert made.execution_count is None
    assert made.outputs[0].execution_count is None


def test_streams_and_errors_of_no_form_become_text() -> None:
    made = outputs_of(
        {"output_type": "stream", "name": "x' onclick='", "text": ["a", 7, "b"]},
        {"output_type": "error", "ename": "A\x1b[2J\nB", "evalue": 3, "traceback": "no list"},
        {"output_type": "nonsense"},
        {"output_type": "display_data", "data": None},
    )
    assert [(output.output_type, output.get("name"), output.get("text")) for output in made[:1]] == [
        ("stream", "stdout", "ab")
    ]
    assert made[1].ename == "A\ufffd[2J\ufffdB"
    assert len(made) == 2


def test_the_report_of_a_judged_cell_stays() -> None:
    marks = {"grade": True, "solution": False, "locked": True, "grade_id": "check_double", "points": 3}
    cell = new_code_cell("check(double)", metadata={"nbgrader": {**marks, "schema_version": 3, "task": False}})
    write_verdict(cell, needs_a_person("double", 3.0, "a reason"))
    before = copy.deepcopy(cell.outputs)
    assert cleaned(cell).cells[0].outputs == before
    student = new_code_cell("x", outputs=before)  # the same in a student's own cell is no report
    assert all(list(output.data) == ["text/html", "text/plain"] for output in cleaned(student).cells[0].outputs[:1])


def test_attachments_are_pictures() -> None:
    cell = new_markdown_cell("![a](attachment:a.png) ![b](attachment:b.svg) ![c](attachment:nowhere.png)")
    cell["attachments"] = {
        "a.png": {"image/png": PNG, "image/svg+xml": PNG, 'image/png" onerror="x': PNG},
        "b.svg": {"image/svg+xml": "PHN2Zy8+"},
        'c" onerror=': {"image/png": PNG},
    }
    made = cleaned(cell, trusted={cell.source}).cells[0]
    assert made.attachments == {"a.png": {"image/png": PNG}}
    made = cleaned(cell).cells[0]
    assert made.source == "![a](attachment:a.png) b (`attachment:b.svg`) c (`attachment:nowhere.png`)"


def test_raw_cells_become_text_and_metadata_go() -> None:
    cells = [
        new_raw_cell("<script>x</script>\n", metadata={"raw_mimetype": "text/html"}),
        new_markdown_cell("a", metadata={"tags": ["demo", '"><script>'], "nbgrader": {"grade_id": "<b>", "grade": 1}}),
        new_code_cell("a", metadata={"magics_language": "html", "editable": False, "deletable": "<b>"}),
    ]
    notebook = cleaned(*cells)
    notebook.metadata["widgets"] = {"a": "<script>"}
    notebook.metadata["attention_course"] = {"repairs": ["a\x1b[2J\r\nforged"]}
    clean(notebook)
    assert [cell.cell_type for cell in notebook.cells] == ["markdown", "markdown", "code"]
    assert notebook.cells[0].source == "```\n<script>x</script>\n```"
    metadata = [json.loads(json.dumps(cell.metadata)) for cell in notebook.cells]
    assert metadata == [{}, {"tags": ["demo"], "nbgrader": {}}, {"editable": False}]
    assert notebook.metadata == {"attention_course": {"repairs": ["a\ufffd[2J\ufffd\ufffdforged"]}}


def test_code_too_long_for_a_page_is_cut_and_says_so() -> None:
    after = cleaned(new_code_cell("x = 1\n" * 100_000)).cells[0].source
    assert len(after) < MAX_CODE + 100
    assert after.endswith("# … cut: 600,000 characters in all")


def test_a_notebook_has_a_size_in_all() -> None:
    picture = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(1_400_000)).decode()
    cells = [new_code_cell("x", outputs=[new_output("display_data", {"image/png": picture})]) for _ in range(40)]
    cells += [new_markdown_cell("a" * 15_000) for _ in range(100)]
    cells += [new_code_cell("a = 1\n" * 2_500) for _ in range(100)]
    notebook = cleaned(*cells)
    assert len(nbformat.writes(notebook)) < 1.1 * (MAX_OUTPUTS + MAX_PROSE + MAX_CODES)
    assert notebook.cells[0].outputs[0].data == {"image/png": picture}
    assert "left out: 1,866,680 characters of image/png" in notebook.cells[39].outputs[0].data["text/plain"]
    assert "left out: 15,000 characters of text" in notebook.cells[46].source
    assert notebook.cells[-1].source == "\n# … cut: 15,000 characters in all"


# Through nbgrader's own converters


def test_the_lessons_own_text_is_kept_and_the_students_is_not(course: Any, sanitize: Any) -> None:
    lesson = "<details open>\n<summary><b>Predict</b></summary>\n\nAn <i>answer</i>.\n\n</details>"
    source = course.root / "source" / LESSON / f"{LESSON}.ipynb"
    notebook = nbformat.read(source, as_version=4)
    notebook.cells.append(new_markdown_cell(lesson))
    nbformat.write(notebook, source)
    handed_in = with_answers(course.release, double=DOUBLE, halve=HALVE)
    for text in (lesson, lesson + " <script>x</script>"):
        handed_in["cells"].append({"cell_type": "markdown", "metadata": {}, "source": text})
    texts = [cell.source for cell in sanitize(handed_in).cells if cell.cell_type == "markdown"]
    assert lesson in texts
    assert not any("<script>" in text for text in texts)


def test_marks_of_a_student_reach_no_terminal(course: Any, sanitize: Any, caplog: Any) -> None:
    handed_in = with_answers(course.release, double=DOUBLE, halve=HALVE)
    strange = "x\x1b[2J\r\nWARNING | forged\u202e"
    marks = {"grade": False, "solution": True, "grade_id": strange, "schema_version": 3, "locked": False}
    handed_in["cells"].append({"cell_type": "code", "metadata": {"nbgrader": marks}, "source": "1", "outputs": []})
    handed_in["metadata"]["kernelspec"] = {"name": strange, "display_name": strange, "language": strange}
    notebook = sanitize(handed_in)
    told = [*notebook.metadata.attention_course.repairs, *(record.getMessage() for record in caplog.records)]
    assert any("forged" in line for line in told)
    assert all(line.isprintable() for line in told if "forged" in line)


def test_nbconverts_page_of_a_graded_notebook_runs_nothing_of_the_students(graded_course: Any) -> None:
    path = graded_course.root / "autograded" / "bob" / LESSON / f"{LESSON}.ipynb"
    page, _ = HTMLExporter(template_name="basic").from_filename(str(path))
    elements = Elements(page)
    assert "kept text" in elements.text
    assert not {"script", "iframe", "form", "object", "base", "svg"} & {tag for tag, _ in elements.found}
    assert not [name for _, attributes in elements.found for name in attributes if str(name).startswith("on")]


SEND = """
import IPython
kernel = IPython.get_ipython().kernel
content = {"code": "", "execution_count": COUNT}
kernel.session.send(kernel.iopub_socket, "execute_input", content, parent=kernel.get_parent("shell"))
"""


@pytest.mark.quick_cases("True")
@pytest.mark.parametrize("count", ["True", "-1"])
def test_a_count_that_is_none_costs_no_grade(course: Any, count: str) -> None:
    handed_in = with_answers(course.release, double=DOUBLE + SEND.replace("COUNT", count), halve=HALVE)
    submit_file(course.root, "ada", handed_in)
    run_converter(Autograde, course.root)
    with Gradebook(f"sqlite:///{course.root}/gradebook.db", "attention") as gradebook:
        grades = gradebook.find_submission_notebook(LESSON, LESSON, "ada").grades
        assert [grade.auto_score for grade in grades] == [3, 5]


@pytest.mark.full
def test_of_files_beside_only_those_are_copied_that_nothing_runs(course: Any) -> None:
    submit_file(course.root, "ada", with_answers(course.release, double=DOUBLE, halve=HALVE))
    for name in ("notes.txt", "data.csv", "a.PNG", "a.html", "a.svg", "a.xhtml", "a.js", "a.txt.html", "a", "b/c.htm"):
        submit_file(course.root, "ada", b"<script>1</script>", name=name)
    run_converter(Autograde, course.root)
    folder = course.root / "autograded" / "ada" / LESSON
    copied = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert copied == {f"{LESSON}.ipynb", "notes.txt", "data.csv", "a.PNG"}


def test_a_student_id_of_html_does_not_stop_other_students(course: Any) -> None:
    for student in ("ada", "<b>bob"):
        path = course.root / "submitted" / student / LESSON / f"{LESSON}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(course.release, path)
    run_converter(Autograde, course.root)
    assert [path.name for path in (course.root / "autograded").iterdir()] == ["ada"]
