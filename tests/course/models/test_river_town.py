"""The stories that the small language model is trained on."""

from __future__ import annotations

import re

from course.models.river_town import double_meanings, generate_stories
from course.models.small_lm import split_words


def test_a_seed_gives_one_text_whose_beginning_does_not_depend_on_its_length():
    long, short = generate_stories(3000, seed=5), generate_stories(500, seed=5)
    assert long.startswith(short)
    assert len(short.split()) >= 500
    assert generate_stories(500, seed=6) != short


def test_stories_are_plain_sentences_with_all_their_words_filled_in():
    for story in generate_stories(20_000).splitlines():
        assert re.fullmatch(r"[A-Za-z .,:!?\"']+", story), story
        assert story[0].isupper() or story[0] == '"', story
        assert story.endswith((".", "!", '."', '!"')), story
        assert story.count('"') % 2 == 0, story
        assert not re.search(r"  |\ba [aeiou]|\ban (?!hour)[^aeiou]| [.,!?]", story), story


def test_people_and_things_come_back_in_their_story():
    stories = [s for s in generate_stories(20_000).splitlines() if "has a parrot that repeats" in s]
    assert stories
    for story in stories:
        said, repeated = re.findall(r'"([^"]+),"', story)[:2]
        assert said == repeated


def test_a_clue_decides_what_a_word_with_two_meanings_does():
    text = generate_stories(200_000).lower()
    for word, meanings in double_meanings().items():
        assert len(meanings) == 2
        known = {clue for clues in meanings.values() for clue in clues}
        distances = set()
        for follow, clues in meanings.items():
            for sentence in re.findall(rf'[^.!?"\n]+ {word}(?= (?:{"|".join(follow)})\b)', text):
                tokens = split_words(sentence)
                found = {token: len(tokens) - 1 - i for i, token in enumerate(tokens) if token in known}
                assert set(found) <= set(clues), sentence
                distances |= set(found.values())
        assert distances >= set(range(3, 11))
        assert distances <= set(range(3, 14))
