"""What the cases of `count_parameters` are made of, and how some are judged."""

from grading.exercises.exercise import SUBJECT, Script, specimen


def counting(text, parameters, **options):
    s = Script(module=specimen("assembled", parameters=parameters, **options))
    s.call(SUBJECT, s.module, name="result")
    return s.case().described(text)


def any_type(text, parameters, **options):
    return counting(text, parameters, **options).holding("the_right_number")
