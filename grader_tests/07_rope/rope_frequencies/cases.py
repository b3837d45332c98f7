"""What the cases of `rope_frequencies` are made of, and how some are judged."""

from grading.exercises.exercise import call


# The smallest frequency counts as much as the largest, so the tolerance is relative only: 4e-5 of each. In float32 the
# exponent of a power or the argument of exp is off by 2e-6 at most, a running product of 128 factors by 2e-5; half
# precision is off by 5e-4 and more, and a base of 10001 by 1e-4.
def frequencies(*args, **kwargs):
    return call(*args, **kwargs).tolerance(4e-5)
