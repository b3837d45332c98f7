"""Proves the grader of one exercise.

A proof shows that
- the lesson's own solution earns full marks, and its stub nothing;
- every alternative, and every other correct answer that mistakes are edits of, earns full marks;
- every known mistake loses the criteria that it should lose, and is named;
- every mutant of a correct answer loses something, or is listed with a reason among the equivalents;
- the learner's own `check` passes the same answers as the grade, and names the same mistakes.

A step has no grade: its proof shows that `check` passes every right answer and names every known mistake.

Does not cover: proofs of whole lessons, and what is printed about them (`runner.py`).
"""

from __future__ import annotations

import contextlib
import io
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from course.cell_kinds import is_left_out
from course.harness.program import Program
from course.harness.runner import encode_reply
from course.models import right_functions

from ..authoring.check_data import outcomes_on_practice
from ..authoring.lesson_text import read_lesson
from ..errors import EquivalentsFileError
from ..exercises.answer_text import GIVEN, Answer
from ..exercises.case import PURITY, Case, Draw, describe
from ..exercises.exercise import Cases, Exercise, Mistake
from ..exercises.lesson import load_lesson
from ..grader.codec import Answers
from ..grader.grade_exercise import grade_exercise, known_verdict
from ..grader.local import grade_in_process, over_the_wire
from ..grader.references import mistake_findings, mistake_outcomes, prepare
from ..grader.verdict import ExerciseVerdict
from ..grader.verdict_report import to_report
from ..notebooks.cells import grade_id
from .equivalents import FILE, read_equivalents, to_toml
from .mutants import Mutant, mutants, sampled
from .mutation_runs import Trials, try_mutants
from .practice import Notebook, Replay, replay
from .unchanged import why_unchanged

SEEDS = (0, 1, 2)
SAMPLE = 6  # mutants of each alternative; those of the solution are all tried
SOLUTION = re.compile(r"^([ \t]*)### BEGIN SOLUTION.*?### END SOLUTION[^\n]*", re.M | re.S)


@dataclass(frozen=True)
class Problem:
    """A problem that blocks a release: the file, the fault and the remedy."""

    file: str
    fault: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.file}: {self.fault}\n    {self.remedy}"


