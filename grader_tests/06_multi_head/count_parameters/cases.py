"""What the cases of `count_parameters` are made of, and how some are judged."""

import torch

from grading.judge.exercise import SUBJECT, Script, specimen


def counting(text, parameters, **options):
    s = Script(module=specimen("assembled", parameters=parameters, **options))
    s.call(SUBJECT, s.module, name="result")
    return s.case().described(text)


def the_right_number(seen, exact):
    """Judges the number, of whatever type: the type has a criterion of its own."""
    found, right = float(seen.values["result"]), exact.values["result"]
    return None if found == right else f"the count is too {'small' if found < right else 'large'}"


def any_type(text, parameters, **options):
    return counting(text, parameters, **options).holding(the_right_number)


def an_int_and_no_trace(seen, exact):
    got = seen.values
    if type(got["first"]) is not int:
        return "the result is not a Python int"
    if got["first"] != got["second"]:
        return "the same module, counted twice, gives two different numbers"
    if got["first"] == got["of another"]:
        return "two modules of different sizes have the same count"
    if any(not torch.equal(got["state"][name].double(), numbers) for name, numbers in exact.values["state"].items()):
        return "counting changes the numbers that the module holds"
    same = all(got[of] == exact.values[of] for of in ("trainable", "modes"))
    return None if same else "counting changes whether parameters are trainable, or the module's mode"
