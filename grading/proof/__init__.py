"""Proofs that the graders are strong and fair: `grading prove`, `grading sync`."""

from .prover import SEEDS, Problem, Proof, Prover, run_lesson_code

__all__ = ["SEEDS", "Problem", "Proof", "Prover", "run_lesson_code"]
