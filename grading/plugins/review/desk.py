"""The review page's view of one lesson, and all its actions, as plain data.

Each method answers one request of the page. Each change is one transaction and one step that can be undone.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from nbgrader.api import Assignment, BaseCell, Comment, Gradebook, Student, SubmittedAssignment, SubmittedNotebook
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy import select

from course.models.write_file import write_file
from grading.course import Course
from grading.errors import Conflict, ReviewError
from grading.exercises.question import load_questions
from grading.exercises.rubric import Rubric, file_of, load_rubric
from grading.gradebook.open_grades import ReopenedRow
from grading.gradebook.store import GradeRow
from grading.notebooks.sanitize_html import MAX_TEXT

from . import comment_bank, rubric_changes
from .answer_groups import Submitted, answer_groups
from .answer_texts import AnswerTexts
from .marks import Mark, demand_unchanged, locked, read_marks, write_marks
from .requests import count_answers, in_words, wanted_mark
from .review_questions import ReviewQuestion, load_review_questions
from .rubric_changes import from_page
from .steps import Step, add_step, count_steps, find_step, last_steps, mark_undone

MOST_SHOWN = 100_000  # characters of an answer
MOST_COMMENT = 20_000
Data = dict[str, Any]


class ReviewDesk:
    """Serves one lesson of a course to the review page.

    Reads the questions at the start, and everything else on request.
    """

    def __init__(self, course: Course, lesson: str, gradebook: Gradebook) -> None:
        self.course, self.lesson, self.gradebook = course, lesson, gradebook
        self._coursedir, self._penalties = course.directory(), AssignLatePenalties(config=course.config)
        self._texts = AnswerTexts(self._coursedir, lesson)
        self.questions: dict[str, ReviewQuestion] = {}
        self.load_questions()

    def load_questions(self) -> None:
        """Read the lesson's questions again, since more exercises may need a person now."""
        contracts = load_questions(self.course.root / "grader_tests" / self.lesson)
        found = load_review_questions(self.gradebook, self.lesson, self._coursedir, contracts)
        questions = {question.key: question for question in found}
        if questions != self.questions:
            self._texts.forget()
        self.questions = questions

    # reading

    def overview(self) -> Data:
        """The lesson's questions, each with its progress."""
        self._fresh()
        self.load_questions()
        rows = []
        for question in self.questions.values():
            marks = self._marks_shown(question, self._rubric(question))
            waiting = sum(mark.waiting for mark in marks.values())
            about = {"key": question.key, "title": question.title, "kind": question.kind, "points": question.points}
            rows.append({**about, "total": len(marks), "done": len(marks) - waiting})
        return {"lesson": self.lesson, "questions": rows}

    def question(self, key: str, *, names: bool) -> Data:
        """A question with its rubric and its answers, in groups of equivalent ones.

        `names`: whether to include the students' names.
        """
        self._fresh()
        question = self._question(key)
        rubric = self._rubric(question)
        marks, submitted = self._marks_shown(question, rubric), self._submitted(question)
        texts = {key: self._text(question, submitted[key]) for key in marks}
        used = Counter(item for mark in marks.values() for item in mark.items)
        return {
            "key": key,
            "title": question.title,
            "kind": question.kind,
            "code": question.code,
            "points": question.points,
            "text": str(question.text),
            "model_answer": str(question.model_answer),
            "comments": question.cells.comment_id is not None,
            "rubric": {
                "stamp": rubric.stamp,
                "from_full": rubric.from_full,
                "items": [{"id": i.id, "text": i.text, "points": i.points, "used": used[i.id]} for i in rubric.items],
            },
            "groups": answer_groups(
                question, rubric, marks, submitted, texts, self._reasons(question, marks, submitted), names=names
            ),
            "total": len(marks),
            "done": sum(not mark.waiting for mark in marks.values()),
            "outdated": len(self._outdated(rubric, marks)),
        }

    def answer(self, key: str, submitted: str) -> Data:
        """The text of one answer, cut to the length that the page shows at once."""
        self._fresh()
        question = self._question(key)
        found = self._submitted(question).get(submitted)
        if found is None:
            raise ReviewError("there is no such answer")
        text = self._text(question, found)
        if text is None:
            return {"missing": True, "text": "", "length": 0, "cut": False}
        cut = len(text) > MOST_SHOWN
        return {"missing": False, "text": text[:MOST_SHOWN], "length": len(text), "cut": cut}

    def to_render(self, key: str, submitted: str) -> tuple[Path, str] | None:
        """The notebook and the text of an answer, if it can be rendered."""
        self._fresh()
        question = self._question(key)
        found = self._submitted(question).get(submitted)
        text = self._text(question, found) if found else None
        if found is None or text is None or question.code or question.is_blank(text) or len(text) > MAX_TEXT:
            return None
        return self._texts.file_of(found.notebook, found.student), text

    def bank(self, key: str) -> list[Data]:
        """The comments to offer for a question, most used first."""
        self._fresh()
        here = f"{self.lesson}/{self._question(key).cells.name}"
        written = list(
            self.gradebook.db.scalars(select(Comment.manual_comment).where(Comment.manual_comment.is_not(None)))
        )
        rows = [
            {"text": c.text, "question": c.question, "used": sum(c.text in text for text in written)}
            for c in comment_bank.load_comments(self.course)
            if c.question in ("", here)
        ]
        return sorted(rows, key=lambda row: -row["used"])

    def steps(self, page: str) -> list[Data]:
        """The lesson's last steps, newest first."""
        self._fresh()
        titles = {question.key: question.title for question in self.questions.values()}
        return [
            {
                "id": stored.id,
                "what": stored.step.what,
                "question": titles.get(stored.step.question, ""),
                "by": stored.by,
                "at": f"{stored.at.isoformat()}Z",
                "mine": stored.page == page,
                "undone": stored.undone,
            }
            for stored in last_steps(self.gradebook, self.lesson)
        ]

    def count_steps(self) -> int:
        self._fresh()
        return count_steps(self.gradebook, self.lesson)

    # changing

    def grade(self, by: str, page: str, key: str, seen: Mapping[str, str], wanted: Mapping[str, Any]) -> Data:
        """Give answers points and a comment.

        seen    the stamp of each answer, by its id
        wanted  `items`, `adjust` and `comment`; a missing one stays as it is. `graded`: whether a person has graded the
                answer (default: if it has an item or added points). `accept`: keep its points, so that it no longer
                waits for a person

        Raises Conflict, and writes nothing, if somebody else changed one of the answers.
        """
        question = self._question(key)
        if len(str(wanted.get("comment") or "")) > MOST_COMMENT:
            raise ReviewError(f"a comment may have at most {MOST_COMMENT:,} characters")

        def changed(rubric: Rubric, marks: Mapping[str, Mark]) -> dict[str, Mark]:
            return {name: wanted_mark(marks[name], rubric, wanted) for name in seen}

        return self._write(by, page, question, seen, changed, in_words(len(seen), wanted))

    def take_out(self, by: str, page: str, key: str, seen: Mapping[str, str], alone: bool) -> Data:
        """Take answers out of their group, or put them back. Raises Conflict."""
        what = f"{count_answers(len(seen))} {'taken out of' if alone else 'put back into'} the group of equal answers"

        def changed(_: Rubric, marks: Mapping[str, Mark]) -> dict[str, Mark]:
            return {name: replace(marks[name], alone=alone) for name in seen}

        return self._write(by, page, self._question(key), seen, changed, what)

    def change_rubric(
        self, by: str, page: str, key: str, stamp: str, rows: list[Data], from_full: bool, expected: str | None
    ) -> Data:
        """Change a question's rubric, and the points of all answers graded with it.

        stamp     of the rubric that the page shows
        expected  `digest` of the changes that the page has shown; None only computes them

        Raises Conflict if the rubric, or the effect of the change, differs from what was shown.
        """
        question = self._question(key)
        everyone = self._submitted(question)
        with locked(self.gradebook, everyone):
            old = self._rubric(question)
            if old.stamp != stamp:
                raise Conflict("somebody else changed the rubric in the meantime", [])
            marks = self._marks(question, old)
            taken = {item for mark in marks.values() for item in mark.items}
            new = from_page(rows, question.points, from_full, taken)
            after = rubric_changes.changed_marks(new, marks)
            found = {
                "changes": rubric_changes.summary(marks, after),
                "digest": rubric_changes.digest(marks, after),
                "applied": False,
            }
            if expected is None:
                return found
            if expected != found["digest"]:
                raise Conflict("answers were graded in the meantime: look at the changes once more", [])
            file = file_of(self.course.root, self.lesson, question.cells.name)
            before_text = file.read_text(encoding="utf-8") if file.exists() else None
            self._save(by, question, after)
            what = f"rubric changed, and {count_answers(len(after))} with it"
            files = {str(file.relative_to(self.course.root)): (before_text, new.to_file())}
            step = self._step(question, what, marks, after, new, files)
            number = add_step(self.gradebook, self.lesson, page, by, step)
            self._replace_files(files, new=True)
        return {**found, "applied": True, "step": number}

    def bring_up_to_date(self, by: str, page: str, key: str) -> Data:
        """Compute points again that come from an earlier version of the rubric's file."""
        question = self._question(key)

        def changed(rubric: Rubric, marks: Mapping[str, Mark]) -> dict[str, Mark]:
            return self._outdated(rubric, marks)

        return self._write(by, page, question, {}, changed, "points computed again with the rubric from the file")

    def keep_comment(self, by: str, page: str, key: str, text: str, here_only: bool) -> None:
        """Add a comment to the bank."""
        where = f"{self.lesson}/{self._question(key).cells.name}" if here_only else ""
        new = comment_bank.BankComment(text.strip(), where)
        self._change_bank(by, page, "comment kept in the bank", lambda rows: comment_bank.with_comment(rows, new))

    def drop_comment(self, by: str, page: str, text: str, question: str) -> None:
        """Delete a comment from the bank; students keep comments given before."""
        gone = comment_bank.BankComment(text, question)
        self._change_bank(by, page, "comment deleted from the bank", lambda rows: [c for c in rows if c != gone])

    def undo(self, by: str, page: str, number: int | None) -> Data:
        """Undo a step, or this page's last one.

        Raises Conflict if its result was changed again since then.
        """
        stored = find_step(self.gradebook, self.lesson, number, page)
        if stored is None:
            raise ReviewError("there is nothing to undo")
        step = stored.step
        question = self.questions.get(step.question)
        if step.before and question is None:
            raise ReviewError("its question is no longer in the lesson")
        with locked(self.gradebook, step.before):
            self._demand_files(step)
            if question is not None:
                marks = self._marks(question, self._rubric(question))
                demand_unchanged(marks, {key: mark.stamp for key, mark in step.after.items()})
                self._save(by, question, step.before)
            mark_undone(self.gradebook, stored.id)
            self._replace_files(step.files, new=False)
        return {"undone": step.what, "question": step.question, "answers": list(step.before)}

    # helpers

    def _write(
        self,
        by: str,
        page: str,
        question: ReviewQuestion,
        seen: Mapping[str, str],
        changed: Callable[[Rubric, Mapping[str, Mark]], Mapping[str, Mark]],
        what: str,
    ) -> Data:
        with locked(self.gradebook, seen or self._submitted(question)):
            rubric = self._rubric(question)
            marks = self._marks(question, rubric)
            demand_unchanged(marks, seen)
            after = {key: mark for key, mark in changed(rubric, marks).items() if mark.stamp != marks[key].stamp}
            if not after:
                return {"step": None, "answers": {}}
            self._save(by, question, after)
            step = self._step(question, what, marks, after, rubric, {})
            number = add_step(self.gradebook, self.lesson, page, by, step)
        return {"step": number, "answers": {key: mark.stamp for key, mark in step.after.items()}}

    def _save(self, by: str, question: ReviewQuestion, marks: Mapping[str, Mark]) -> None:
        write_marks(self.gradebook, question.cells, marks, by, self._penalties)

    def _step(
        self,
        question: ReviewQuestion,
        what: str,
        before: Mapping[str, Mark],
        after: Mapping[str, Mark],
        rubric: Rubric,
        files: Mapping[str, tuple[str | None, str | None]],
    ) -> Step:
        """The step with the marks read back from the gradebook.

        An undo compares with them.
        """
        now = read_marks(self.gradebook, question.cells, rubric)
        changes = {key: before[key] for key in after}, {key: now[key] for key in after}
        return Step(what, question.key, *changes, files)

    def _change_bank(
        self,
        by: str,
        page: str,
        what: str,
        change: Callable[[list[comment_bank.BankComment]], list[comment_bank.BankComment]],
    ) -> None:
        file = self.course.root / comment_bank.FILE
        everyone = [name for question in self.questions.values() for name in self._submitted(question)]
        with locked(self.gradebook, everyone):  # writers of the bank take turns
            old = comment_bank.load_comments(self.course)
            new = change(list(old))
            if new == old:
                return
            before = file.read_text(encoding="utf-8") if file.exists() else None
            comment_bank.save_comments(self.course, new)
            after = file.read_text(encoding="utf-8") if file.exists() else None
            add_step(self.gradebook, self.lesson, page, by, Step(what, files={comment_bank.FILE: (before, after)}))

    def _demand_files(self, step: Step) -> None:
        for name, (_, after) in step.files.items():
            file = self.course.root / name
            if (file.read_text(encoding="utf-8") if file.exists() else None) != after:
                raise Conflict(f"{name} was changed again afterwards", [])

    def _replace_files(self, files: Mapping[str, tuple[str | None, str | None]], *, new: bool) -> None:
        """Replace files as the last part of a transaction.

        If the commit after this fails, the page offers to compute the points again.
        """
        for name, (before, after) in files.items():
            write_file(self.course.root / name, after if new else before)

    def _fresh(self) -> None:
        """End the last request's transaction, so that this one reads what others wrote."""
        self.gradebook.db.rollback()

    def _question(self, key: str) -> ReviewQuestion:
        if key not in self.questions:
            raise ReviewError("there is no such question in this lesson")
        return self.questions[key]

    def _rubric(self, question: ReviewQuestion) -> Rubric:
        file = file_of(self.course.root, self.lesson, question.cells.name)
        return load_rubric(file, question.points, question.contract)

    def _marks(self, question: ReviewQuestion, rubric: Rubric) -> dict[str, Mark]:
        return read_marks(self.gradebook, question.cells, rubric)

    def _marks_shown(self, question: ReviewQuestion, rubric: Rubric) -> dict[str, Mark]:
        """The marks to show.

        Of an exercise, these are only marks that need a person or have manual points.
        """
        marks = self._marks(question, rubric)
        if question.kind != "exercise":
            return marks
        return {key: mark for key, mark in marks.items() if mark.waiting or mark.manual is not None}

    def _outdated(self, rubric: Rubric, marks: Mapping[str, Mark]) -> dict[str, Mark]:
        old = {key: mark for key, mark in marks.items() if mark.outdated(rubric)}
        return rubric_changes.changed_marks(rubric, old)

    def _submitted(self, question: ReviewQuestion) -> dict[str, Submitted]:
        """Graded submissions by the id of the submitted notebook."""
        rows = self.gradebook.db.execute(
            select(SubmittedNotebook.id, Student.id, Student.first_name, Student.last_name)
            .add_columns(GradeRow.digest, GradeRow.verdicts)
            .join(GradeRow, GradeRow.notebook_id == SubmittedNotebook.id)
            .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
            .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
            .join(Student, Student.id == SubmittedAssignment.student_id)
            .join(BaseCell, BaseCell.notebook_id == SubmittedNotebook.notebook_id)
            .where(BaseCell.id == question.cells.cell_id, Assignment.name == self.lesson)
        )
        name = question.cells.notebook
        return {
            row[0]: Submitted(row[0], row[1], " ".join(filter(None, (row[2], row[3]))), name, row[4], row[5])
            for row in rows
        }

    def _reasons(
        self, question: ReviewQuestion, marks: Mapping[str, Mark], submitted: Mapping[str, Submitted]
    ) -> dict[str, str]:
        """Reasons why answers need a person, by id of the submitted notebook."""
        rows = self.gradebook.db.execute(
            select(ReopenedRow.notebook_id, ReopenedRow.because).where(ReopenedRow.cell == question.cells.name)
        )
        asked = {row.notebook_id: f"To look at again: {row.because}" for row in rows}
        found = {}
        for key, mark in marks.items():
            error = _grader_error(submitted[key], question) if question.kind == "exercise" else ""
            if why := "; ".join(filter(None, (error, asked.get(key, "") if mark.waiting else ""))):
                found[key] = why
        return found

    def _text(self, question: ReviewQuestion, of: Submitted) -> str | None:
        return self._texts.of(self.questions.values(), of.notebook, of.id, of.student, of.digest).get(question.key)


def _grader_error(submitted: Submitted, question: ReviewQuestion) -> str:
    """Why the grader left an exercise to a person; "" if it did not."""
    verdict = json.loads(submitted.verdicts).get(question.cells.name, {})
    return f"The grader could not grade it: {why}" if (why := verdict.get("grader_error")) else ""
