"""Known mistakes in `bits_per_byte`."""

from .contract import bits_per_byte

right = bits_per_byte.alternative("in_nats_first")

right.mistake("nats_per_byte", {"(n_bytes * math.log(2))": "n_bytes"}).feedback(
    "Your result is in nats per byte. A bit is ln 2 = 0.693 nats, so the number of bits is larger."
)
right.mistake("multiplied_by_ln_2", {"(n_bytes * math.log(2))": "n_bytes * math.log(2)"}).feedback(
    "You multiply by ln 2. A bit is ln 2 nats: divide by it."
)
right.mistake("bits_per_token", {"* n_tokens / (n_bytes * math.log(2))": "/ math.log(2)"}).feedback(
    "Your result is in bits per token. Multiply by the number of tokens, and divide by the number of bytes."
)
right.mistake("the_other_way_round", {"* n_tokens / (n_bytes ": "* n_bytes / (n_tokens "}).feedback(
    "You swap tokens and bytes. The whole text costs the nats per token times the number of tokens."
)
right.mistake("bits_of_the_text", {"(n_bytes * math.log(2))": "math.log(2)"}).feedback(
    "Your result is the bits of the whole text. Divide by its number of bytes."
)
right.mistake("the_logarithm_to_base_10", {"math.log(2)": "math.log10(2)"}).feedback(
    "You take the logarithm to base 10. Nats come from the natural logarithm, `math.log`."
)
right.mistake("perplexity_per_byte", {"return ": "return 2 ** (", "math.log(2))": "math.log(2)))"}).feedback(
    "You return 2 to the power of the right result. The step asks for the bits themselves."
)
