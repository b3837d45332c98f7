"""A case in which another device is PyTorch's default."""

from grading.exercises.exercise import Script, helper, student


def filled_elsewhere(name, *given, **named):
    """A call of the exercise `name` while another device is PyTorch's default.

    What is copied into a tensor of one's own cannot be asked on "meta"; here the tensor that was filled lies elsewhere.
    """
    s = Script(**{f"given_{i}": value for i, value in enumerate(given)})
    s.call(helper("elsewhere"), student(name), *(getattr(s, f"given_{i}") for i in range(len(given))), **named)
    return s.case().label(f"{name}, while another device is PyTorch's default")
