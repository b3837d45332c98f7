"""What an answer must not do from one call to the next: every call is judged as if it were the first."""

from grading.exercises.exercise import EXERCISE, Script

from .families import calls


def after(first, then):
    """A call with `then`, after one with `first`, other numbers of the same shapes: nothing of it may remain."""
    inputs = {f"first_{i}": value for i, value in enumerate(first)} | {f"then_{i}": v for i, v in enumerate(then)}
    s = Script(**inputs)
    for name, given in (("first", first), ("then", then)):
        s.call(EXERCISE, *(getattr(s, f"{name}_{i}") for i in range(len(given))))
    return s.case().label("the second of two calls with the same shapes")


def keeps_its_last_result(right, *, loses):
    """A known mistake: an answer that looks at shapes alone to tell whether it has been asked before."""
    code = f"""
{right.code.strip()}


anew, last = {right.exercise_name}, {{}}


def {right.exercise_name}(*args, **kwargs):
    asked = [getattr(value, "shape", value) for value in (*args, *kwargs.values())]
    if last.get("asked") != asked:
        last.update(asked=asked, result=anew(*args, **kwargs))
    return last["result"]
"""
    right.exercise.mistake(calls.result_remembered, loses=loses).full_code(code)
