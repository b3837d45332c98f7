"""Known mistakes in `heads_by_loop`."""

from .contract import heads_by_loop

right = heads_by_loop.alternative("appended")

right.mistake("one_below_the_other", {"torch.cat(outputs, dim=-1)": "torch.cat(outputs, dim=0)"}).feedback(
    "You put the heads one below the other, so the sentence gets longer. Put them side by side: `dim=-1`."
)
right.mistake("adds_the_heads", {"torch.cat(outputs, dim=-1)": "sum(outputs)"}).feedback(
    "You add the outputs of the heads. Put them side by side, so that each keeps its own columns."
)
right.mistake("stacks_the_heads", {"torch.cat(outputs, dim=-1)": "torch.stack(outputs)"}).feedback(
    "You stack the heads in a new dimension. Put them side by side in the last one: `torch.cat`."
)
right.mistake("returns_the_last_head", {"torch.cat(outputs, dim=-1)": "outputs[-1]"}).feedback(
    "You return the last head only. Collect the outputs of all heads."
)
right.mistake("collects_the_weights", {"append(weights @ value)": "append(weights)"}).feedback(
    "You collect the weights. `attend` returns output and weights: collect the outputs."
)
right.mistake("takes_x_for_the_values", {"x @ W_k, x @ W_v": "x @ W_k, x"}).feedback(
    "You do not project the values. Each head has its own `W_v`."
)
right.mistake("scales_by_the_model_width", {"query.shape[-1]": "x.shape[-1]"}).feedback(
    "You divide by the square root of the model width D. Use the width of one head, K."
)
right.mistake("starts_with_the_last_head", {"in heads": "in reversed(heads)"}).feedback(
    "Your heads are in reverse order. Head 0 comes first."
)
right.mistake("feeds_one_head_to_the_next").patch("""
  outputs.append(weights @ value)
+ x = outputs[-1].repeat(1, len(heads))
""").feedback("You change `x` in the loop, so a head reads what the head before it found. All heads read the same `x`.")
