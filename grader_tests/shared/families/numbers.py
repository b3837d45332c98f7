"""Dtype, device and range of numbers."""

from grading.exercises.exercise import Family, wrapped


def _converted(to: str) -> str:
    return f"""
def convert(value):
    return tuple(map(convert, value)) if isinstance(value, tuple) else value.{to}()

return convert(right(*args, **kwargs))
"""


_BY_FLOAT32 = """
def cast(value, dtype):
    if isinstance(value, tuple):
        return tuple(cast(part, dtype) for part in value)
    return value.to(dtype) if isinstance(value, torch.Tensor) and value.is_floating_point() else value

given = [*args, *kwargs.values()]
dtype = next(v.dtype for v in given if isinstance(v, torch.Tensor) and v.is_floating_point())
named = {name: cast(value, torch.float32) for name, value in kwargs.items()}
return cast(right(*(cast(value, torch.float32) for value in args), **named), dtype)
"""

always_float32 = Family(
    "always-float32",
    "always_float32",
    "Your result is always float32. It must have the dtype of {of}.",
    words={"of": "the input"},
)
always_float64 = Family(
    "always-float64",
    "always_float64",
    "Your result is always float64. It must have the dtype of {of}; you may compute in float64 if you convert back.",
    words={"of": "the input"},
)
result_float32 = always_float32.made_by(wrapped(_converted("float")))
result_float64 = always_float64.made_by(wrapped(_converted("double")))
float32_on_the_way = Family(
    "float32-on-the-way",
    "computes_in_float32",
    "You convert {what} to float32 on the way, so float64 loses half of its digits. Your result has the right "
    "dtype, but converting back does not restore the digits.",
    words={"what": "the numbers"},
)
computed_in_float32 = float32_on_the_way.made_by(wrapped(_BY_FLOAT32))
float32_buffer = Family(
    "always-float32",
    "fills_a_float32_tensor",
    "You fill a new tensor that is always float32. Make it with the dtype of `{of}`, as `{of}.new_empty(…)` or "
    "`torch.empty(…, dtype={of}.dtype)` do.",
    words={"of": "x"},
)
default_device = Family(
    "default-device",
    "makes_a_tensor_on_the_default_device",
    "You make {what} on PyTorch's default device, but {where} may be on another one. Use the device of {where}: {how}.",
    words={"what": "a tensor", "where": "`x`", "how": "pass `device=`, or do without the tensor"},
)
device_ignored = Family(
    "default-device",
    "ignores_the_device",
    "You ignore `device` and make the {what} on {where}. Pass `device` on to the functions that make tensors.",
    words={"what": "mask", "where": "PyTorch's default device"},
)
one_maximum_for_all = Family(
    "one-maximum-for-all",
    "subtracts_one_maximum_for_all",
    "You subtract the maximum of the whole tensor, but each {row} needs its own. In a {row} far below that maximum "
    "every exponential is rounded to 0, and 0 / 0 is NaN.",
    words={"row": "row"},
)
exponentials_overflow = Family(
    "exponentials-overflow",
    "exponentials_overflow",
    "Large scores give NaN, because `exp` overflows from 88.7 on in float32. Find a number that you can subtract "
    "from all scores of a row without changing a weight.",
)
underflows = Family(
    "underflow",
    "multiplies_probabilities",
    "You multiply probabilities, so a product of a hundred of them underflows to 0 in float32. All such products "
    "are then equal. Add the logarithms instead.",
)
float16_sums = Family(
    "half-precision",
    "adds_up_in_float16",
    "You add up in float16, so different long sums become equal. float16 has only about three digits: use at least "
    "float32.",
)
tiny_number_added = Family(
    "tiny-number-added",
    "adds_a_tiny_number",
    "You add a tiny number before the logarithm, so the result is never −∞. For an empty sum it must be −∞.",
)
