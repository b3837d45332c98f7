"""Whatever a student hands in or shows: it is read, made harmless and written, within its bound."""

from __future__ import annotations

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from grading.feedback.page import normalise_headings
from grading.grader.cell_code import bound_names, defines, parse, same_code
from grading.grader.source_analysis import NotebookSource
from grading.judge.kernel.dependencies import ExecutedCell, cells_needed, names_needed
from grading.notebooks import sanitize_html, sanitize_markdown
from grading.notebooks.reading import read_submission
from grading.notebooks.sanitize import clean

from ..support.fuzz_bounds import bounded, fuzz_settings
from ..support.fuzz_strategies import as_json, plain, records, texts

HTML = texts(
    "<",
    ">",
    "<b>",
    "</b>",
    "<a href='x'>",
    "<p ",
    "x=1 ",
    "x='",
    '"',
    "&lt;",
    "&",
    "<table>",
    "<svg>",
    "<math>",
    "<!--",
    "-->",
    "<script>",
    "<style>",
    "<img src=data:image/png;base64,AAAA>",
    "<font color=a>",
    "<div>",
    "<nobr>",
    "\n",
    "\0",
)
MARKDOWN = texts(
    "*",
    "**",
    "_",
    "`",
    "```\n",
    "[",
    "]",
    "](",
    ")",
    "![",
    "<",
    "<b>",
    "> ",
    "- ",
    "1. ",
    "# ",
    "\n",
    "\n\n",
    "    ",
    "|",
    "---",
    "$",
    "$$",
    "\\",
    "\\begin{a}",
    "\\end{a}",
    "\\href{x}",
    "&amp;",
    "http://x.y ",
    "[a]: b\n",
    "~~",
    "<!--",
    "\t",
    "[^1]",
    "mermaid",
    "\u202e",
    "\ue000",
)
TEX = texts(
    "x", "{", "}", "^", "_", "\\frac", "\\left(", "\\begin{matrix}", "&", "\\\\", "\\sqrt[", "]", "\\unicode", "<", "#"
)
CODE = texts(
    "x",
    " = ",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "-",
    "not ",
    "a.b",
    "lambda: ",
    "\n",
    "    ",
    "def f(x):\n",
    "class A:\n",
    "'",
    '"""',
    "%time ",
    "%%time\n",
    "!ls\n",
    "f?\n",
    "if x:\n ",
    "f = wrap(f)\n",
    "import torch\n",
    "return x\n",
    "@",
    "\\\n",
    "f'{",
    "#",
    "\0",
    "get_ipython().run_cell_magic('time', '', 'x')",
    "softmax",
    "from torch import softmax as s\n",
    "\r",
    "é",
)
marks = records(plain, grade=st.booleans(), grade_id=st.text(), solution=st.booleans(), points=st.integers())
outputs = records(
    plain,
    output_type=st.sampled_from(["stream", "error", "display_data", "execute_result"]),
    text=st.text(),
    data=records(
        plain, **{"text/html": HTML, "image/png": st.text(), "text/plain": st.text(), "text/markdown": MARKDOWN}
    ),
    traceback=st.lists(st.text()),
    execution_count=st.integers(),
)
cells = records(
    plain,
    cell_type=st.sampled_from(["code", "markdown", "raw", "heading"]),
    id=st.text(max_size=5),
    metadata=records(plain, nbgrader=marks, tags=st.lists(st.text())),
    source=st.one_of(CODE, MARKDOWN, st.lists(st.text(), max_size=4)),
    outputs=st.lists(outputs, max_size=3),
    attachments=plain,
    level=plain,
)
notebooks = records(
    plain, cells=st.lists(st.one_of(cells, plain), max_size=5), metadata=plain, nbformat=plain, worksheets=plain
)


@fuzz_settings(40)
@given(st.one_of(st.binary(max_size=200), plain.map(as_json), notebooks.map(as_json)))
def test_any_file_is_a_notebook_or_says_why_not(content):
    with bounded(len(content)):
        made = read_submission(content)
        nbformat.validate(made)
        clean(made)
        nbformat.writes(made).encode()


@pytest.mark.full
@fuzz_settings(20)
@given(st.lists(outputs, max_size=4), st.lists(MARKDOWN, max_size=2))
def test_any_outputs_are_made_harmless(shown, prose):
    made = new_notebook(cells=[new_code_cell("x"), *map(new_markdown_cell, prose)])
    made.cells[0].outputs = [nbformat.from_dict(output) for output in shown]
    with bounded(len(str(shown)) + sum(map(len, prose))):
        clean(made)
    nbformat.validate(made)
    nbformat.writes(made).encode()


@fuzz_settings(40)
@given(CODE, CODE)
def test_any_code_is_read_or_left(code, other):
    with bounded(len(code) + len(other)):
        tree = parse(code)
        assert tree is None or bound_names(tree) is not None
        defines(code, "f")
        same_code(code, other)
        source = NotebookSource([other, code], ["f", "g"])
        source.not_allowed("f", ["softmax", "matmul"])
        names_needed(source, "f")
        for bare in (False, True):
            list(cells_needed([ExecutedCell(other), ExecutedCell(code)], source, "f", bare))


@fuzz_settings(30)
@given(MARKDOWN)
def test_any_markdown_is_made_harmless(text):
    with bounded(len(text)):
        assert sanitize_markdown.is_harmless(sanitize_markdown.cleaned(text), {})
        sanitize_html.from_markdown(text)


@fuzz_settings(40)
@given(HTML)
def test_any_html_is_cleaned(text):
    with bounded(len(text)):
        cleaned = str(sanitize_html.from_html(text))
        normalise_headings(cleaned)
    assert "<script" not in cleaned.lower()


@fuzz_settings(30)
@given(TEX, CODE)
def test_any_formula_and_code_are_shown(latex, code):
    with bounded(len(latex) + len(code)):
        sanitize_html.equation(latex)
        sanitize_html.equation(latex, display=True)
        sanitize_html.code(code)
