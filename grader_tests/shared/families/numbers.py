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
    "Your result has the right dtype, but {what} become float32 on the way: float64 loses half of its digits, "
    "and converting back does not restore them.",
    words={"what": "the numbers"},
)
computed_in_float32 = float32_on_the_way.made_by(wrapped(_BY_FLOAT32))
float32_buffer = Family(
    "always-float32",
    "fills_a_float32_tensor",
    "You fill a new tensor, and that is float32 whatever comes in. Make it with the dtype of {of}, as "
    "`{of}.new_empty(…)` or `torch.empty(…, dtype={of}.dtype)` do.",
    words={"of": "x"},
)
default_device = Family(
    "default-device",
    "makes_a_tensor_on_the_default_device",
    "You make {what} on PyTorch's default device, but {where} may be on another one. Use the device of {where}: {how}.",
    words={"what": "a tensor", "where": "x", "how": "pass `device=`, or do without the tensor"},
)
device_ignored = Family(
    "default-device",
    "ignores_the_device",
    "You ignore `device`: the {what} is made on {where}. Pass `device` on to where tensors are made.",
    words={"what": "mask", "where": "PyTorch's default device"},
)
one_maximum_for_all = Family(
    "one-maximum-for-all",
    "subtracts_one_maximum_for_all",
    "You subtract one maximum, that of the whole tensor. In a {row} far below it every exponential is rounded to "
    "0, and 0 / 0 is NaN. Each {row} needs its own maximum.",
    words={"row": "row"},
)
exponentials_overflow = Family(
    "exponentials-overflow",
    "exponentials_overflow",
    "Large scores give NaN: in float32 `exp` overflows from 88.7 on. What can you subtract from all scores of a "
    "row without changing a weight?",
)
underflows = Family(
    "underflow",
    "multiplies_probabilities",
    "You multiply probabilities. A hundred of them make a number that float32 rounds to 0, and then all are equal: add "
    "their logarithms.",
)
float16_sums = Family(
    "half-precision",
    "adds_up_in_float16",
    "You add up in float16. It has about three digits, so that long sums that differ become equal: use float32 at "
    "least.",
)
tiny_number_added = Family(
    "tiny-number-added",
    "adds_a_tiny_number",
    "You add a tiny number before the logarithm. It prevents −∞, but −∞ is what a row of nothing must give.",
)
