"""Known mistakes in `scaled_frequencies`."""

from ...shared.families import arguments
from .contract import scaled_frequencies

BASE, INTERPOLATION, YARN, GIVEN, FORM = "a larger base", "position interpolation", "YaRN", "low and high", "float32"
ALL = (BASE, INTERPOLATION, YARN)

right = scaled_frequencies.reference_answer("""
def clocks(dim, base):
    return base ** (-torch.arange(0, dim, 2) / dim)


def scaled_frequencies(dim, method, factor, length, base=10000.0, low=1.0, high=32.0):
    if method not in ("base", "interpolation", "yarn"):
        raise ValueError(f"method is {method!r}; expected 'base', 'interpolation' or 'yarn'")
    frequencies = clocks(dim, base)
    slowed = frequencies / factor
    if method == "base":
        return clocks(dim, base * factor ** (dim / (dim - 2)))
    if method == "interpolation":
        return slowed
    turns = length * frequencies / (2 * math.pi)
    keep = ((turns - low) / (high - low)).clamp(0, 1)
    return keep * frequencies + (1 - keep) * slowed
""")

# A larger base
right.mistake("multiplies_the_base_by_the_factor", {" ** (dim / (dim - 2))": ""}, loses=BASE).feedback(
    "You multiply the base by the factor alone. The slowest pair then slows down by less than the factor: the exponent "
    "dim / (dim - 2) makes up for it."
)
right.mistake("turns_the_exponent_over", {"(dim / (dim - 2))": "((dim - 2) / dim)"}, loses=BASE).feedback(
    "Your exponent is upside down. It is dim / (dim - 2), a little more than 1."
)
right.mistake("divides_the_base", {"base * factor **": "base / factor **"}, loses=BASE).feedback(
    "You divide the base, so your pairs turn faster. A larger base makes them slower."
)
right.mistake("takes_one_off_the_dim", {"(dim / (dim - 2))": "(dim / (dim - 1))"}, loses=BASE).feedback(
    "Your exponent is dim / (dim - 1). The slowest pair has the exponent -(dim - 2) / dim, so it has to be "
    "dim / (dim - 2)."
)
right.mistake("adds_the_factor_to_the_base", {"base * factor **": "base + factor **"}, loses=BASE).feedback(
    "You add to the base. Multiply it by factor ** (dim / (dim - 2))."
)
right.mistake(
    "leaves_the_base", {"clocks(dim, base * factor ** (dim / (dim - 2)))": "frequencies"}, loses=BASE
).feedback('With the method "base" you return the frequencies of training. Raise the base first.')
right.mistake("divides_by_the_factor_too", loses=BASE).patch("""
- return clocks(dim, base * factor ** (dim / (dim - 2)))
+ return clocks(dim, base * factor ** (dim / (dim - 2))) / factor
""").feedback('With the method "base" you also divide by the factor. The larger base is the whole change.')

# Position interpolation
right.mistake("multiplies_by_the_factor", loses=(INTERPOLATION, YARN)).patch("""
- slowed = frequencies / factor
+ slowed = frequencies * factor
""").feedback(
    "You multiply by the factor, so your pairs turn faster. Text that is longer by the factor has to fit into the "
    "angles of training: divide."
)
right.mistake("interpolates_with_the_base", loses=INTERPOLATION).patch("""
  if method == "interpolation":
-     return slowed
+     return clocks(dim, base * factor)
""").feedback("For interpolation you change the base. Leave it, and divide every frequency by the factor.")
right.mistake("leaves_the_first_pair", loses=INTERPOLATION).patch("""
  if method == "interpolation":
-     return slowed
+     return torch.cat([frequencies[:1], slowed[1:]])
""").feedback("Your first pair keeps its frequency under interpolation. There, *all* pairs are divided by the factor.")
right.mistake("divides_by_the_length", loses=INTERPOLATION).patch("""
  if method == "interpolation":
-     return slowed
+     return frequencies / length
""").feedback("You divide by the length. Divide by the factor, by which the texts are longer than in training.")
right.mistake("divides_the_exponents", loses=INTERPOLATION).patch("""
  if method == "interpolation":
-     return slowed
+     return frequencies ** (1 / factor)
""").feedback("You put the factor into the exponent. Interpolation divides the frequencies themselves.")