@dataclass
class Proof:
    """Findings on one exercise; `problems` block a release.

    verdicts    answer -> its verdicts, one per seed
    trials      results of the mutants; None if none were tried
    replay      differences between the learner's own `check` and the grade; None if not compared
    equivalent  mutant -> why it may survive
    by_check    known mistakes of a step that `check` names
    """

    exercise: Exercise
    folder: str = ""
    verdicts: dict[str, list[ExerciseVerdict]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    trials: Trials | None = None
    replay: Replay | None = None
    equivalent: dict[str, str] = field(default_factory=dict)
    by_check: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        head = (
            f"{self.exercise.name}: {len(self.exercise.mistakes)} mistakes, {self.named} named rightly, "
            f"{len(self.exercise.alternatives)} alternatives"
        )
        if self.trials:
            killed = self.trials.tried - len(self.trials.survivors)
            head += f", {killed}/{self.trials.tried} mutants killed, {len(self.equivalent)} equivalent"
        if self.replay:
            head += f", check agrees on {self.replay.agree}/{self.replay.answers}"
        needless = [f"  nothing is caught by {name!r} alone" for name in self.needless]
        return "\n".join([head, *needless, *(f"  ✗ {problem}" for problem in self.problems)])

    def problem(self, file: str, fault: str, remedy: str) -> None:
        self.problems.append(Problem(f"{self.folder}/{file}", fault, remedy))

    @property
    def alone(self) -> dict[str, str]:
        """Criterion -> a known mistake that only this criterion catches, with some seed."""
        mistakes: dict[str, str] = {}
        for answer, verdicts in self.verdicts.items():
            for verdict in verdicts if answer.startswith("mistake ") else ():
                lost = [c.name for c in verdict.criteria if c.status != "right"]
                if len(lost) == 1:
                    mistakes.setdefault(lost[0], answer)
        return mistakes

    @property
    def needless(self) -> list[str]:
        """Criteria that could be removed without missing any known mistake or mutant."""
        alone = self.trials.alone if self.trials else None
        return [c.name for c in self.exercise.criteria if alone is not None and c.name not in alone]

    @property
    def caught(self) -> Counter[str]:
        """Criterion -> number of known mistakes that lose it with some seed."""
        return Counter(
            name
            for answer, verdicts in self.verdicts.items()
            if answer.startswith("mistake ")
            for name in {c.name for verdict in verdicts for c in verdict.criteria if c.status != "right"}
        )

    @property
    def named(self) -> int:
        """Number of known mistakes that get their own name with every seed, or of a step by its `check`."""
        if not self.exercise.points:
            return sum(all(form.name in self.by_check for form in m.all_forms) for m in self.exercise.mistakes)
        return sum(
            all(
                v.mistake_names == mistake.name
                for form in mistake.all_forms
                for v in self.verdicts[f"mistake {form.name}"]
            )
            for mistake in self.exercise.mistakes
        )

    def short_verdicts(self) -> dict[str, list[str]]:
        """Every verdict in short: 1 or 0 for each criterion, then the mistake's name."""
        return {
            answer: [
                "".join(str(int(c.status == "right")) for c in v.criteria)
                + (f" {v.mistake_names}" if v.mistake_names else "")
                for v in verdicts
            ]
            for answer, verdicts in self.verdicts.items()
        }


class Prover:
    """Proves the exercises of one lesson, with cases drawn from each of `seeds`."""

    def __init__(self, root: Path, name: str, seeds: tuple[int, ...] = SEEDS) -> None:
        self.seeds = seeds
        self.root, self.name = root, name
        self.lesson = load_lesson(root / "grader_tests" / name)
        self.solved, self.solutions = run_lesson_code(root, name)
        codes = {e: SOLUTION.sub(r"\1raise NotImplementedError()", code) for e, code in self.solutions.items()}
        stubs = {e: Answer(e, "stub", code).exec_in(dict(self.solved))[e] for e, code in codes.items()}
        self.stubs = self.solved | stubs
        for step in (step for step in self.lesson.steps.values() if step.points):  # the lesson has no solutions to them
            self.solutions[step.name] = step.alternatives[0].code
            self.solved[step.name] = step.alternatives[0].exec_in(dict(self.solved) | GIVEN)[step.name]

    def prove(self, exercise: Exercise, *, mutate: bool = True, replay: bool = True) -> Proof:
        proof = Proof(exercise, f"grader_tests/{self.name}/{exercise.name}")
        if not exercise.points:
            self._prove_step(proof)
            return proof
        self._prove_correct(proof, "solution", self.solved[exercise.name], list(self.solutions.values()))
        oracle = Answer(exercise.name, "oracle", exercise.stand_in).load()
        self._prove_correct(proof, "oracle", oracle, rules=_without_undefined_gradients(exercise), lenient=True)
        for alternative in exercise.alternatives:
            function, source = self._run_answer(alternative)
            self._prove_correct(proof, f"alternative {alternative.name}", function, source)
        for base in exercise.reference_answers:
            self._prove_correct(proof, f"{base.name}, of which mistakes are edits,", base.load(), lenient=True)
        stub = self._grade(exercise, self.stubs[exercise.name], self.seeds[0])
        if stub.earned or stub.status != "not started":
            fault = f"the stub earns {stub.earned:g} and is {stub.status!r}"
            proof.problem(
                "contract.py", fault, "Make the cases stricter: a learner who wrote nothing must earn nothing."
            )
        for mistake in exercise.mistakes:
            for form in mistake.all_forms:
                self._prove_mistake(proof, mistake, form)
        self._check_claims(proof)
        if replay:
            self._replay(proof)
        if mutate:
            self._mutate(proof)
        return proof

    def mutants(self, exercise: Exercise) -> list[Mutant]:
        """The mutants to try: all of the lesson's solution, and a sample of each alternative."""
        bases = {"solution": self.solutions[exercise.name]} | {a.name: a.code for a in exercise.alternatives}
        known = [
            a.code for a in (*exercise.reference_answers, *(form for m in exercise.mistakes for form in m.all_forms))
        ]
        every = mutants(bases, known)
        of_solution = [m for m in every if m.base.startswith("solution ")]
        return of_solution + sampled((m for m in every if not m.base.startswith("solution ")), SAMPLE)

    def correct_answers(self, exercise: Exercise) -> dict[str, dict[str, Any]]:
        """The solution and all alternatives: name -> the names that a notebook defines."""
        alternatives = {f"alternative {a.name}": self._defined(a.code) for a in exercise.alternatives}
        return {"solution": dict(self.solved), **alternatives}

    def run_mutants(self, exercise: Exercise, tried: list[Mutant], alone: Mapping[str, str] | None = None) -> Trials:
        """The outcome of these mutants; `alone` as in `try_mutants`."""
        return try_mutants(exercise, tried, self._defined, self.seeds, alone or {})

    def why_equivalent(self, exercise: Exercise, survivor: Mutant) -> str:
        """Why a survivor behaves like its base in every case, or "" (`why_unchanged`)."""
        return why_unchanged(exercise, survivor, self._defined, self.seeds)

    def _prove_step(self, proof: Proof) -> None:
        step = proof.exercise
        notebook = Notebook(step)
        right = {"oracle": Answer(step.name, "oracle", step.stand_in).load()}
        right |= {f"alternative {answer.name}": answer.load() for answer in step.alternatives}
        right |= {f"{base.name}, of which mistakes are edits,": base.load() for base in step.reference_answers}
        for what, function in right.items():
            if (result := notebook.says({step.name: function})) != "passes":
                fault = f"`check` refuses the {what}: {result}"
                proof.problem("contract.py", fault, "Correct the case that rejects it, or the answer.")
        if notebook.says({step.name: self.stubs.get(step.name)}) == "passes":
            remedy = "Add an example: a learner who wrote nothing must not pass."
            proof.problem("contract.py", "`check` passes the stub", remedy)
        for mistake in step.mistakes:
            for form in mistake.all_forms:
                seen = outcomes_on_practice(step)[form.name]
                if notebook.names_mistake(seen, mistake.name):
                    proof.by_check.append(form.name)
                else:
                    fault = f"mistake {form.name}: `check` says {notebook.says_of(seen)!r}"
                    proof.problem("contract.py", fault, "Add an example or a case that tells it apart from others.")

    def _replay(self, proof: Proof) -> None:
        exercise = proof.exercise
        names = [form.name for mistake in exercise.mistakes for form in mistake.all_forms]
        graded = {name: proof.verdicts[f"mistake {name}"][0] for name in names}
        proof.replay = replay(exercise, self.correct_answers(exercise), graded)
        for difference in proof.replay.passed:
            proof.problem("contract.py", str(difference), "Add a case on which `check` and the grade agree.")
        for difference in proof.replay.names:
            proof.problem("mistakes.py", str(difference), "Add an example or a case that tells them apart.")

    def _mutate(self, proof: Proof) -> None:
        try:
            listed = read_equivalents(self.root / proof.folder)
        except EquivalentsFileError as error:
            proof.problem(FILE, str(error), "Write it as `grading prove --survivors` does.")
            listed = {}
        tried = self.mutants(proof.exercise)
        proof.trials = self.run_mutants(proof.exercise, tried, proof.alone)
        survivors, notebook = [str(mutant) for mutant in proof.trials.survivors], Notebook(proof.exercise)
        for survivor in proof.trials.survivors:
            mutant = str(survivor)
            if (result := notebook.says(self._defined(survivor.code))) != "passes":
                fault = f"`check` refuses a mutant that loses nothing: {mutant}: {result}"
                proof.problem("contract.py", fault, "Add a case to the criterion that fails as the example does.")
            if why := listed.get(mutant) or self.why_equivalent(proof.exercise, survivor):
                proof.equivalent[mutant] = why
            else:
                entry = to_toml([mutant], {}).rstrip().replace("\n", "\n      ")
                remedy = (
                    "Add a case to contract.py that it fails. If the mutant is right, add this entry here "
                    f"instead:\n      {entry}"
                )
                proof.problem(FILE, f"a mutant loses nothing: {mutant}", remedy)
        for mutant in listed.keys() - set(survivors):
            gone = "is caught" if mutant in map(str, tried) else "is not a mutant of these answers"
            proof.problem(FILE, f"a listed mutant {gone}: {mutant}", "Remove it from the list.")

    def _defined(self, code: str) -> dict[str, Any]:
        """The notebook's names and this answer's; an answer that raises defines nothing."""
        with warnings.catch_warnings(action="ignore", category=SyntaxWarning):  # a mutant may look odd
            try:
                return Answer("", "mutant", code).exec_in(dict(self.solved) | GIVEN)
            except Exception:
                return dict(GIVEN)

    def _prove_correct(
        self,
        proof: Proof,
        what: str,
        answer: Any,
        source: list[str] | None = None,
        *,
        rules: Exercise | None = None,
        lenient: bool = False,
    ) -> None:
        rules = rules or proof.exercise
        verdicts = [self._grade(rules, answer, seed, source, lenient) for seed in self.seeds]
        proof.verdicts[what] = verdicts
        if poor := next((v for v in verdicts if v.earned != rules.points), None):
            report = to_report(poor).to_text(everything=True)
            fault = f"the {what} earns {poor.earned:g} of {rules.points} (seed {poor.seed}):\n{report}"
            proof.problem(
                "contract.py", fault, "Correct the case that rejects it, or the answer if it breaks the contract."
            )

    def _prove_mistake(self, proof: Proof, mistake: Mistake, form: Answer) -> None:
        first, *more = self.seeds
        verdicts = [_grade_stored_results(proof.exercise, form, first)]
        verdicts += [known_verdict(proof.exercise, form.name, seed) for seed in more]
        proof.verdicts[f"mistake {form.name}"] = verdicts
        for verdict in verdicts:
            earned = set(mistake.loses) & {c.name for c in verdict.criteria if c.status == "right"}
            if earned:
                fault = f"mistake {form.name} does not lose {sorted(earned)} (seed {verdict.seed})"
                proof.problem(
                    "contract.py", fault, "Add a case that shows it, or remove the criterion from its `loses`."
                )
                return
        if others := [v.mistake_names or "nothing" for v in verdicts if v.mistake_names != mistake.name]:
            fault = f"mistake {form.name} is taken for {', '.join(others)} with {len(others)} seeds"
            proof.problem("mistakes.py", fault, "Add a case that tells them apart, or merge the two mistakes.")

    def _check_claims(self, proof: Proof) -> None:
        """Whether each known mistake breaks the clause that it claims, and no other, with every seed."""
        for mistake, form in ((m, form) for m in proof.exercise.mistakes if m.clause for form in m.all_forms):
            for seed in self.seeds:
                findings = mistake_findings(proof.exercise, seed)[form.name]
                lost = {
                    p.case: {*p.case.clauses, *([PURITY] if finding.stage == "unchanged" else [])}
                    for p, finding in zip(prepare(proof.exercise, seed), findings, strict=True)
                    if finding and p.names
                }
                other = next((case for case, tried in lost.items() if mistake.clause not in tried), None)
                if other or not lost:
                    kind = f"loses a case that does not try it: {describe(other)}" if other else "loses no case"
                    fault = f"mistake {form.name} claims the clause {mistake.clause}, and {kind} (seed {seed})"
                    proof.problem("mistakes.py", fault, "Change the case, what it tries, or what the mistake claims.")
                    break

    def _grade(
        self, exercise: Exercise, answer: Any, seed: int, source: list[str] | None = None, lenient: bool = False
    ) -> ExerciseVerdict:
        names = {**self.solved, exercise.name: answer}
        return grade_in_process(exercise, names, seed=seed, cells=source, lesson=self.lesson, lenient=lenient)

    def _run_answer(self, answer: Answer) -> tuple[Any, list[str]]:
        """Run an answer in the notebook's names; return its function or class, and its cells."""
        return answer.exec_in(dict(self.solved) | GIVEN)[answer.exercise_name], [answer.cell]


def _grade_stored_results(exercise: Exercise, mistake: Answer, seed: int) -> ExerciseVerdict:
    """Grade the stored results of a mistake, encoded as a kernel's reply would be."""

    def ask(_: list[tuple[Program, float]]) -> Answers:
        return over_the_wire(encode_reply, mistake_outcomes(exercise, seed)[mistake.name])

    return grade_exercise(exercise, ask, seed=seed, ignore_forbidden=True)


def own_code(root: Path, name: str) -> list[NotebookNode]:
    """A lesson's code cells that proofs run: all but grade cells and those that no answer depends on."""
    return [
        cell
        for cell in read_lesson(root / "source" / f"{name}.py").cells
        if cell.cell_type == "code"
        and not cell.metadata.get("nbgrader", {}).get("grade")
        and not is_left_out(cell.metadata, cell.source)
    ]


def run_lesson_code(root: Path, lesson: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Run a lesson's own code (`own_code`); return the names that it defines, and the source of its solution cells.

    It runs in the folder of the notebook, beside the files released with it. Where a notebook has stand-ins, it has the
    right functions for steps and for earlier lessons' exercises.
    """
    beside = root / "source" / lesson
    names: dict[str, Any] = {"__name__": "lesson"}
    solutions: dict[str, str] = {}
    steps = load_lesson(root / "grader_tests" / lesson).steps
    right = right_functions.before(lesson)
    right |= {name: Answer(name, "oracle", step.stand_in).load() for name, step in steps.items()}
    for cell in own_code(root, lesson):
        lent: dict[str, Any] = {}
        if cell.metadata.get("nbgrader", {}).get("solution"):
            solutions[grade_id(cell)] = cell.source
        else:
            lent = {name: f for name, f in right.items() if name in steps or name not in names}
        own = {name: names[name] for name in lent if name in names}
        names |= lent
        with contextlib.redirect_stdout(io.StringIO()), contextlib.chdir(beside if beside.is_dir() else root):
            code = compile(cell.source, f"<{lesson}: {cell['id']}>", "exec", dont_inherit=True)
            exec(code, names)  # noqa: S102 - the course's own text
        for name in [name for name, f in lent.items() if names.get(name) is f]:
            del names[name]
            names |= {name: own[name]} if name in own else {}
    return names, solutions


def _without_undefined_gradients(exercise: Exercise) -> Exercise:
    """The exercise, where its oracle marks a gradient that does not exist by NaN, without demands on it."""

    def anything(draw: Draw, cases: Cases) -> Iterator[Case]:
        return (replace(case, options=replace(case.options, nonfinite="any")) for case in cases(draw))

    criteria = [replace(c, draw=partial(anything, cases=c.draw)) for c in exercise.criteria]
    return replace(exercise, criteria=criteria)
