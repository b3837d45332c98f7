"""Sentences on the repairs in a notebook, for its feedback."""

from __future__ import annotations

SENTENCES = {
    "lost": "The marks that nbgrader needs were lost or changed on these cells and were restored: {}.",
    "no check": "The check was missing and was put back: {}.",
    "no text": "A cell of the lesson was missing and was put back: {}.",
    "no answer": "The cell for the answer was missing; an empty one was put in its place: {}.",
    "answer elsewhere": "The answer was in another cell and is judged from there: {}.",
    "answer beside": "The cell for the answer was unchanged; the text next to it counts as the answer: {}.",
    "text kept": "Text that was added to a cell of the lesson was kept, in its own cell below: {}.",
    "changed": "The check had been changed; the original is used: {}.",
    "kept": "Code in a check was kept, in its own cell above the check: {}.",
    "moved": "The check was above the answer and was moved below it: {}.",
    "retyped": "The cell had the wrong type (code or text); it is treated as its original type: {}.",
    "answers": "There was more than one cell for the answer; the last one above its check counts: {}.",
    "checks": "There was more than one check; one of them counts: {}.",
    "tags": "Tags on locked cells were removed: {}.",
    "strange": "Marks that belong to no exercise of this lesson were removed from cells: {}.",
    "language": "The notebook asked for another language; it is graded with Python: {}.",
}


class Notes:
    """Repairs by kind; each kind makes one sentence, for any number of cells."""

    def __init__(self) -> None:
        self._found: dict[str, dict[str, None]] = {}

    def add(self, kind: str, what: str) -> None:
        self._found.setdefault(kind, {})[what] = None

    def sentences(self) -> list[str]:
        return [SENTENCES[kind].format(", ".join(found)) for kind, found in self._found.items()]
