"""The widget in a real kernel: what a cell shows, and what a message of the front end changes."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import nbformat
import pytest
import torch
from nbconvert import HTMLExporter
from nbformat.v4 import new_code_cell, new_notebook

from course.widgets import alive, attention_maps
from course.widgets.attention_trace import Tracer, read

from ...support.learner_kernel import Kernel, running_kernel
from ...support.run_notebook import run

FUNCTIONS = """
import torch
from course import alive
def softmax(x, dim=-1):
    return torch.softmax(x, dim)
def leaking_mask(T):
    return torch.ones(T, T, dtype=torch.bool).triu(2)
def loud(x, dim=-1):
    print("out loud")
    raise ValueError("no <b>softmax</b>\\nin two lines")
"""
LEAK = "The future leaks"


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    with running_kernel(tmp_path_factory.mktemp("kernel")) as started:
        started.run(FUNCTIONS)
        yield started


class Shown:
    """What a cell shows, and the front end's side of its widgets."""

    def __init__(self, kernel: Kernel, code: str) -> None:
        self.client = kernel.client
        self.html, self.models, self.streams = "", {}, []
        self.client.execute_interactive(code, output_hook=self._collect, timeout=None)

    def _collect(self, message):
        kind, content = message["header"]["msg_type"], message["content"]
        if kind == "comm_open" and content["target_name"] == "jupyter.widget":
            self.models[content["comm_id"]] = dict(content["data"]["state"])
        elif kind == "comm_msg" and content["data"].get("method") == "update":
            self.models[content["comm_id"]].update(content["data"]["state"])
        elif kind == "display_data":
            self.html += content["data"].get("text/html", "")
        elif kind in ("stream", "error"):
            self.streams.append(content)

    def model(self, kind: str, description: str = ""):
        (found,) = (
            (comm, state)
            for comm, state in self.models.items()
            if state.get("_model_name") == kind and description in (state.get("description") or "")
        )
        return found

    @property
    def page(self) -> str:
        return next(state["value"] for state in self.models.values() if 'class="says"' in str(state.get("value")))

    def set(self, kind: str, description: str, **state) -> str:
        """Change a control as a front end does, and return the page afterwards."""
        comm, _ = self.model(kind, description)
        data = {"method": "update", "state": state, "buffer_paths": []}
        message = self.client.session.msg("comm_msg", {"comm_id": comm, "data": data})
        self.client.shell_channel.send(message)
        while True:
            answer = self.client.get_iopub_msg(timeout=None)
            if answer["parent_header"].get("msg_id") != message["header"]["msg_id"]:
                continue
            if answer["header"]["msg_type"] == "status" and answer["content"]["execution_state"] == "idle":
                return self.page
            self._collect(answer)


def test_a_cell_shows_a_picture_and_core_widgets(kernel):
    shown = Shown(kernel, "alive.show(softmax=softmax)")
    assert shown.html.count("<table") == shown.page.count("<table") == 4
    assert {state["_model_module"] for state in shown.models.values()} <= {
        "@jupyter-widgets/base",
        "@jupyter-widgets/controls",
    }
    assert shown.streams == []
    assert "Weights, softmax" in shown.page and "✗" not in shown.page


def test_a_key_changes_the_maps(kernel):
    shown = Shown(kernel, "alive.show(softmax=softmax)")
    assert '<th scope="row">boat</th>' in shown.page
    page = shown.set("TextModel", "Sentence", value="the xyzzy river")
    assert "The model does not know “xyzzy”: the maps leave it out." in page
    assert '<th scope="row">boat</th>' not in page
    assert "2 words. “river” looks most at “" in page
    assert "Type a sentence." in shown.set("TextModel", "Sentence", value="")


def test_another_head_and_no_mask_change_the_maps(kernel):
    shown = Shown(kernel, "alive.show(softmax=softmax)")
    pages = [
        shown.page,
        shown.set("BoundedIntTextModel", "Head", value=1),
        shown.set("BoundedIntTextModel", "Layer", value=1),
        shown.set("CheckboxModel", "Block", value=False),
    ]
    assert len(set(pages)) == 4
    assert [">blocked<" in page for page in pages] == [True, True, True, False]


def test_a_leak_lights_up_and_goes_once_the_cell_of_the_mask_has_run_again(kernel):
    shown = Shown(kernel, "alive.show(softmax=softmax, mask=leaking_mask)")
    assert LEAK in shown.page and ">wrong<" in shown.page
    assert LEAK in shown.html
    kernel.run("def leaking_mask(T):\n    return torch.ones(T, T, dtype=torch.bool).triu(1)")
    page = shown.set("TextModel", "Sentence", value="the boat reached the bank")
    assert LEAK not in page and ">wrong<" not in page
    kernel.run(FUNCTIONS)


