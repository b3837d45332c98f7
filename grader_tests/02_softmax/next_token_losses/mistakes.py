"""Known mistakes in `next_token_losses`."""

from .contract import next_token_losses

right = next_token_losses.reference_answer("""
def next_token_losses(logits, targets):
    logarithms = torch.log_softmax(logits, dim=-1)
    return -logarithms[torch.arange(len(targets)), targets]
""")

right.mistake("forgets_the_minus", {"-logarithms": "logarithms"}).feedback(
    "You leave out the minus sign. Logarithms of weights are never positive; a loss is never negative."
)
right.mistake("takes_the_weights", {"torch.log_softmax": "torch.softmax"}).feedback(
    "You use the weights instead of their logarithms: call `log_softmax`."
)
right.mistake("takes_the_logarithm_of_softmax").patch("""
- logarithms = torch.log_softmax(logits, dim=-1)
+ logarithms = torch.log(torch.softmax(logits, dim=-1))
""").feedback(
    "A target that is 120 behind gets an infinite loss, because you take the logarithm of a rounded weight. Call your "
    "`log_softmax`."
)
right.mistake("normalises_over_the_positions", {"dim=-1": "dim=0"}).feedback(
    "Your softmax runs along the positions. The weights of all *tokens* at one position sum to 1: `dim=-1`."
)
right.mistake("takes_all_pairs", {"[torch.arange(len(targets)), targets]": "[:, targets]"}).feedback(
    "You take every target from every row, and get `(T, T)`. Index with the row numbers too: `m[torch.arange(T), ids]`."
)
right.mistake("takes_rows_for_columns", {"[torch.arange(len(targets)), targets]": "[targets]"}).feedback(
    "You select rows by the targets. The rows are the positions; the target selects the *column*."
)
right.mistake("returns_the_mean", {"targets]": "targets].mean()"}).feedback(
    "You return the mean. Return all `T` losses."
)
right.mistake("takes_the_likeliest", {"[torch.arange(len(targets)), targets]": ".amax(-1)"}).feedback(
    "You return the loss of the likeliest token. Take the token that really came: column `targets[t]` of row `t`."
)
right.mistake("skips_softmax", {"torch.log_softmax(logits, dim=-1)": "logits"}).feedback(
    "You take the scores themselves. Apply `log_softmax` to them first."
)
