"""Proofs that the graders are strong and fair: `grading prove`, `grading sync`."""

from .prover import SEEDS, Problem, Proof, Prover, namespace

__all__ = ["SEEDS", "Problem", "Proof", "Prover", "namespace"]
