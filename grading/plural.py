"""A number and its noun."""


def plural(number: int, noun: str) -> str:
    """The number and its noun: "1 grade", "2 grades"."""
    return f"{number} {noun}{'s' * (number != 1)}"
