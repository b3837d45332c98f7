"""A case in which another device is PyTorch's default."""

from grading.exercises.exercise import Script, helper, student


def filled_elsewhere(name, *given, **named):
    """A call of the exercise `name` while another device is PyTorch's default.

    A device-only case cannot check an answer that copies its arguments into a new tensor of its own. Here such a tensor
    is on the other device.
    """
    s = Script(**{f"given_{i}": value for i, value in enumerate(given)})
    s.call(helper("elsewhere"), student(name), *(getattr(s, f"given_{i}") for i in range(len(given))), **named)
    return s.case().label(f"{name}, while another device is PyTorch's default")
