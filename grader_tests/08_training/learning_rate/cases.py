"""What the cases of `learning_rate` are made of, and how some are judged."""


def zero_rate(seen, exact):
    """A cosine of pi is -1 to rounding, so that the end may be off 0 by 1e-16 of the peak, of 2 at most."""
    found = seen.values["result"]
    if not isinstance(found, (int, float)) or isinstance(found, bool):
        return "the result must be a float"
    return None if abs(found) < 1e-9 else f"the learning rate is {found:.3g} where it must be 0"
