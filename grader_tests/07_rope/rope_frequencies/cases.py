"""Building blocks of the test cases of `rope_frequencies`."""

from grading.exercises.exercise import call


# The smallest frequency matters as much as the largest, so the tolerance is relative only: 4e-5. In float32, the error
# is 2e-6 at most by a power or exp, and 2e-5 by a running product of 128 factors; in half precision it is 5e-4 or more,
# and 1e-4 for a base of 10001.
def frequencies(*args, **kwargs):
    return call(*args, **kwargs).tolerance(4e-5)
