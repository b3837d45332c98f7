"""Known mistakes in `AttentionLayer`."""

from .contract import attention_layer

right = attention_layer.alternative("with_a_flag")

right.mistake("ignores_the_flag", {"if return_attention:": "if False:"}).feedback(
    "You never return the weights. With `return_attention=True`, return output and weights."
)
right.mistake("returns_both_always").patch("""
- return output
+ return output, weights
""").feedback("You always return both. Without `return_attention=True`, return the output alone, as a tensor.")
right.mistake("turns_the_flag_round", {"if return_attention:": "if not return_attention:"}).feedback(
    "Your flag is the wrong way round: you return the weights exactly when nobody asked for them."
)
right.mistake("returns_the_weights_alone", {"return output, weights": "return weights"}).feedback(
    "With `return_attention=True` you return the weights alone. Return output and weights."
)
right.mistake("returns_the_weights_first", {"return output, weights": "return weights, output"}).feedback(
    "You return the weights first. The order is output, weights."
)
right.mistake("loses_the_mask", {"x, mask=mask": "x"}).feedback(
    "You do not pass the mask on, so nothing is blocked: call `self.attention(x, mask=mask)`."
)
right.mistake("passes_the_mask_as_context", {"x, mask=mask": "x, mask"}).feedback(
    "You pass the mask as the second argument, which is `context`. Pass it by name: `mask=mask`."
)
right.mistake("averages_over_the_heads", {"return output, weights": "return output, weights.mean(1)"}).feedback(
    "You average the weights over the heads. Return those of every head."
)
right.mistake("always_returns_a_tuple").patch("""
- return output
+ return (output,)
""").feedback("Without `return_attention=True` you return a tuple of one. Return the tensor itself.")
