"""Merges by `git merge-file` take what one side changed and lose nothing silently."""

from __future__ import annotations

import pytest

from grading.errors import StepFailed
from grading.plugins.migrate.merge_text import merge_text

BASE = "one\n1.2\n1.4\n1.6\n1.8\ntwo\nthree\nfour\nfive\n"


def test_changes_to_different_lines_are_both_made():
    merged = merge_text("a.py", BASE, BASE.replace("one", "1"), BASE.replace("five", "5"))
    expected = BASE.replace("one", "1").replace("five", "5")
    assert merged == (expected, expected, [])


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_of_clashing_lines_each_text_keeps_one_side_and_no_marker(end, monkeypatch):
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")  # as if a teacher had set it
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "merge.conflictStyle")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "diff3")
    base, ours, theirs = (
        text.replace("\n", end)
        for text in (
            BASE,
            BASE.replace("one", "1").replace("four\n", ""),
            BASE.replace("one", "I").replace("four", "4"),
        )
    )
    merged = merge_text("a.py", base, ours, theirs)
    assert merged.text == ours and merged.other == theirs
    lines = [(merged.text[mine].strip(), merged.other[new].strip()) for mine, new in merged.clashes]
    assert lines == [("1", "I"), ("", "4")]


def test_markers_and_bytes_that_are_not_text_are_kept_in_a_text():
    ours = f"<<<<<<< mine\n=======\n\udcff\n{BASE}"
    assert merge_text("a.py", BASE, ours, BASE.replace("five", "5")).text == ours.replace("five", "5")


def test_without_git_the_error_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(StepFailed, match=r"the command git was not found, .* Install git"):
        merge_text("a.py", BASE, "1\n", "2\n")
    monkeypatch.undo()
    with pytest.raises(StepFailed, match=r"git cannot merge your a\.py with the new one: .*binary"):
        merge_text("a.py", BASE, "1\0\n", "2\n")