# YaRN
right.mistake("keeps_the_slow_pairs", loses=YARN).patch("""
- return keep * frequencies + (1 - keep) * slowed
+ return keep * slowed + (1 - keep) * frequencies
""").feedback(
    "Your YaRN is the wrong way round: it slows down the fast pairs. Pairs with many turns keep their frequency; pairs "
    "with few are divided. (Exchanging `low` and `high` has the same effect.)"
)
right.mistake("does_not_cut_off", {".clamp(0, 1)": ""}, loses=YARN).feedback(
    "You do not cut the share off at 0 and 1. Pairs with more turns than `high` then speed up, and pairs with fewer "
    "than `low` slow down too much."
)
right.mistake("cuts_off_at_one_end", {".clamp(0, 1)": ".clamp(LIMIT)"}, loses=YARN).for_each(
    LIMIT=("max=1", "min=0")
).feedback("You cut the share off at one end only. It is 0 at least and 1 at most.")
right.mistake("counts_radians", {" / (2 * math.pi)": ""}, loses=YARN).feedback(
    "Your turns are radians: the 2π is missing. A pair makes length * θ / 2π full turns."
)
right.mistake("takes_half_turns", {"(2 * math.pi)": "math.pi"}, loses=YARN).feedback(
    "You count half turns: you divide by π. A full turn is 2π radians."
)
right.mistake("multiplies_by_two_pi", {"/ (2 * math.pi)": "* 2 * math.pi"}, loses=YARN).feedback(
    "You multiply by 2π. To get turns out of radians, divide by it."
)
right.mistake(
    "takes_wavelengths_for_turns", {"length * frequencies / (2 * math.pi)": "2 * math.pi / frequencies"}, loses=YARN
).feedback(
    "You compare wavelengths with `low` and `high`. These are numbers of turns: `length` divided by the wavelength."
)
right.mistake("divides_the_wavelength_by_the_length", loses=YARN).patch("""
- turns = length * frequencies / (2 * math.pi)
+ turns = 2 * math.pi / (frequencies * length)
""").feedback("Your number of turns is upside down. A pair turns length * θ / 2π times.")
right.mistake(
    "counts_turns_in_the_longer_text", {"length * frequencies": "length * factor * frequencies"}, loses=YARN
).feedback(
    "You count the turns in the longer text. The model met the angles of its *training*: `length` "
    "positions, without the factor."
)
right.mistake("counts_turns_of_the_slowed_pairs", {"length * frequencies": "length * slowed"}, loses=YARN).feedback(
    "You count turns with the divided frequencies. Count those of training, with the frequencies as they were."
)
right.mistake("jumps", loses=YARN).patch("""
- keep = ((turns - low) / (high - low)).clamp(0, 1)
+ keep = (turns > LIMIT).float()
""").for_each(LIMIT=("low", "high", "(low + high) / 2")).feedback(
    "Your pairs either keep their frequency or are divided. Between `low` and `high` turns the share rises evenly from "
    "0 to 1."
)
right.mistake("divides_by_high", {"/ (high - low)": "/ high"}, loses=YARN).feedback(
    "You divide by `high`, so your share does not reach 1 there. Divide by the distance from `low` to `high`."
)
right.mistake("ramps_over_the_pairs", loses=YARN).patch("""
- keep = ((turns - low) / (high - low)).clamp(0, 1)
+ first, last = (dim * math.log(length / (2 * math.pi * r)) / (2 * math.log(base)) for r in (high, low))
+ first, last = ENDS
+ keep = 1 - ((torch.arange(dim // 2) - first) / max(last - first, 0.001)).clamp(0, 1)
""").for_each(ENDS=("first, last", "max(math.floor(first), 0), min(math.ceil(last), dim - 1)")).feedback(
    "Your share falls evenly with the *number* of the pair, as in YaRN's published code. Here, as in its paper, it "
    "rises evenly with the turns."
)
right.mistake("averages_wavelengths", loses=YARN).patch("""
- return keep * frequencies + (1 - keep) * slowed
+ return 1 / (keep / frequencies + (1 - keep) / slowed)
""").feedback("You average the wavelengths. Average the two *frequencies*, by the shares keep and 1 - keep.")
right.mistake("adds_both", loses=YARN).patch("""
- return keep * frequencies + (1 - keep) * slowed
+ return keep * frequencies + slowed
""").feedback("Your two shares do not sum to 1. The divided frequency gets the share 1 - keep.")
right.mistake("scales_by_the_temperature", loses=YARN).patch("""
- return keep * frequencies + (1 - keep) * slowed
+ return (0.1 * math.log(factor) + 1) * (keep * frequencies + (1 - keep) * slowed)
""").feedback(
    "You multiply the frequencies by YaRN's temperature. That factor belongs to queries and keys; frequencies are "
    "unaffected."
)
right.mistake("mixes_in_the_larger_base", loses=YARN).patch("""
- return keep * frequencies + (1 - keep) * slowed
+ return keep * frequencies + (1 - keep) * clocks(dim, base * factor ** (dim / (dim - 2)))
""").feedback("Your slow pairs get the frequencies of the larger base. In YaRN they are divided by the factor.")

