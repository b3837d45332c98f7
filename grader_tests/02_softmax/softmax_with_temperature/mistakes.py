"""Known mistakes in `softmax_with_temperature`."""

from ...shared.families import arguments, calls, gradients, numbers, scores, shapes
from ...shared.repeating import keeps_its_last_result
from .contract import softmax_with_temperature

TEMPERATURE = "6. Temperature"

right = softmax_with_temperature.reference_answer("""
def softmax_with_temperature(x, temperature, dim=-1):
    return torch.softmax(x / temperature, dim)
""")

right.mistake("multiplies_by_the_temperature", loses="divides").patch("""
- return torch.softmax(x / temperature, dim)
+ scores = x * temperature
+ exponentials = torch.exp(scores - scores.amax(dim, keepdim=True))
+ return exponentials / exponentials.sum(dim, keepdim=True)
""").feedback(
    "You multiply by the temperature, so cold and hot are swapped. The temperature *divides* the scores.",
    see=TEMPERATURE,
)
right.mistake("divides_the_weights", loses="divides").patch("""
- return torch.softmax(x / temperature, dim)
+ exponentials = torch.exp(x - x.amax(dim, keepdim=True))
+ return exponentials / exponentials.sum(dim, keepdim=True) / temperature
""").feedback(
    "You divide by the temperature after the softmax, so the weights no longer sum to 1. Divide the *scores*, "
    "before the softmax.",
    see=TEMPERATURE,
)
right.mistake(arguments.valid_refused("refuses_what_is_hot"), loses=("divides", "hot, cold")).patch("""
  def softmax_with_temperature(x, temperature, dim=-1):
+     if not 0 < temperature <= 1:
+         raise ValueError(f"temperature is {temperature}; it must be above 0 and at most 1")
""").feedback("You refuse temperatures above 1. They are valid and make the weights more even.")
right.mistake("insists_on_a_float", loses="divides", clause="whole").patch("""
  def softmax_with_temperature(x, temperature, dim=-1):
+     if not isinstance(temperature, float):
+         raise TypeError(f"temperature is {temperature}; it must be a float")
""").feedback("You accept only a `float`. A whole number like 3 is a temperature too.")
right.mistake("ignores_the_temperature", {"x / temperature": "x"}, loses="divides").feedback(
    "The temperature changes nothing in your result, which is a plain softmax. The temperature also cancels if you "
    "divide the exponentials by it or subtract it from the scores. Divide the *scores* by it.",
    see=TEMPERATURE,
)
right.mistake("divides_twice", {"dim)": "dim) / temperature"}, loses="divides").feedback(
    "You divide twice: first the scores, which is right, and then the weights, which no longer sum to 1.",
    see=TEMPERATURE,
)
right.mistake(
    "divides_by_the_square_root", {"x / temperature": "x / math.sqrt(temperature)"}, loses="divides"
).feedback(
    "You divide by the square root of the temperature. Divide the scores by the temperature itself.",
    see=TEMPERATURE,
)
right.mistake("raises_weights_to_a_power", loses="hot, cold").patch("""
- return torch.softmax(x / temperature, dim)
+ powers = torch.softmax(x, dim) ** (1 / temperature)
+ return powers / powers.sum(dim, keepdim=True)
""").feedback(
    "You raise the weights to the power 1 / τ, but weights that were rounded to 0 stay 0 at any temperature. On "
    "paper this gives the same result as dividing the scores. Do that instead.",
    see=TEMPERATURE,
)
right.mistake("overflows_when_cold", loses="hot, cold").patch("""
- return torch.softmax(x / temperature, dim)
+ exponentials = torch.exp(x / temperature)
+ return exponentials / exponentials.sum(dim, keepdim=True)
""").feedback(
    "The scores are large after division by a small temperature, so `exp` overflows. Subtract the largest score "
    "*after* the division, or use your softmax.",
    see="3. Scores of any size",
)
right.mistake("subtracts_the_undivided_maximum", loses="hot, cold").patch("""
- return torch.softmax(x / temperature, dim)
+ exponentials = torch.exp(x / temperature - x.amax(dim, keepdim=True))
+ return exponentials / exponentials.sum(dim, keepdim=True)
""").feedback(
    "You subtract the largest undivided score from the divided scores. Divided by a small temperature, the scores "
    "are much larger. Both must be divided.",
    see="3. Scores of any size",
)
right.mistake(
    "adds_a_constant_to_the_temperature", {"x / temperature": "x / (temperature + EPS)"}, loses="hot, cold"
).for_each(EPS=(1e-6, 1e-5, 1e-4, 1e-3)).feedback(
    "You add a small constant to the temperature, which is a large part of a low temperature."
)
right.mistake(shapes.dimension_ignored(see="4. Which dimension?"), {"dim)": "-1)"}, loses="many lists", clause="dim")
right.mistake("returns_the_logarithms", {"torch.softmax": "torch.log_softmax"}, loses="divides").feedback(
    "You return the logarithms of the weights. Return the weights."
)
right.mistake(numbers.result_float32(of="`x`"), loses="float64")
right.mistake(gradients.cut(what="`x`"), {"x / temperature": "x.detach() / temperature"}, loses="gradients")
right.mistake(arguments.argument_changed(what="`x`"), loses="arguments").patch("""
- return torch.softmax(x / temperature, dim)
+ scores = SCORES
+ scores /= temperature
+ return torch.softmax(scores, dim).to(x.dtype)
""").for_each(SCORES=("x", "x.double()"))
right.mistake("takes_softmax_twice", {"softmax(x": "softmax(torch.softmax(x, dim)"}, loses="divides").feedback(
    "You apply softmax twice: to the scores, and again to the weights. The temperature divides the *scores*.",
    see=TEMPERATURE,
)
right.mistake(
    "raises_to_a_power_and_stops", {"(x / temperature, dim)": "(x, dim) ** (1 / temperature)"}, loses="divides"
).feedback(
    "You raise the weights to the power 1 / temperature, so they no longer sum to 1. This is only half of it. "
    "Divide the *scores* before the softmax; then the weights need no repair.",
    see=TEMPERATURE,
)
right.mistake(numbers.one_maximum_for_all(see="3. Scores of any size", row="list"), loses="many lists").patch("""
- return torch.softmax(x / temperature, dim)
+ exponentials = torch.exp((x - x.amax()) / temperature)
+ return exponentials / exponentials.sum(dim, keepdim=True)
""")
right.mistake(shapes.first_dimension, {"dim=-1": "dim=0"}, loses="many lists")
right.mistake(numbers.result_float64(of="`x`"), loses="float64")
right.mistake(
    "keeps_the_temperature_from_zero",
    {"x / temperature": "x / max(temperature, LEAST)"},
    loses="hot, cold",
    clause="extremes",
).for_each(LEAST=(0.01, 0.1, 1e-3)).feedback(
    "You replace a small temperature by a larger one. Close to 0, too, the weights depend on the temperature.",
    see=TEMPERATURE,
)
right.mistake("divides_by_the_square", {"x / temperature": "x / temperature / temperature"}, loses="divides").feedback(
    "You divide by the *square* of the temperature.", see=TEMPERATURE
)
keeps_its_last_result(right, loses="divides")
right.mistake(calls.result_remembered("keeps_results_by_the_tensor"), loses="divides").patch("""
+ kept = {}
+
+
  def softmax_with_temperature(x, temperature, dim=-1):
@@
- return torch.softmax(x / temperature, dim)
+ key = (id(x), dim)
+ if key not in kept:
+     kept[key] = (x, torch.softmax(x / temperature, dim))
+ return kept[key][1]
""").feedback(
    "You return an earlier result for the same tensor, although the temperature is different. Compute each call "
    "from all of its arguments."
)
right.mistake(
    "puts_a_number_for_minus_infinity",
    {"x / temp": "torch.where(x.isneginf(), FILL, x) / temp"},
    loses="hot, cold",
    clause="infinite",
).for_each(FILL=(-1e4, -1e9, -1e12)).feedback(
    "You replace −∞ by a large negative number, which beats scores that are lower still. A high temperature also "
    "brings it close to the others. A number is a score like any other; −∞ is not.",
    see=TEMPERATURE,
)
right.mistake(numbers.computed_in_float32, loses="float64")
right.mistake(scores.softmax_over_everything(see="4. Which dimension?", row="list"), loses="many lists").patch("""
- return torch.softmax(x / temperature, dim)
+ return torch.softmax((x / temperature).flatten(), 0).view(x.shape)
""")
right.mistake(shapes.result_squeezed, loses="many lists")
softmax_with_temperature.mistake("lines_of_lesson_0", loses=("many lists", "hot, cold", "gradients")).full_code("""
def softmax_with_temperature(x, temperature, dim=-1):
    scores = x.tolist()
    powers = [math.exp(score / temperature) for score in scores]
    return torch.tensor([power / sum(powers) for power in powers], dtype=x.dtype)
""").feedback(
    "These are the lines of lesson 0, for a single list of plain numbers. No gradient passes `.tolist()`, and a matrix "
    "is a list of lists. Take whole tensors: `torch.exp`, and a sum along `dim`.",
    see="4. Which dimension?",
)