def test_a_function_that_prints_and_raises_leaves_the_cell_alive(kernel):
    shown = Shown(kernel, "alive.show(softmax=loud)")
    page = shown.set("TextModel", "Sentence", value="the boat")
    fault = "✗ loud: your code raised ValueError: no &lt;b&gt;softmax&lt;/b&gt; in two lines"
    assert fault in page and fault in shown.html
    assert "<pre>out loud</pre>" in page
    assert shown.streams == []
    assert kernel.run("1 + 1").value == "2"


def test_an_endless_loop_leaves_the_cell_alive(kernel):
    kernel.run("def endless(x, dim=-1):\n    while True:\n        x = x + 1")
    shown = Shown(kernel, "alive.show(softmax=endless)")
    assert "it had not ended after 0.5 seconds" in shown.html
    assert "endless did not end, and is not called again." in shown.set("TextModel", "Sentence", value="the boat")
    assert kernel.run("1 + 1").value == "2"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ("softmax=softmax(torch.zeros(3))", "softmax: expected a function, got Tensor; pass its name without"),
        ("mask=torch.ones(3, 3)", "mask: expected a function, got Tensor"),
        ("attention=softmax, scale=softmax", "attention and scale are both attention functions: pass one of them"),
    ],
)
def test_an_argument_that_is_no_function_is_named(kernel, arguments, problem):
    assert problem in kernel.run(f"alive.show({arguments})").error


@pytest.mark.full
def test_an_exported_notebook_shows_the_picture_once(tmp_path):
    cells = [new_code_cell(FUNCTIONS), new_code_cell("alive.show(softmax=softmax, mask=leaking_mask)")]
    ran = run(new_notebook(cells=cells), tmp_path)
    ran.metadata.pop("widgets", None)
    page, _ = HTMLExporter().from_notebook_node(nbformat.from_dict(ran))
    assert page.count(f"✗ {LEAK}") == 1
    assert page.count('<div class="maps">') == 1


def test_on_a_page_of_the_site_is_the_picture_alone(monkeypatch):
    shown = []
    monkeypatch.setattr("course.report.shell", object)
    monkeypatch.setattr("IPython.display.display", lambda data, raw=False: shown.append(data))
    monkeypatch.setenv("ATTENTION_COURSE_ON_A_PAGE", "1")
    alive.show()
    (bundle,) = shown
    assert bundle["text/html"].count("<table") == 4 and "<script" not in bundle["text/html"]
    assert "Sentence: The boat reached the river bank" in bundle["text/html"]


def test_a_script_prints_a_sentence():
    code = "from course import alive; alive.show(mask=lambda T: None)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("6 words. “bank” looks most at “")
    assert "mask: expected a tensor, got None: is the `return` missing?" in done.stdout


def page_of(**functions) -> str:
    # The weights of this head are spread, so no wrong one is too small to see
    sentence = read("The boat reached the river bank", head=1)
    return attention_maps.page(Tracer(**functions).trace(sentence))


def test_every_map_is_named_and_every_cell_has_text():
    page = page_of(softmax=torch.softmax)
    for name in ("Scores, built-in, ÷ √", "Mask, built-in", "Weights, softmax", "Output, built-in"):
        assert f'aria-label="{name}' in page
    assert page.count(">blocked<") == 2 * 15  # in the mask and in the weights, never a 0
    assert page.count(">open<") == 21
    assert page.count('role="img" aria-label="from ') == 6


def test_wrong_cells_are_marked_by_a_border_and_in_words():
    page = page_of(mask=lambda T: torch.ones(T, T, dtype=torch.bool).triu(2))
    assert page.count('bad">') == 10 + 1  # five in each map, and one in the legend
    assert page.count(">wrong<") == 10
    rows = page_of(softmax=lambda x, dim=-1: torch.softmax(x, -1) / 2)
    assert rows.count('class="sum bad"') == 6


def test_text_of_a_learner_is_escaped():
    sentence = SimpleNamespace(words=["<i>"], q=torch.ones(1, 2), k=torch.ones(1, 2), v=torch.ones(1, 2))
    sentence.unknown, sentence.cut = ["<script>"], 0
    page = attention_maps.page(Tracer().trace(sentence))
    assert "<script>" not in page and "<i>" not in page.replace("<i>S</i>", "").replace("<i>A</i>", "").replace(
        "<i>O</i>", ""
    )
