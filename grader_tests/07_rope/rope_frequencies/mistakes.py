"""Known mistakes in `rope_frequencies`."""

from .contract import rope_frequencies

EVERYWHERE = ("for any even", "for any base")  # what an answer loses whose every result is wrong

right = rope_frequencies.reference_answer("""
def rope_frequencies(dim, base=10000.0):
    return base ** (-torch.arange(0, dim, 2) / (dim))
""")

right.mistake("misses_the_two", {"(0, dim, 2) / (dim)": "(dim // 2) / dim"}, loses=EVERYWHERE).feedback(
    "The factor 2 is missing from your exponent. The exponents are 0, -2/dim, -4/dim and so on."
)
right.mistake("misses_the_minus", loses=EVERYWHERE).patch("""
- return base ** (-torch.arange(0, dim, 2) / (dim))
+ return base ** (torch.arange(0, dim, 2) / dim)
""").feedback(
    "The minus sign of the exponent is missing, so your frequencies grow from pair to pair. The first pair turns "
    "fastest, and all others turn more slowly."
)
right.mistake("counts_from_one", loses=EVERYWHERE).patch("""
- return base ** (-torch.arange(0, dim, 2) / (dim))
+ return base ** (-2.0 * torch.arange(1, dim // 2 + 1) / dim)
""").feedback(
    "You count the pairs from 1 instead of 0. The first pair has i = 0, and the frequency 1 whatever the base is."
)
right.mistake("takes_one_off_twice", loses=EVERYWHERE).patch("""
- return base ** (-torch.arange(0, dim, 2) / (dim))
+ return base ** (-2.0 * (torch.arange(dim // 2) - 1) / dim)
""").feedback(
    "You subtract 1 from i, although you already count the pairs from 0. Papers count them from 1 and write -2(i - "
    "1)/dim. The first frequency is 1."
)
right.mistake("odd_exponents", loses=EVERYWHERE).patch("""
- return base ** (-torch.arange(0, dim, 2) / (dim))
+ return base ** (-(2.0 * torch.arange(1, dim // 2 + 1) - 1) / dim)
""").feedback(
    "You use the exponent -(2k - 1)/dim. Papers that count pairs from 1 write -2(k - 1)/dim. Here pair i, counted from "
    "0, has -2i/dim."
)
right.mistake("divides_by_half_the_dim", {"/ (dim)": "/ (dim // 2)"}, loses=EVERYWHERE).feedback(
    "Your exponents are twice as large as they should be. You divide 2i by dim // 2, or the factor 2 is there "
    "twice. Divide 2i by dim, or i by dim // 2."
)
right.mistake(
    "reaches_the_end", {"(-torch.arange(0, dim, 2) / (dim))": "-torch.linspace(0, 1, dim // 2)"}, loses=EVERYWHERE
).feedback(
    "Your exponents run evenly from 0 to -1 and include both ends. The last one is -(dim - 2)/dim, one step short "
    "of -1."
)
right.mistake("ignores_base", loses="for any base", clause="base").patch("""
- return base ** (-torch.arange(0, dim, 2) / (dim))
+ return 10000.0 ** (-torch.arange(0, dim, 2) / dim)
""").feedback("`base` changes nothing in your function. It is an argument; 10000 is only its default.")
right.mistake("divides_whole", loses=EVERYWHERE).patch("""
- return base ** (-torch.arange(0, dim, 2) / (dim))
+ return base ** WHOLE.float()
""").for_each(WHOLE=("-(torch.arange(0, dim, 2) // dim)", "(-torch.arange(0, dim, 2) // dim)")).feedback(
    "`//` rounds the quotient down to a whole number, so all exponents are 0, or all but the first are -1. Divide "
    "with `/`."
)
right.mistake("one_for_each_number", loses=EVERYWHERE).patch("""
- return base ** (-torch.arange(0, dim, 2) / (dim))
+ return (base ** (-torch.arange(0, dim, 2) / dim)).repeat_interleave(2)
""").feedback(
    "You return every frequency twice, two in a row. There is one per pair, so the result has dim // 2 entries."
)
right.mistake("twice_in_a_row", loses=EVERYWHERE).patch("""
- return base ** (-torch.arange(0, dim, 2) / (dim))
+ return (base ** (-torch.arange(0, dim, 2) / dim)).repeat(2)
""").feedback(
    "You return every frequency twice: all of them, then all of them again. There is one per pair, so the result "
    "has dim // 2 entries."
)
right.mistake("one_for_each_place", {"(0, dim, 2) / (dim)": "(dim) / dim"}, loses=EVERYWHERE).feedback(
    "You return one frequency per entry, each a little smaller than the one before. Two neighbours make a pair and "
    "turn together, so there is one per pair."
)
right.mistake("slowest_first", loses=EVERYWHERE).patch("""
- return base ** (-torch.arange(0, dim, 2) / (dim))
+ return (base ** (-torch.arange(0, dim, 2) / dim)).flip(0)
""").feedback("Your frequencies are in reverse order. The first pair is the fastest.")
right.mistake("times_two_pi", loses=EVERYWHERE).patch("""
- return base ** (-torch.arange(0, dim, 2) / (dim))
+ return 2 * math.pi * base ** (-torch.arange(0, dim, 2) / dim)
""").feedback(
    "You mix up turns and radians: your frequencies have an extra factor of 2π. A frequency of 1 means one radian "
    "per position."
)
right.mistake("exp_of_another_logarithm", loses=EVERYWHERE).patch("""
- return base ** (-torch.arange(0, dim, 2) / (dim))
+ return torch.exp(-torch.arange(0, dim, 2) / dim * math.log10(base))
""").feedback(
    "Your logarithm, such as `torch.log10`, does not have the same base as the `exp` around it. `exp` undoes the "
    "natural logarithm, `math.log`."
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
    "You round exponents or frequencies to half precision. At position 10,000 even a small error in the frequency "
    "has grown to many radians. Compute both in float32."
)
right.mistake("in_float64", {"2) / (dim)": "2, dtype=torch.float64) / dim"}, loses="float32").feedback(
    "The numbers are right, but their dtype is float64. Return float32."
)
right.mistake("as_a_list", loses=EVERYWHERE).patch("""
- return base ** (-torch.arange(0, dim, 2) / (dim))
+ return [base ** (-2 * i / dim) for i in range(dim // 2)]
""").feedback("You return a Python list. Return a tensor of shape (dim // 2,).")
