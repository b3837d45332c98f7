"""Arguments that are not checked, are refused in the wrong way, or are changed."""

from grading.exercises.exercise import Family, changed_checks


def not_refused(text: str, about: str = "") -> Family:
    """Checks are missing: all of them, or those whose condition contains `about`.

    text  sentence that says what is not refused
    """
    make = changed_checks(lambda condition, message: "pass", about)
    return Family("no-value-error", "no_error", text, make)


unchecked = Family(
    "no-value-error",
    "lets_bad_arguments_pass",
    "You do not refuse every bad argument. Raise a ValueError that names the argument and its value or shape.",
)
valid_refused = Family(
    "valid-argument-refused",
    "refuses_a_valid_argument",
    "You refuse an argument that is valid.",
)


def asserts(about: str = "") -> Family:
    """Checks by `assert`: all of them, or those whose condition contains `about`."""
    return Family(
        "assert",
        "asserts",
        "You check with `assert` instead of raising a ValueError. `assert` raises AssertionError, and under `python "
        "-O` it raises nothing at all.",
        changed_checks(lambda condition, message: f"assert not ({condition}), {message}", about),
    )


def wrong_error(kind: str, about: str = "") -> Family:
    """Bad arguments are refused, but with the wrong class of error."""
    return Family(
        "wrong-error",
        f"raises_{kind}",
        f"You refuse the right arguments, but raise {kind} instead of a ValueError. Their type is correct; only their "
        "value or shape is wrong.",
        changed_checks(lambda condition, message: f"if {condition}:\n    raise {kind}({message})", about),
    )


def error_without_name(about: str = "") -> Family:
    """The message of the ValueError does not say which argument is wrong."""
    return Family(
        "error-without-name",
        "names_nothing",
        "The message of your ValueError does not name the wrong argument and its value. Use the name from the "
        "signature, and give its value or shape.",
        changed_checks(lambda condition, message: f'if {condition}:\n    raise ValueError("not possible")', about),
    )


zero_divides = Family(
    "zero-division",
    "divides_by_zero",
    "Your check itself fails for 0, because `% 0` raises ZeroDivisionError. Nothing can be divided by 0, so refuse "
    "numbers below 1 first.",
)
argument_changed = Family(
    "argument-changed",
    "changes_its_argument",
    "You change {what} in place, so the change reaches the caller. `x -= …`, `x[…] = …` and methods that end in "
    "`_` write into the tensor: make a new one.",
    words={"what": "an argument"},
)
mask_inverted_in_place = Family(
    "argument-changed",
    "inverts_the_mask_in_place",
    "You invert the mask in place, so the caller's mask now holds its opposite. Make a new one with `~mask`.",
)
