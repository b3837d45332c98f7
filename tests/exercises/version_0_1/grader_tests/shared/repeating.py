"""What an answer must not do from one call to the next: every call is judged as if it were the first."""

from grading.judge.exercise import SUBJECT, Script


def after(first, then):
    """A call with `then`, after one with `first`, other numbers of the same shapes: nothing of it may remain."""
    inputs = {f"first_{i}": value for i, value in enumerate(first)} | {f"then_{i}": v for i, v in enumerate(then)}
    s = Script(**inputs)
    for name, given in (("first", first), ("then", then)):
        s.call(SUBJECT, *(getattr(s, f"{name}_{i}") for i in range(len(given))))
    return s.case().described("the second of two calls with the same shapes")


def keeps_its_last_result(right, *, shows):
    """A known mistake: an answer that looks at shapes alone to tell whether it has been asked before."""
    code = f"""
{right.code.strip()}


anew, last = {right.subject}, {{}}


def {right.subject}(*args, **kwargs):
    asked = [getattr(value, "shape", value) for value in (*args, *kwargs.values())]
    if last.get("asked") != asked:
        last.update(asked=asked, result=anew(*args, **kwargs))
    return last["result"]
"""
    right.exercise.mistake("keeps_its_last_result", shows=shows).whole(code).says(
        "Your function hands out an earlier result again, as soon as the shapes are the same. Shapes say nothing of "
        "the numbers: compute each call from the arguments of that call."
    )
