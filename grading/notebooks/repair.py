"""Restores a submission's cells: marks, missing cells, changed checks, copies.

A judge does this first, whatever the student's editor did to the cells. A cell belongs to an exercise by its grade_id,
else by its cell id, else by its content; all metadata that nbgrader uses then comes from the gradebook and none from
the student. Missing cells are put back, changed checks restored, copies resolved, checks moved below their answers; the
student's own cells stay where they were. `nb.metadata["attention_course"]["repairs"]` describes every repair, but not
what only differs because the lesson was released again (`handed_out`).

A notebook without any exercise of the lesson (most often another lesson's) is marked as unreadable, like a file that
could not be read: a person decides, and nothing is run.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from functools import partial

from nbformat.notebooknode import NotebookNode, from_dict

from course.which_counts import answer_ends
from grading.grader.cell_code import bound_names, defines, parse, same_code
from grading.notebooks.cells import RECORD, grade_id

from .answers_beside import MISSING_ANSWER, AnswersBeside, keep_pictures, matches, text_cell, with_first_line
from .handed_out import Checksums, find_release, is_as_handed_out, kept_checksum, todays_release
from .named_pictures import gather_pictures
from .released import MarkedCell, PlainCell, ReleasedNotebook
from .repair_notes import Notes
from .written_answers import answered_question

LANGUAGE = "python"  # of the lessons
LOG = logging.getLogger(__name__)
NOTHING_FOUND = (
    "None of this lesson's exercises is in the notebook. Is it the right file? "
    "Hand in the notebook of this lesson, under its own name."
)
FAILED = (
    "The grader could not put this notebook's cells in order. That is an error of the grader ({}), not of the student."
)
ANSWER_ABOVE = "# The answer to {} is in another cell, above; this cell was handed in unchanged."
MISSING_BUT_ELSEWHERE = "# The cell for {} was missing; its answer is in another cell."


def repair(nb: NotebookNode, released: ReleasedNotebook, earlier: Sequence[Checksums] = ()) -> None:
    """Repair a notebook in place; its record says what was repaired.

    earlier  checksums of the cells in earlier releases, newest first
    """
    record = {"repairs": [], **nb.metadata.get(RECORD, {})}
    notes, cells = Notes(), nb.cells
    if "unreadable" in record:
        nb.cells = [*cells, *_NotebookRepair([], released, Notes()).cells]
    else:
        try:
            result = _NotebookRepair(cells, released, notes, earlier)
            nb.cells = result.cells
            if not result.found:
                notes, record["unreadable"] = Notes(), NOTHING_FOUND
        except Exception as error:  # a submission must never stop the batch: it goes to a person
            LOG.exception("The repair itself failed")
            record["unreadable"] = FAILED.format(type(error).__name__)
            nb.cells = _NotebookRepair([], released, Notes()).cells
    _require_python(nb, notes)
    record["repairs"] = [*record["repairs"], *notes.sentences()]
    nb.metadata = from_dict({"kernelspec": released.kernelspec, "language_info": {"name": LANGUAGE}, RECORD: record})


def _require_python(nb: NotebookNode, notes: Notes) -> None:
    spec = nb.metadata.get("kernelspec")
    language = spec.get("language") if isinstance(spec, dict) else None
    if isinstance(language, str) and language and language.lower() != LANGUAGE:
        notes.add("language", language[:40])


class _NotebookRepair:
    """One pass: `cells` is the result, `found` whether any exercise was in it."""

    def __init__(
        self,
        cells: Iterable[NotebookNode],
        released: ReleasedNotebook,
        notes: Notes,
        earlier: Sequence[Checksums] = (),
    ) -> None:
        self.cells = list(cells)
        self.released = released
        self.notes = notes
        self.todays = todays_release(released)
        self.handed_out = find_release(self.cells, released, earlier)
        self.owners: dict[str, list[NotebookNode]] = {name: [] for name in released.marked}
        self._claim_by_marks()
        self._claim_checks_by_content()
        self._choose_checks()
        self._claim_answers_by_content()
        self.found = any(self.owners.values()) or any(
            self._definitions(cell.name) for cell in released.marked.values() if cell.solution
        )
        self._choose_answers()
        self._claim_answers_by_content()  # a cell that was not chosen may hold another exercise's answer
        self._set_stubs_aside()
        self._gather_pictures()
        self._mark()
        self._put_back_answers()
        self._put_checks_in_place()
        self.cells = AnswersBeside(self.cells, released, self.owners, notes).cells
        self._name_cells()

    # Assign cells to exercises

    def _claim_by_marks(self) -> None:
        for cell in self.cells:
            name = grade_id(cell)
            if name not in self.released.marked:
                if cell.metadata.get("nbgrader") and name not in self.handed_out:
                    self.notes.add("strange", name[:40] or "without a name")
                colab = cell.metadata.get("id")
                ids = (i for i in (cell.get("id"), colab) if isinstance(i, str))
                name = next((self.released.by_id[i] for i in ids if i in self.released.by_id), "")
            if name:
                self.owners[name].append(cell)

    def _claim_checks_by_content(self) -> None:
        for name, owners in self.owners.items():
            marked = self.released.marked[name]
            if not owners and marked.locked:
                owners += [c for c in self._unclaimed() if same_code(c.source, marked.visible)]

    def _claim_answers_by_content(self) -> None:
        for name, owners in self.owners.items():
            if not owners and self.released.marked[name].solution:
                found = [c for c in self._unclaimed() if defines(c.source, name) or answered_question(c) == name]
                code = [cell for cell in found if cell.cell_type == "code"]
                owners += code or found[-1:]

    def _unclaimed(self) -> list[NotebookNode]:
        claimed = {id(cell) for owners in self.owners.values() for cell in owners}
        return [cell for cell in self.cells if id(cell) not in claimed]

    # Resolve copies

    def _choose_checks(self) -> None:
        """Choose the last check right below an answer; keep code of a changed one."""
        for name, owners in self.owners.items():
            marked = self.released.marked[name]
            if not marked.locked or not owners:
                continue
            if len(owners) > 1:
                self.notes.add("checks", marked.exercise)
                answer = self.released.answer_of(marked)
                above = self._owners_above(name)
                below = [c for c in owners if answer is not None and above[id(c)] == answer]
                owners[:] = (below or owners)[-1:]
            cell = owners[0]
            is_other = not same_code(cell.source, marked.visible) and cell.source != marked.source
            if is_other and not is_as_handed_out(cell):
                self.notes.add("changed", marked.exercise)
                self._keep_code_of(cell, marked)

    def _owners_above(self, name: str) -> dict[int, str | None]:
        """For each cell, by id(), the nearest marked cell above with a name other than `name`."""
        owner = {id(c): n for n, owners in self.owners.items() for c in owners}
        above, nearest = dict[int, str | None](), None
        for cell in self.cells:
            above[id(cell)] = nearest
            nearest = nearest if owner.get(id(cell)) in (None, name) else owner[id(cell)]
        return above

    def _keep_code_of(self, cell: NotebookNode, marked: MarkedCell) -> None:
        tree = parse(cell.source)
        answers = (c.name for c in self.released.marked.values() if c.solution)
        if (tree and bound_names(tree)) or any(defines(cell.source, name) for name in answers):
            self.notes.add("kept", marked.exercise)
            self.cells.insert(self._index(cell), _code_cell(cell.source))

    def _choose_answers(self) -> None:
        """Choose the last cell that defines the answer; the others become plain code.

        An unchanged copy of the release's cell is removed, because it would undo the answer.
        """
        for name, owners in self.owners.items():
            marked = self.released.marked[name]
            if marked.locked or len(owners) < 2:
                continue
            self.notes.add("answers", name)
            written = [c for c in owners if not same_code(c.source, marked.source)]
            if written:
                untouched = {id(c) for c in owners} - {id(c) for c in written}
                self.cells = [cell for cell in self.cells if id(cell) not in untouched]

            places = {id(cell): place for place, cell in enumerate(self.cells)}
            owners[:] = [max(written or owners, key=partial(self._answer_rank, name, places))]

    def _set_stubs_aside(self) -> None:
        """Disable an unchanged release cell that would undo an answer above it."""
        for name, owners in self.owners.items():
            stub = self.released.marked[name].source
            if self.released.marked[name].locked or not owners or not defines(stub, name):
                continue
            own = [c for c in self._unclaimed() if c.cell_type == "code" and _defines_answer(c.source, name)]
            stubs = {id(c) for c in own if same_code(c.source, stub)}
            written = [c for c in own if id(c) not in stubs]
            if same_code(owners[0].source, stub):
                if not written or self._index(written[-1]) > self._index(owners[0]):
                    continue
                owners[0].source = ANSWER_ABOVE.format(name)
                self.notes.add("answer elsewhere", name)
            self.cells = [cell for cell in self.cells if id(cell) not in stubs]

    def _answer_rank(self, name: str, places: dict[int, int], cell: NotebookNode) -> tuple[bool, bool, bool, int]:
        """How likely a cell is the answer to `name`; the greatest value wins."""
        place, check = places[id(cell)], self._check_of(name)
        above = check is None or place < places[id(check)]
        return defines(cell.source, name), cell.cell_type == "code", above, place

    # Restore the chosen cells

    def _gather_pictures(self) -> None:
        lessons = {cell.source.strip() for cell in self.released.plain}
        lessons |= {cell.source.strip() for cell in self.released.marked.values() if cell.locked}
        for cell in self.cells:
            if (cell.cell_type == "markdown" or answered_question(cell)) and cell.source.strip() not in lessons:
                gather_pictures(cell)

    def _mark(self) -> None:
        owner = {id(cell): name for name, owners in self.owners.items() for cell in owners}
        for cell in list(self.cells):
            if id(cell) in owner:
                self._restore(cell, self.released.marked[owner[id(cell)]])
            else:
                tags = self.released.tags_of(cell.cell_type, cell.source)
                cell.metadata = from_dict({"tags": list(tags)} if tags else {})

    def _restore(self, cell: NotebookNode, marked: MarkedCell) -> None:
        trusted, marks = marked.metadata(), cell.metadata.get("nbgrader")
        expected = {k: v for k, v in trusted["nbgrader"].items() if k not in ("checksum", "cell_type")}
        is_earlier = self._is_of_earlier_release(cell, marked)
        is_lost = not isinstance(marks, dict) or any(marks.get(k, False) != v for k, v in expected.items())
        if is_lost and not is_earlier:
            self.notes.add("lost", marked.name)
        tags = cell.metadata.get("tags")
        if marked.locked and tags and tags != list(marked.tags) and not is_earlier:
            self.notes.add("tags", marked.name)
        if cell.cell_type != marked.cell_type and not is_earlier:
            self.notes.add("retyped", marked.name)
        if marked.locked and marked.cell_type != "code" and not is_as_handed_out(cell):
            self._keep_text_of(cell, marked)
        pictures = cell.pop("attachments", {})
        _retype(cell, marked.cell_type)
        cell.metadata = from_dict(trusted)
        if marked.locked:
            cell.source = marked.source
        else:
            cell.source = with_first_line(marked, cell.source)
            keep_pictures(self.cells, cell, pictures)

    def _keep_text_of(self, cell: NotebookNode, marked: MarkedCell) -> None:
        """Keep what was written into a locked text, in a cell of its own below."""
        added = cell.source.strip().removeprefix(marked.source.strip()).strip()
        if (marked.task or added != cell.source.strip()) and (added or cell.get("attachments")):
            self.notes.add("text kept", marked.name)
            self.cells.insert(self._index(cell) + 1, text_cell(added, cell.get("attachments", {})))

    def _is_of_earlier_release(self, cell: NotebookNode, marked: MarkedCell) -> bool:
        """Whether the cell's marks differ because the lesson was released again since."""
        return kept_checksum(cell) not in ("", self.todays[marked.name])

    def _note_missing(self, kind: str, cell: str, what: str) -> None:
        """Note a missing cell, unless the student's release did not have it."""
        if cell in self.handed_out:
            self.notes.add(kind, what)

    # Put back what is missing or in the wrong place

    def _put_back_answers(self) -> None:
        for name, owners in self.owners.items():
            marked = self.released.marked[name]
            if owners or (marked.grade and not marked.solution):
                continue
            elsewhere, check = self._definitions(name), self._check_of(name)
            if marked.locked:
                self._note_missing("no text", name, name)
                cell = _cell_of(marked, marked.source)
            else:
                if elsewhere:
                    self.notes.add("answer elsewhere", name)
                else:
                    self._note_missing("no answer", name, name)
                text = MISSING_BUT_ELSEWHERE if elsewhere else MISSING_ANSWER
                note = text.format(name)
                cell = _cell_of(marked, note if marked.cell_type == "code" else note.lstrip("# "))
            if elsewhere and check is None:
                place = self._index(elsewhere[-1]) + 1
            elif check is not None and not elsewhere:
                place = self._index(check)
            else:
                place = self._index_for(marked)
            self.cells.insert(place, cell)
            owners.append(cell)

    def _put_checks_in_place(self) -> None:
        """Put each check below its answer, or below the other cell that holds it."""
        for name, owners in self.owners.items():
            marked = self.released.marked[name]
            if not marked.grade or marked.solution:
                continue
            answer = self.released.answer_of(marked)
            anchor = self._last_of_answer(answer) if answer else None
            if not owners:
                self._note_missing("no check", name, marked.exercise)
                owners.append(_cell_of(marked, marked.source))
                place = self._index_for(marked) if anchor is None else self._index(anchor) + 1
                self.cells.insert(place, owners[0])
            elif anchor is not None and self._index(anchor) > self._index(owners[0]):
                self.notes.add("moved", marked.exercise)
                self.cells.pop(self._index(owners[0]))
                self.cells.insert(self._index(anchor) + 1, owners[0])

    def _last_of_answer(self, name: str) -> NotebookNode:
        answer, stub = self.owners[name][0], self.released.marked[name].source
        is_version = defines(answer.source, name) and not same_code(answer.source, stub)
        own, versions = self._index(answer), map(self._index, [answer, *self._definitions(name)])
        end = answer_ends(versions, own if is_version else None)
        return answer if end is None else self.cells[end]

    def _definitions(self, name: str) -> list[NotebookNode]:
        return [c for c in self.cells if c.cell_type == "code" and defines(c.source, name)]

    def _check_of(self, name: str) -> NotebookNode | None:
        for grade in self.released.marked.values():
            if grade.grade and not grade.solution and self.released.answer_of(grade) == name:
                return next(iter(self.owners[grade.name]), None)
        return None

    def _index_for(self, marked: MarkedCell) -> int:
        """The index below the nearest lesson cell above that is here; else the end."""
        above = self.released.order[: self.released.order.index(marked)]
        for cell in reversed(above):
            here = self._present_cells(cell)
            if here:
                return self._index(here[-1]) + 1
        return len(self.cells) if above else 0

    def _present_cells(self, cell: MarkedCell | PlainCell) -> list[NotebookNode]:
        if isinstance(cell, MarkedCell):
            return self.owners[cell.name]
        return [c for c in self.cells if matches(c, cell)]

    def _index(self, cell: NotebookNode) -> int:
        return next(i for i, other in enumerate(self.cells) if other is cell)

    def _name_cells(self) -> None:
        """Give every cell its own id; restored cells take the lesson's if it is free."""
        taken: set[str] = set()
        for cell in self.cells:
            if cell.get("id") in taken:
                cell.id = ""
            taken.add(cell.get("id", ""))
        for number, cell in enumerate(self.cells, 1):
            if not cell.get("id"):
                name = grade_id(cell)
                wanted = [self.released.marked[name].cell_id or name] if name else []
                numbered = (f"{name or 'kept'}-{n}" for n in range(number, number + len(taken) + 1))
                cell.id = next(i for i in [*wanted, *numbered] if i not in taken)
                taken.add(cell.id)


def _defines_answer(source: str, name: str) -> bool:
    """Whether the code defines `name`, as far as it can be parsed; not by import."""
    from grading.grader.source_analysis import (
        NotebookSource,
    )  # it imports torch, which the coordinator leaves to judges

    return defines(source, name) and (parse(source) is None or name in NotebookSource([source]).definitions)


def _code_cell(source: str) -> NotebookNode:
    cell = {"cell_type": "code", "id": "", "metadata": {}, "source": source}
    result: NotebookNode = from_dict({**cell, "execution_count": None, "outputs": []})
    return result


def _cell_of(marked: MarkedCell, source: str) -> NotebookNode:
    cell = _code_cell(source)
    cell.metadata = from_dict(marked.metadata())
    _retype(cell, marked.cell_type)
    return cell


def _retype(cell: NotebookNode, cell_type: str) -> None:
    cell.cell_type = cell_type
    if cell_type == "code":
        cell.execution_count, cell.outputs = None, []
    else:
        cell.pop("outputs", None)
        cell.pop("execution_count", None)
