"""The fixtures of a class."""

from ..support.class_fixtures import class_of_three, course, course_of_three, tiny_course  # noqa: F401
