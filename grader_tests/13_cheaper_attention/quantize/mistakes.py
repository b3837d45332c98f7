"""Known mistakes in `quantize`."""

from ...shared.families import arguments, numbers, results, shapes
from ...shared.repeating import keeps_its_last_result
from .contract import quantize

SINGLE, DIMS, SIGNS, ZEROS, FORM = "codes and scale", "along any", "the largest", "0 where", "int8 and"
ALL = (SINGLE, DIMS)

right = quantize.reference_answer("""
def quantize(x, dim):
    x = x.detach()
    largest = x.abs().amax(dim, keepdim=True)
    scale = largest / 127
    divisor = scale.masked_fill(scale == 0, 1.0)
    codes = torch.round(x / divisor)
    return codes.to(torch.int8), scale
""")

# Codes that do not fit are cut off at the end, so that the mistake before it does not wrap around
CUT_OFF = {"codes.to(torch.int8)": "codes.clamp(-127, 127).to(torch.int8)"}

right.mistake("divides_by_another_number", {"/ 127": "/ STEPS"}, loses=ALL).for_each(
    STEPS=("128", "255", "256", "127.5", "126", "100")
).feedback(
    "You divide the largest absolute value by another number than 127. It must become 127, so that the codes are "
    "−127 … 127."
)
right.mistake("without_the_absolute_value", {"x.abs().amax": "x.amax"}, loses=ALL).feedback(
    "You take the largest number instead of the largest *absolute* value. A large negative number then has a code "
    "that does not fit."
)
right.mistake(
    "by_the_span",
    {"x.abs().amax(dim, keepdim=True)": "((x.amax(dim, keepdim=True) - x.amin(dim, keepdim=True)) / 2)"},
    loses=ALL,
).feedback(
    "You use half of the distance between the smallest and the largest number. Zero has the code 0 here: use the "
    "largest absolute value."
)
right.mistake("with_a_zero_point", loses=ALL).patch("""
- largest = x.abs().amax(dim, keepdim=True)
- scale = largest / 127
+ low, high = x.amin(dim, keepdim=True), x.amax(dim, keepdim=True)
+ scale = (high - low) / 255
@@
- codes = torch.round(x / divisor)
+ codes = torch.round((x - low) / divisor) - 128
""").feedback(
    "You spread the codes from the smallest number to the largest, with a zero point. Here 0 has the code 0, and the "
    "scale is the largest absolute value divided by 127."
)
right.mistake(
    "by_the_mean", {"x.abs().amax(dim, keepdim=True)": "x.abs().mean(dim, keepdim=True)"}, loses=ALL
).feedback("You use the mean of the absolute values, so that larger numbers do not fit. Use the largest one.")
right.mistake(
    "by_the_deviation", {"x.abs().amax(dim, keepdim=True)": "x.pow(2).mean(dim, keepdim=True).sqrt()"}, loses=ALL
).feedback("You use the root mean square, so that larger numbers do not fit. Use the largest absolute value.")
right.mistake(
    "one_scale_for_all", {"x.abs().amax(dim, keepdim=True)": "x.abs().amax().reshape([1] * x.ndim)"}, loses=ALL
).feedback(
    "You use one scale for the whole tensor. Take the largest absolute value over `dim` alone, with `keepdim=True`."
)
right.mistake("the_other_dimensions", loses=ALL).patch("""
+ own = {d % x.ndim for d in ([dim] if isinstance(dim, int) else dim)}
+ dim = tuple(d for d in range(x.ndim) if d not in own) or tuple(own)
  largest = x.abs().amax(dim, keepdim=True)
""").feedback(
    "You take the largest value over the dimensions that `dim` does *not* name. `dim` names the dimensions over which "
    "the maximum is taken: the scale has size 1 there."
)
right.mistake(shapes.dimension_ignored, {"amax(dim,": "amax(-1,"}, loses=DIMS)
right.mistake(
    "one_dimension_of_several", {"amax(dim,": "amax(dim if isinstance(dim, int) else dim[WHICH],"}, loses=DIMS
).for_each(WHICH=("0", "-1")).feedback(
    "You use one of the dimensions in `dim` and ignore the others. `amax` takes a tuple as it is."
)
right.mistake("cannot_take_several", {"x.abs().amax(dim, keepdim=True)": "LARGEST.values"}, loses=DIMS).for_each(
    LARGEST=(
        "x.abs().max(dim, keepdim=True)",
        "x.abs().max(dim=dim, keepdim=True)",
        "torch.max(x.abs(), dim, keepdim=True)",
        "torch.max(x.abs(), dim=dim, keepdim=True)",
        "torch.max(input=x.abs(), dim=dim, keepdim=True)",
    )
).feedback("You use `max`, which takes one dimension only. `amax` takes several, and gives the values alone.")
right.mistake(
    "scale_without_keepdim",
    {"    return codes.to(torch.int8), scale": "    return codes.to(torch.int8), x.abs().amax(dim) / 127"},
    loses=ALL,
).feedback("Your scale has lost its dimensions. Keep them, with size 1, so that `codes * scale` works.")
right.mistake(shapes.dimension_lost, {"dim, keepdim=True": "dim"}, loses=DIMS)
right.mistake(
    "scale_as_large_as_x", {"codes.to(torch.int8), scale": "codes.to(torch.int8), scale.expand_as(x)"}, loses=ALL
).feedback(
    "You return a scale for each number, which takes more memory than the numbers themselves. It has size 1 in `dim`."
)
right.mistake("cuts_off_the_fraction", {"torch.round(x / divisor)": "CUT"}, loses=ALL).for_each(
    CUT=("(x / divisor)", "torch.trunc(x / divisor)")
).feedback("You cut the fraction off instead of rounding: `.to(torch.int8)` rounds towards 0. Round first.")
right.mistake("rounds_down", {"torch.round": "torch.floor"}, loses=ALL).feedback(
    "You round every number down. Round to the nearest whole number."
)
right.mistake("rounds_up", {"torch.round": "torch.ceil"}, loses=ALL).feedback(
    "You round every number up. Round to the nearest whole number."
)
right.mistake("rounds_the_scale", {"scale = largest / 127": "scale = (largest / 127).round()"}, loses=ALL).feedback(
    "You round the scale. It is a floating-point number; only the codes are whole."
)
right.mistake("rounds_before_dividing", {"torch.round(x / divisor)": "torch.round(x) / divisor"}, loses=ALL).feedback(
    "You round the numbers before you divide them. Divide by the scale first."
)
right.mistake("multiplies_by_the_scale", {"x / divisor": "x * divisor"}, loses=ALL).feedback(
    "You multiply by the scale. `dequantize` does that; here you divide."
)
right.mistake(
    "scale_upside_down",
    {"codes.to(torch.int8), scale": "codes.to(torch.int8), torch.where(scale == 0, scale, 1 / divisor)"},
    loses=ALL,
).feedback("You return the inverse of the scale. It is the number by which the codes are multiplied to come back.")
right.mistake(
    "returns_the_largest", {"codes.to(torch.int8), scale": "codes.to(torch.int8), largest"}, loses=ALL
).feedback("You return the largest absolute value as the scale. Divide it by 127.")
right.mistake(
    results.weights_first(what="codes", other="scale"),
    {"codes.to(torch.int8), scale": "scale, codes.to(torch.int8)"},
    loses=ALL,
)
right.mistake(
    results.output_alone(what="codes", other="scale"),
    {"codes.to(torch.int8), scale": "codes.to(torch.int8)"},
    loses=ALL,
)
right.mistake("returns_the_numbers_again", {"codes.to(torch.int8), scale": "codes * scale, scale"}, loses=ALL).feedback(
    "You multiply the codes by the scale again. Return the codes themselves, as int8."
)
right.mistake("codes_are_not_int8", {"codes.to(torch.int8)": "codes.to(KIND)"}, loses=FORM).for_each(
    KIND=("x.dtype", "torch.int32", "torch.int64", "torch.int16", "torch.float16")
).feedback("Your codes are right, but not int8. A code should take one byte.")
right.mistake("unsigned_codes", {"codes.to(torch.int8)": "codes.to(torch.int16).to(torch.uint8)"}, loses=ALL).feedback(
    "You use uint8, which has no negative numbers: −1 becomes 255. Use int8."
)
right.mistake("only_positive_codes", {"codes.to(torch.int8)": "codes.clamp_min(0).to(torch.int8)"}, loses=ALL).feedback(
    "You turn negative codes into 0. Codes are from −127 to 127."
)
right.mistake(
    "seven_bits_beside_the_sign", {"codes.to(torch.int8)": "codes.clamp(-64, 63).to(torch.int8)"}, loses=ALL
).feedback("You clip the codes at −64 and 63. int8 holds −128 … 127, of which −127 … 127 are used.")
right.mistake("scale_kept_from_zero", {"scale = largest / 127": "scale = CLAMPED"}, loses=ZEROS).for_each(
    CLAMPED=(
        "(largest / 127).clamp_min(1e-8)",
        "largest / 127 + 1e-8",
        "largest / 127 + 1e-6",
        "largest / 127 + 1e-12",
        "largest / 127 + 1e-5",
        "largest / 127 + 1e-10",
        "(largest / 127).clamp(min=1e-5)",
        "largest.clamp_min(1e-8) / 127",
        "largest.clamp_min(1e-5) / 127",
        "(largest / 127).clamp_min(1e-12)",
        "largest.clamp_min(1e-12) / 127",
        "(largest / 127).clamp_min(1e-10)",
        "largest.clamp_min(1e-10) / 127",
        "(largest / 127).clamp_min(1e-6)",
        "(largest / 127).clamp_min(torch.finfo(x.dtype).eps)",
        "largest.clamp_min(torch.finfo(x.dtype).eps) / 127",
    )
).feedback(
    "You keep the scale away from 0, by a bound or by adding a tiny number. Where all numbers are 0, the scale is 0, "
    "and other numbers may be smaller than yours."
)
right.mistake(
    "scale_of_one_for_zeros", {"codes.to(torch.int8), scale": "codes.to(torch.int8), divisor"}, loses=ZEROS
).feedback("You return a scale of 1 where all numbers are 0. The 1 is for the division alone: the scale is 0 there.")
right.mistake(
    "divides_by_a_clamped_scale", {"scale.masked_fill(scale == 0, 1.0)": "scale.clamp_min(BOUND)"}, loses=ZEROS
).for_each(BOUND=("1e-8", "1e-12", "1e-10", "1e-6")).feedback(
    "You divide by at least a small bound, so that numbers smaller than it become 0. Replace only a scale that is 0."
)
right.mistake(
    numbers.always_float32("scale_float32", of="x"),
    {"codes.to(torch.int8), scale": "codes.to(torch.int8), scale.float()"},
    loses=FORM,
)
right.mistake(
    "scale_in_half_precision", {"codes.to(torch.int8), scale": "codes.to(torch.int8), scale.half()"}, loses=ALL
).feedback("You return the scale in float16. It has the dtype of `x`.")
right.mistake("keeps_the_gradient", {"x = x.detach()\n": "pass\n"}, loses=FORM).feedback(
    "Your scale still has a gradient. Rounding has none, so the codes and the scale are computed without: `detach()` "
    "or `torch.no_grad()`."
)
right.mistake(
    arguments.argument_changed(what="x"), {"torch.round(x / divisor)": "x.div_(divisor).round_()"}, loses=FORM
)
keeps_its_last_result(right, loses=SINGLE)
right.mistake("divides_by_another_number_and_clamps", {"/ 127": "/ STEPS", **CUT_OFF}, loses=ALL).for_each(
    STEPS=("128", "255", "256", "127.5")
).feedback(
    "You divide the largest absolute value by another number than 127. It must become 127, so that the codes are "
    "−127 … 127."
)
right.mistake(
    "clamps_without_the_absolute_value", {"x.abs().amax(dim, keepdim=True)": "LARGEST", **CUT_OFF}, loses=ALL
).for_each(
    LARGEST=("x.amax(dim, keepdim=True)", "x.amax(dim, keepdim=True).clamp(min=0)", "x.amax(dim, keepdim=True).abs()")
).feedback(
    "You take the largest number instead of the largest *absolute* value. A large negative number then has a code "
    "that does not fit."
)
right.mistake("one_scale_of_full_shape", loses=ALL).patch("""
- scale = largest / 127
+ scale = (largest.amax() / 127).expand(largest.shape).clone()
""").feedback(
    "You use one scale for the whole tensor. Take the largest absolute value over `dim` alone, with `keepdim=True`."
)
right.mistake("around_the_middle", loses=ALL).patch("""
- largest = x.abs().amax(dim, keepdim=True)
- scale = largest / 127
+ low, high = x.amin(dim, keepdim=True), x.amax(dim, keepdim=True)
+ scale = (high - low) / STEPS
@@
- codes = torch.round(x / divisor)
+ codes = torch.round((x - (high + low) / 2) / divisor).clamp(-127, 127)
""").for_each(STEPS=("254", "255", "256")).feedback(
    "You spread the codes from the smallest number to the largest, with a zero point. Here 0 has the code 0, and the "
    "scale is the largest absolute value divided by 127."
)
right.mistake("from_the_smallest_number_up", loses=ALL).patch("""
- largest = x.abs().amax(dim, keepdim=True)
- scale = largest / 127
+ low, high = x.amin(dim, keepdim=True), x.amax(dim, keepdim=True)
+ scale = (high - low) / 254
@@
- codes = torch.round(x / divisor)
+ codes = torch.round((x - low) / divisor) - 127
""").feedback(
    "You spread the codes from the smallest number to the largest, with a zero point. Here 0 has the code 0, and the "
    "scale is the largest absolute value divided by 127."
)
right.mistake("cannot_take_one_dimension", loses=ALL).patch("""
+ dim = MADE
  largest = x.abs().amax(dim, keepdim=True)
""").for_each(MADE=("tuple(dim)", "[d % x.ndim for d in dim]")).feedback(
    "You expect several dimensions, but `dim` may be one int, over which a loop cannot run. `amax` takes both as they "
    "are."
)
right.mistake(
    "uses_minus_128_too",
    {"/ 127": "/ RANGE[0]", "codes.to(torch.int8)": "codes.clamp(*RANGE[1:]).to(torch.int8)"},
    loses=ALL,
).for_each(RANGE=("(128, -128, 127)", "(127.5, -128, 127)", "(255, -128, 127)", "(256, -128, 127)")).feedback(
    "You divide the largest absolute value by another number than 127. It must become 127, so that the codes are "
    "−127 … 127: −128 is not used."
)
