"""Written answers that are beside their cell: in a new cell, or in the text of the question.

Front ends make it easy to answer in a new cell, or to type into the question. If the cell for a written answer is
unchanged, the student's own text right below counts as the answer, else the text right above. A person grades it in
any case, so this takes too much rather than too little. Does not cover: code that defines an exercise's answer
(`repair`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from nbformat.notebooknode import NotebookNode, from_dict

from grading.grader.cell_code import defines, parse, same_code

from .cells import grade_id
from .named_pictures import Attachments, all_pictures, references
from .released import MarkedCell, PlainCell, ReleasedNotebook
from .repair_notes import Notes
from .written_answers import LINE, STUB, answered_question, written_answer

MISSING_ANSWER = "# The cell for {} was missing from the notebook that was handed in."
PICTURES = "answer-pictures"  # tag of a text that holds the pictures of the answer above it


class AnswersBeside:
    """One pass over a repaired notebook; `cells` is the result."""

    def __init__(
        self, cells: list[NotebookNode], released: ReleasedNotebook, owners: dict[str, list[NotebookNode]], notes: Notes
    ) -> None:
        self.cells, self._released, self._notes = cells, released, notes
        for name, marked in released.marked.items():
            if marked.grade and marked.solution and _is_unchanged(owners[name][0], marked):
                self._take(name, marked, owners)

    def _take(self, name: str, marked: MarkedCell, owners: dict[str, list[NotebookNode]]) -> None:
        answer = owners[name][0]
        at = next(place for place, cell in enumerate(self.cells) if cell is answer)
        found = self._may_answer(marked, self._own(self.cells[at + 1 :])) or self._above(marked, at)
        if not found:
            return
        self._notes.add("answer beside", name)
        if is_prose(marked):
            taken = {id(cell) for cell in found}
            self.cells = [cell for cell in self.cells if id(cell) not in taken]
            text = "\n\n".join(LINE.sub("", cell.source.strip(), count=1).strip() for cell in found)
            answer.source = with_first_line(marked, text)
            keep_pictures(self.cells, answer, all_pictures(found))
        else:  # it stays where it is, since other cells may need what it computes
            owners[name] = [found[0]]
            found[0].metadata = from_dict(marked.metadata())
            self.cells.pop(at)

    def _above(self, marked: MarkedCell, at: int) -> list[NotebookNode]:
        """The student's text above, down from the lesson's own; not what continues another answer."""
        own = self._own(reversed(self.cells[:at]))[::-1]
        lessons = self.cells[at - len(own) - 1] if at > len(own) else None
        if lessons is not None and (name := grade_id(lessons)):
            before = self._released.marked[name]
            if before.task or before.solution:
                return []
        elif lessons is not None and (added := self._added_to(lessons)):
            own = [added, *own]
        return self._may_answer(marked, own)

    def _added_to(self, cell: NotebookNode) -> NotebookNode | None:
        """The student's text below the lesson's in a cell of the lesson."""
        text = next((plain.source.strip() for plain in self._released.plain if plain.cell_id == cell.get("id")), "")
        added = cell.source.strip().removeprefix(text).strip()
        if cell.cell_type != "markdown" or not text or not added or added == cell.source.strip():
            return None
        cell.source = text
        return text_cell(added, cell.pop("attachments", {}))

    def _own(self, cells: Iterable[NotebookNode]) -> list[NotebookNode]:
        """The student's own cells before the lesson's next."""
        own = list[NotebookNode]()
        for cell in cells:
            if grade_id(cell) or any(matches(cell, plain) for plain in self._released.plain):
                break
            own.append(cell)
        return own

    def _may_answer(self, marked: MarkedCell, cells: Sequence[NotebookNode]) -> list[NotebookNode]:
        exercises = [other.name for other in self._released.marked.values() if other.solution and not other.grade]
        return [
            cell
            for cell in cells
            if (cell.source.strip() or cell.get("attachments"))
            and not any(defines(cell.source, name) for name in exercises)
            and (_reads_as_prose(cell) if is_prose(marked) else cell.cell_type == "code" and bool(cell.source.strip()))
        ]


def is_prose(marked: MarkedCell) -> bool:
    return marked.cell_type == "markdown" or bool(_first_line(marked))


def with_first_line(marked: MarkedCell, text: str) -> str:
    """A student's text as the source of a cell; `%%answer` is above it if it was released so."""
    first = _first_line(marked)
    return text if not first or LINE.match(text) else f"{first}\n{text}"


def keep_pictures(cells: list[NotebookNode], cell: NotebookNode, pictures: Attachments) -> None:
    """Attach pictures to a cell, or to a text below it: code holds none."""
    if pictures and cell.cell_type == "code":
        below = text_cell(references(pictures), pictures)
        below.metadata = from_dict({"tags": [PICTURES]})
        cells.insert(next(place for place, other in enumerate(cells) if other is cell) + 1, below)
    elif pictures:
        cell.attachments = from_dict({**cell.get("attachments", {}), **pictures})


def text_cell(source: str, pictures: Attachments) -> NotebookNode:
    cell = {"cell_type": "markdown", "id": "", "metadata": {}, "source": source}
    result: NotebookNode = from_dict({**cell, "attachments": pictures} if pictures else cell)
    return result


def matches(cell: NotebookNode, plain: PlainCell) -> bool:
    same = bool(plain.source.strip()) and cell.source.strip() == plain.source.strip()
    return "nbgrader" not in cell.metadata and (cell.get("id") == plain.cell_id != "" or same)


def _first_line(marked: MarkedCell) -> str:
    """The line with `%%answer`; "" if the cell has none."""
    asked = answered_question({"cell_type": marked.cell_type, "source": marked.visible})
    return marked.visible.partition("\n")[0] if asked else ""


def _is_unchanged(cell: NotebookNode, marked: MarkedCell) -> bool:
    if cell.get("attachments"):
        return False
    if cell.source.removeprefix("# ") == MISSING_ANSWER.format(marked.name).removeprefix("# "):
        return True
    if not is_prose(marked):
        return not cell.source.strip() or same_code(cell.source, marked.visible)
    text = written_answer(cell.source) if _first_line(marked) else cell.source.strip()
    return text in ("", STUB, marked.visible.strip())


def _reads_as_prose(cell: NotebookNode) -> bool:
    """Whether a cell is text, or code that computes nothing: text in a cell of the wrong type."""
    tree = parse(cell.source) if cell.cell_type == "code" else None
    values = (ast.Constant, ast.Name)
    return tree is None or all(isinstance(line, ast.Expr) and isinstance(line.value, values) for line in tree.body)
