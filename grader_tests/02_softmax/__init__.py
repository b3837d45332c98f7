"""Lesson 02: softmax, its logarithm, its temperature, and the entropy of what comes out.

Scores far from zero that lie close together stay below a few hundred, or get a wider tolerance:
`x - (m + log(sum))` is a legal order of operations, and rounds to the precision of the scores
themselves. Mutants of the solutions that survive `grading check` are equivalent: any number above
0 may stand in for a weight of 0 inside the logarithm, since 0 is multiplied by it."""

EXERCISES = ("softmax", "log_softmax", "softmax_with_temperature", "entropy")
