"""The page to keep: what it tells, that it stands alone, and where it is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from course import figures, keepsake
from course.figures.keepsake import FILE
from course.notebook import catalog, session
from course.notebook.saved_progress import ExerciseProgress
from course.outline import counts

from ...support.html_pages import parse_html, text_of


@pytest.fixture
def learner(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ATTENTION_MEMORY", str(tmp_path / "progress.json"))
    session.renew()
    return session.current().store


def drawn() -> None:
    keepsake(figures.bars([1.0, 2.0]), alt="Two bars.", caption="Drawn by your softmax.")


def test_it_lists_what_was_built_and_needs_no_other_files(learner, capsys):
    learner.record("02_softmax", "softmax", ExerciseProgress("passes", 7.0, True))
    learner.record("02_softmax", "entropy", ExerciseProgress("wrong", 1.0, True))
    learner.record("03_queries_keys_values", "embed", ExerciseProgress("wrong", 1.0))
    drawn()
    out = capsys.readouterr().out
    total = sum(len(catalog.exercises_of(lesson)) for lesson in catalog.lessons() if counts(lesson))
    assert f"2 of {total} functions" in out
    assert FILE in out
    page = parse_html(Path(FILE).read_text(), strict=True)
    assert [text_of(code) for code in page.query("code")] == ["softmax", "entropy"], "what passed once was built"
    (image,) = page.query("img")
    assert image.attrs["alt"] == "Two bars."
    assert image.attrs["src"].startswith("data:image/png;base64,")
    assert "softmax( Q K⊤ ∕ √dk ) V" in text_of(page.query_one("p"))


def test_nothing_is_written_before_anything_was_built_or_where_nothing_is_remembered(learner, monkeypatch):
    drawn()
    assert not Path(FILE).exists()
    monkeypatch.setenv("ATTENTION_MEMORY", "off")
    session.renew()
    session.current().store.record("02_softmax", "softmax", ExerciseProgress("passes", 7.0, True))
    drawn()
    assert not Path(FILE).exists()
