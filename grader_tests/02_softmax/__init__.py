"""Lesson 02: softmax, its logarithm, its temperature, and the entropy of its weights.

`softmax` and `log_softmax` are right for scores of any size, so `x - (m + log(sum))`, which rounds to the
precision of the scores themselves, is a known mistake there. With a temperature such scores stay below
a few hundred."""

EXERCISES = ("softmax", "log_softmax", "softmax_with_temperature", "entropy")
STEPS = ("exp_and_divide", "soft_dictionary")
