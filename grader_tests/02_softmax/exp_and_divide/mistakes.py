"""Known mistakes in `exp_and_divide`."""

from .contract import exp_and_divide

right = exp_and_divide.alternative("word_for_word")

right.mistake("returns_the_exponentials", {"exponentials / exponentials.sum()": "exponentials"}).feedback(
    "You return the exponentials, which do not sum to 1. Divide them by their sum."
)
right.mistake("divides_the_scores", {"torch.exp(x)": "x"}).feedback(
    "You divide the scores themselves by their sum, so negative scores get negative shares. Exponentiate first."
)
right.mistake("divides_by_the_sum_of_scores", {"exponentials.sum()": "x.sum()"}).feedback(
    "You divide the exponentials by the sum of the scores. Divide them by the sum of the exponentials."
)
right.mistake("exponentiates_the_sum", {"exponentials.sum()": "torch.exp(x.sum())"}).feedback(
    "You add up the scores and then exponentiate. Exponentiate each score first, then add up."
)
right.mistake("divides_by_the_largest", {".sum()": ".max()"}).feedback(
    "You divide by the largest exponential, so the highest score alone gets 1. Divide by the *sum* of them all."
)
right.mistake("takes_powers_of_two", {"torch.exp(x)": "2.0**x"}).feedback(
    "You take powers of 2. The base is e: use `torch.exp`."
)
right.mistake("works_on_plain_numbers", {"torch.exp(x)": "torch.exp(x.detach())"}).feedback(
    "No gradient comes back to `x`, because you leave autograd's tensors (`detach`, `.item()`, `torch.tensor(...)`)."
)
