"""A case and a known mistake about results that are kept from an earlier call."""

from grading.exercises.exercise import EXERCISE, Script

from .families import calls


def after(first, then):
    """A case that calls with `first`, then with `then`: other numbers, same shapes."""
    inputs = {f"first_{i}": value for i, value in enumerate(first)} | {f"then_{i}": v for i, v in enumerate(then)}
    s = Script(**inputs)
    for name, given in (("first", first), ("then", then)):
        s.call(EXERCISE, *(getattr(s, f"{name}_{i}") for i in range(len(given))))
    return s.case().label("the second of two calls with the same shapes")


def keeps_its_last_result(right, *, loses):
    """Add a known mistake: the last result is returned again if the shapes are equal."""
    code = f"""
{right.code.strip()}


original, last = {right.exercise_name}, {{}}


def {right.exercise_name}(*args, **kwargs):
    asked = [getattr(value, "shape", value) for value in (*args, *kwargs.values())]
    if last.get("asked") != asked:
        last.update(asked=asked, result=original(*args, **kwargs))
    return last["result"]
"""
    right.exercise.mistake(calls.result_remembered, loses=loses).full_code(code)
