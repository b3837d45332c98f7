"""`%%answer`: what a learner sees below an answer in prose."""

from __future__ import annotations

import json

import pytest
from IPython.core.interactiveshell import InteractiveShell

from course.notebook import catalog
from course.notebook.written_answer import register_answer_magic, show_answer

LESSON = "04_scaling"
NAME = "why_the_root"


def shown(capsys: pytest.CaptureFixture[str], line: str, cell: str, lesson: str = LESSON) -> str:
    show_answer(lesson, line, cell)
    return capsys.readouterr().out


@pytest.mark.parametrize("text", ["\n  \n", "YOUR ANSWER HERE\n"])
def test_an_empty_cell_asks_to_write_first(capsys, text):
    told = shown(capsys, NAME, text)
    assert told.startswith("Write your answer below the first line of this cell")
    assert "model answer" not in told


def test_an_answer_is_shown_with_the_rubric_and_the_model_answer(capsys):
    told = shown(capsys, NAME, "YOUR ANSWER HERE\nThe scores are spread too widely.\n")
    assert "YOUR ANSWER HERE" not in told
    question = catalog.questions_of(LESSON)[NAME]
    assert "The scores are spread too widely." in told
    assert question["model_answer"] in told
    assert all(item["text"] in told for item in question["rubric"])


def test_where_a_person_gives_points_the_notebook_shows_the_answer_alone(capsys):
    told = shown(capsys, f"{NAME} (2 points)", "Because.")
    assert "Because." in told and "A person grades this answer" in told
    assert "model answer" not in told.casefold()


def test_a_name_that_is_mistyped_is_told_with_those_that_there_are(capsys):
    assert f"no question called 'why_root' (questions: {NAME})" in shown(capsys, "why_root", "Because.")
    assert "(questions: none)" in shown(capsys, "why", "Because.", "00_start")


def test_a_file_beside_the_notebook_comes_first_and_a_damaged_one_is_told(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    beside = tmp_path / f"{LESSON}.questions"
    beside.write_text(json.dumps({"own": {"title": "T", "model_answer": "Mine.", "rubric": []}}))
    assert "Mine." in shown(capsys, "own", "Because.")
    beside.write_text("{")
    assert "cannot be read" in shown(capsys, "own", "Because.")


def test_begin_makes_the_magic_known_to_the_shell(capsys):
    shell = InteractiveShell()
    register_answer_magic(shell, LESSON)
    shell.run_cell(f"%%answer {NAME}\nThe *spread* grows.")
    assert "The *spread* grows." in capsys.readouterr().out
