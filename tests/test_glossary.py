"""The glossary gives each word one meaning: no term is defined twice, and each definition is one sentence."""

from __future__ import annotations

import re

import pytest

from .support.repository import LESSONS, ROOT

TEXT = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
PARTS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", TEXT, re.M | re.S))
ENTRIES = {part: re.findall(r"^- \*\*(.+?)\*\*: (.+?)(?=^- |\Z)", text, re.M | re.S) for part, text in PARTS.items()}


def test_the_glossary_has_a_part_for_learners_and_one_for_maintainers():
    assert list(PARTS) == ["For learners", "For maintainers"]
    assert all(text.count("\n- ") == len(ENTRIES[part]) for part, text in PARTS.items())  # no entry in another form


def test_no_term_is_defined_twice():
    terms = [term.lower() for entries in ENTRIES.values() for term, _ in entries]
    assert not {term for term in terms if terms.count(term) > 1}


@pytest.mark.parametrize("part", ENTRIES)
def test_terms_are_in_alphabetical_order(part):
    terms = [term.lower() for term, _ in ENTRIES[part]]
    assert terms == sorted(terms)


def test_each_definition_is_one_sentence():
    for entries in ENTRIES.values():
        for term, definition in entries:
            sentence = re.sub(r"\s+Lesson \d\d\.\s*$", "", definition).strip()
            assert re.fullmatch(r"[^.]*(\.\w[^.]*)*\.", sentence), term


def test_each_word_of_the_lessons_names_a_lesson_that_there_is():
    numbers = {lesson[:2] for lesson in LESSONS}
    for term, definition in ENTRIES["For learners"]:
        lesson = re.search(r"Lesson (\d\d)\.\s*$", definition)
        assert lesson, term
        assert lesson[1] in numbers, term
