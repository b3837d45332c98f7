"""Building blocks of the test cases of `count_parameters`."""

from grading.exercises.exercise import EXERCISE, Script, sample_model


def counting(text, parameters, **options):
    s = Script(module=sample_model("assembled", parameters=parameters, **options))
    s.call(EXERCISE, s.module, name="result")
    return s.case().label(text)


def any_type(text, parameters, **options):
    return counting(text, parameters, **options).check_with("equal_number")
