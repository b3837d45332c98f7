"""Stories of any length to train the model of lesson 11, set in a harbour.

A story has five or six sentences. Its people and its object are drawn once per story, so that a model gains by looking
back: at names, at "he" and "she", and at the object that is found, carried and given. The same length always gives the
same text.
"""

from __future__ import annotations

import random

PEOPLE = (
    ("Mara", "she", "her"),
    ("Ida", "she", "her"),
    ("Old Anna", "she", "her"),
    ("Tom", "he", "his"),
    ("Jonas", "he", "his"),
    ("The captain", "he", "his"),
)
TIMES = ("One morning", "One evening", "On a quiet day", "In the winter", "After the storm", "Before the rain")
PLACES = ("the harbour", "the lamp", "the pier", "the boats", "the old mill", "the end of the beach")
THINGS = (
    "a blue stone",
    "a small key",
    "a silver ring",
    "an old map",
    "a red lantern",
    "a green bottle",
    "a broken oar",
)
WITHOUT = (
    "the wind had gone to sleep",
    "the tide was low",
    "nobody was about",
    "the gulls were loud",
    "a fog lay there",
)
FOUND = ("found", "saw", "picked up", "nearly stepped on")
CARRIED = (
    "carried it home",
    "hid it in a boat",
    "held it up to the light",
    "put it into a basket",
    "washed it in the sea",
)
ASKED = ("Where does it come from?", "Whose is it?", "May I keep it?", "What is it good for?", "Is it worth anything?")
SAID = (
    "It is older than the lamp",
    "It belongs to the sea",
    "Somebody will look for it",
    "It is yours now",
    "Nobody knows",
)
ENDS = (
    "lies on a shelf beside the door",
    "has hung in the kitchen ever since",
    "went back into the water that night",
    "is still there, if nobody has taken it",
)


def generate_stories(letters: int, seed: int = 0) -> str:
    """Generate this many letters; a longer text begins with the shorter one."""
    draw, stories, length = random.Random(seed), list[str](), 0
    while length < letters:
        stories.append(_story(draw))
        length += len(stories[-1])
    return "".join(stories)[:letters]


def _story(draw: random.Random) -> str:
    (finder, pronoun, own), (other, *_) = draw.sample(PEOPLE, 2)
    thing, ask, end = draw.choice(THINGS), draw.choice(ASKED), draw.choice(ENDS)
    noun = thing.split(" ", 1)[1]
    sentences = [
        f"{draw.choice(TIMES)} {_inside(finder)} walked to {draw.choice(PLACES)}, and {draw.choice(WITHOUT)}.",
        f"There {pronoun} {draw.choice(FOUND)} {thing}.",
        f"{pronoun.capitalize()} {draw.choice(CARRIED)} and told {own} {draw.choice(('sister', 'brother', 'cat'))}.",
        f'"{ask}" {pronoun} asked {_inside(other)}.',
        f'"{draw.choice(SAID)}," said {_inside(other)}.',
        f"The {noun} {end}.",
    ]
    if draw.random() < 0.3:
        del sentences[2]
    return " ".join(sentences) + "\n\n"


def _inside(name: str) -> str:
    """A name as written inside a sentence."""
    return name.replace("The ", "the ").replace("Old ", "old ")
