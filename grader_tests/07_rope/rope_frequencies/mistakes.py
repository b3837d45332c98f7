"""Known mistakes in `rope_frequencies`."""

from ...shared.families import arguments
from .contract import rope_frequencies

EVERYWHERE = ("for any even", "for any base")  # what an answer loses whose every result is wrong

right = rope_frequencies.reference_answer("""
def must_be_even(dim):
    if dim % 2:
        raise ValueError(f"dim is {dim}, and must be even")


def rope_frequencies(dim, base=10000.0):
    must_be_even(dim)
    return base ** (-torch.arange(0, dim, 2) / (dim))
""")

right.mistake("misses_the_two", {"(0, dim, 2) / (dim)": "(dim // 2) / dim"}, loses=EVERYWHERE).feedback(
    "The factor 2 is missing: pair i has the exponent -2i/dim, so that the last pair comes close to 1/base."
)
right.mistake("misses_the_minus", loses=EVERYWHERE).patch("""
- return base ** (-torch.arange(0, dim, 2) / (dim))
+ return base ** (torch.arange(0, dim, 2) / dim)
""").feedback(
    "The sign of the exponent is missing: these grow from pair to pair. The first pair turns fastest, all others "
    "slower."
)
right.mistake("counts_from_one", loses=EVERYWHERE).patch("""
- return base ** (-torch.arange(0, dim, 2) / (dim))
+ return base ** (-2.0 * torch.arange(1, dim // 2 + 1) / dim)
""").feedback("Counted from 1: the first pair has i = 0, and the frequency 1 whatever base is.")
right.mistake("takes_one_off_twice", loses=EVERYWHERE).patch("""
- return base ** (-torch.arange(0, dim, 2) / (dim))
+ return base ** (-2.0 * (torch.arange(dim // 2) - 1) / dim)
""").feedback(
    "Papers number the pairs from 1 and write -2(i - 1)/dim; yours are numbered from 0, and the 1 is taken off "
    "nevertheless. The first frequency is 1."
)
right.mistake("odd_exponents", loses=EVERYWHERE).patch("""
- return base ** (-torch.arange(0, dim, 2) / (dim))
+ return base ** (-(2.0 * torch.arange(1, dim // 2 + 1) - 1) / dim)
""").feedback(
    "The exponent -(2k - 1)/dim stands in a paper or a handout that counts pairs from 1 and takes half a step less. "
    "Here pair i, counted from 0, has -2i/dim."
)
right.mistake("divides_by_half_the_dim", {"/ (dim)": "/ (dim // 2)"}, loses=EVERYWHERE).feedback(
    "The exponents run twice as far as they must: 2i is divided by dim // 2, or the 2 stands twice. Divide 2i by dim, "
    "or i by dim // 2."
)
right.mistake(
    "reaches_the_end", {"(-torch.arange(0, dim, 2) / (dim))": "-torch.linspace(0, 1, dim // 2)"}, loses=EVERYWHERE
).feedback("The exponents run evenly from 0 to -1 with both ends. The last one is -(dim - 2)/dim, a step short of -1.")
right.mistake("ignores_base", loses="for any base").patch("""
- return base ** (-torch.arange(0, dim, 2) / (dim))
+ return 10000.0 ** (-torch.arange(0, dim, 2) / dim)
""").feedback("`base` changes nothing: it is an argument, 10000 only by default.")
right.mistake("divides_whole", loses=EVERYWHERE).patch("""
- return base ** (-torch.arange(0, dim, 2) / (dim))
+ return base ** -(torch.arange(0, dim, 2) // dim).float()
""").feedback("Whole-number division: `2 * i // dim` is 0 for every pair, and all of them get the frequency 1.")
right.mistake("one_for_each_number", loses=EVERYWHERE).patch("""
- return base ** (-torch.arange(0, dim, 2) / (dim))
+ return (base ** (-torch.arange(0, dim, 2) / dim)).repeat_interleave(2)
""").feedback("Every frequency stands there twice. There is one for each pair, so the result has dim // 2 numbers.")
right.mistake("twice_in_a_row", loses=EVERYWHERE).patch("""
- return base ** (-torch.arange(0, dim, 2) / (dim))
+ return (base ** (-torch.arange(0, dim, 2) / dim)).repeat(2)
""").feedback(
    "Every frequency stands there twice, all of them and then all again. There is one for each pair: dim // 2 numbers."
)
right.mistake("one_for_each_place", {"(0, dim, 2) / (dim)": "(dim) / dim"}, loses=EVERYWHERE).feedback(
    "These are one for each number, dim of them, each a little slower than the one before. Two neighbours make a pair, "
    "and turn together."
)
right.mistake("slowest_first", loses=EVERYWHERE).patch("""
- return base ** (-torch.arange(0, dim, 2) / (dim))
+ return (base ** (-torch.arange(0, dim, 2) / dim)).flip(0)
""").feedback("The frequencies stand in reverse: the first pair is the fastest.")
right.mistake("times_two_pi", loses=EVERYWHERE).patch("""
- return base ** (-torch.arange(0, dim, 2) / (dim))
+ return 2 * math.pi * base ** (-torch.arange(0, dim, 2) / dim)
""").feedback(
    "These are turns, not angles in radians, or the other way round: there is a factor of 2π too many. A frequency of "
    "1 means one radian for each position."
)
right.mistake("exp_of_another_logarithm", loses=EVERYWHERE).patch("""
- return base ** (-torch.arange(0, dim, 2) / (dim))
+ return torch.exp(-torch.arange(0, dim, 2) / dim * math.log10(base))
""").feedback(
    "`torch.log10`, or a logarithm to another base than that of the `exp` around it: exp undoes the natural logarithm, "
    "`math.log`."
)
right.mistake("in_half_precision", loses=EVERYWHERE).patch("""
- return base ** (-torch.arange(0, dim, 2) / (dim))
+ exponents = -torch.arange(0, dim, 2) / dim
+ return ROUNDED
""").for_each(
    ROUNDED=(
        "(base ** (-torch.arange(0, dim, 2).bfloat16() / dim).float()).bfloat16().float()",
        "base ** exponents.bfloat16().float()",
        "base ** exponents.half().float()",
        "(base**exponents).bfloat16().float()",
        "(base**exponents).half().float()",
    )
).feedback(
    "Exponents or frequencies were rounded to half precision. At position 10,000 even a small error of the frequency "
    "has grown to many radians: compute both in float32."
)
right.mistake("in_float64", {"2) / (dim)": "2, dtype=torch.float64) / dim"}, loses="float32").feedback(
    "The numbers are right, the dtype is float64: the contract asks for float32."
)
right.mistake("as_a_list", loses=EVERYWHERE).patch("""
- return base ** (-torch.arange(0, dim, 2) / (dim))
+ return [base ** (-2 * i / dim) for i in range(dim // 2)]
""").feedback("A Python list: return a tensor of shape (dim // 2,).")
rope_frequencies.mistake(arguments.unchecked("takes_an_odd_dim"), loses="ValueError").full_code("""
def rope_frequencies(dim, base=10000.0):
    return PAIRS
""").for_each(
    PAIRS=(
        "base ** (-2.0 * torch.arange(dim // 2) / dim)",
        "base ** (-torch.arange(0, dim, 2) / dim)",
        "base ** (-torch.arange(0, dim - dim % 2, 2) / (dim - dim % 2))",
    )
).feedback(
    "An odd dim is not refused: one number would be left without a partner. Raise a ValueError that names dim and its "
    "value."
)
right.mistake(arguments.error_without_name(), loses="ValueError")
right.mistake(arguments.asserts(), loses="ValueError")
