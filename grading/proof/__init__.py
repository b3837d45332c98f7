"""Proofs that the graders are strong and fair: `grading check` and `grading strength`."""

from .prover import SEEDS, Problem, Proof, Prover, namespace

__all__ = ["SEEDS", "Problem", "Proof", "Prover", "namespace"]