# Arguments as given
right.mistake(
    "ignores_base",
    {"frequencies = clocks(dim, base)": "frequencies = clocks(dim, 10000.0)"},
    loses=(INTERPOLATION, YARN),
).feedback("`base` does not reach your frequencies. It is an argument; 10000 is only its default.")
right.mistake("ignores_low_and_high", loses=GIVEN).patch("""
- keep = ((turns - low) / (high - low)).clamp(0, 1)
+ keep = ((turns - 1.0) / (32.0 - 1.0)).clamp(0, 1)
""").feedback(
    "You use 1 and 32 whatever `low` and `high` are. They are arguments; these numbers are only their defaults."
)
right.mistake("ignores_low", loses=GIVEN).patch("""
- keep = ((turns - low) / (high - low)).clamp(0, 1)
+ keep = ((turns - 1.0) / (high - 1.0)).clamp(0, 1)
""").feedback("You use 1 whatever `low` is. It is an argument; 1 is only its default.")

# Form
right.mistake("one_for_each_number", loses=ALL).patch("""
- return base ** (-torch.arange(0, dim, 2) / dim)
+ return (base ** (-torch.arange(0, dim, 2) / dim)).repeat_interleave(2)
""").feedback("You return every frequency twice. There is one per pair, so the result has dim // 2 entries.")
right.mistake("in_half_precision", loses=ALL).patch("""
- return base ** (-torch.arange(0, dim, 2) / dim)
+ return (base ** (-torch.arange(0, dim, 2) / dim)).HALF().float()
""").for_each(HALF=("bfloat16", "half")).feedback(
    "You round frequencies to half precision. At far positions a small error has grown to many radians. Compute in "
    "float32."
)
right.mistake(
    "in_float64", {"-torch.arange(0, dim, 2)": "-torch.arange(0, dim, 2, dtype=torch.float64)"}, loses=FORM
).feedback("The numbers are right, but their dtype is float64. Return float32.")
right.mistake(
    arguments.not_refused("You do not refuse an unknown method. Raise a ValueError that names it."), loses=FORM
)
right.mistake(arguments.error_without_name(), loses=FORM)
right.mistake(arguments.asserts(), loses=FORM)
right.mistake(arguments.wrong_error("KeyError"), loses=FORM)
