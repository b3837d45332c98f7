"""Known mistakes in `logit_lens`."""

from ...shared.families import arguments, gradients, numbers
from .contract import logit_lens

LOGITS, MODULE, GRADIENTS = "logits for", "whatever", "gradients"

right = logit_lens.alternative("lens_at_once")
by_layer = logit_lens.alternative("lens_layer_by_layer")

right.mistake("does_not_normalise", {"norm(hidden)": "hidden"}, loses=(LOGITS, MODULE, GRADIENTS)).feedback(
    "You do not use the norm. The last layer's output is normalised before it is unembedded, so the output of every "
    "layer must be."
)
right.mistake("normalises_the_logits", loses=(LOGITS, MODULE, GRADIENTS)).patch("""
- return norm(hidden) @ unembedding.T
+ return F.layer_norm(hidden @ unembedding.T, unembedding.shape[:1])
""").feedback("You normalise after unembedding. The norm works on the D features.")
right.mistake("normalises_without_its_weights", loses=(LOGITS, MODULE, GRADIENTS)).patch("""
- return norm(hidden) @ unembedding.T
+ return F.layer_norm(hidden, hidden.shape[-1:]) @ unembedding.T
""").feedback("You use a layer norm of your own, without weights and bias. Call the module.")
right.mistake("with_a_norm_of_its_own", {"norm(hidden)": "(NORM)"}, loses=(LOGITS, MODULE, GRADIENTS)).for_each(
    NORM=(
        "F.normalize(hidden, dim=-1)",
        "hidden * hidden.square().mean(-1, keepdim=True).rsqrt()",
        "(hidden - hidden.mean(-1, keepdim=True)) / hidden.std(-1, keepdim=True)",
        "(hidden - hidden.mean(-1, keepdim=True)) / hidden.std(-1, keepdim=True) * norm.weight + norm.bias",
    )
).feedback("You normalise in your own way. Call the module: the model was trained with this norm.")
right.mistake(
    "normalises_by_hand", {"norm(hidden)": "F.layer_norm(hidden, hidden.shape[-1:], norm.weight, BIAS)"}, loses=MODULE
).for_each(BIAS=("getattr(norm, 'bias', None)", "norm.bias")).feedback(
    "You take the norm's parameters and compute a layer norm yourself. The module may be another kind of norm, or "
    "have another epsilon: call it."
)
right.mistake("normalises_by_hand_with_its_epsilon", loses=MODULE).patch("""
- return norm(hidden) @ unembedding.T
+ return F.layer_norm(hidden, norm.normalized_shape, norm.weight, norm.bias, norm.eps) @ unembedding.T
""").feedback(
    "You take the norm's parameters and compute a layer norm yourself. The module may be another kind of norm: call it."
)
right.mistake("divides_as_the_last_layer", loses=(LOGITS, GRADIENTS)).patch("""
- return norm(hidden) @ unembedding.T
+ last = (hidden[-1:].var(-1, unbiased=False, keepdim=True) + 1e-5).sqrt()
+ x = (hidden - hidden.mean(-1, keepdim=True)) / last
+ return (x * norm.weight + norm.bias) @ unembedding.T
""").feedback("You divide every layer by the scale of the last one. Each layer has its own: call the norm for each.")
right.mistake("leaves_out_the_norms_bias", loses=(LOGITS, GRADIENTS)).patch("""
- return norm(hidden) @ unembedding.T
+ return (norm(hidden) - norm(torch.zeros_like(hidden))) @ unembedding.T
""").feedback("You leave out the bias of the norm.")
right.mistake(
    "does_not_turn_the_unembedding", {"unembedding.T": "unembedding"}, loses=(LOGITS, MODULE, GRADIENTS)
).feedback(
    "Your product with `unembedding` does not fit, or sums over the tokens. Each vector needs its dot product with "
    "each *row*."
)
right.mistake("softmax_of_it", loses=(LOGITS, MODULE, GRADIENTS)).patch("""
- return norm(hidden) @ unembedding.T
+ return (norm(hidden) @ unembedding.T).softmax(-1)
""").feedback("You return probabilities. The exercise asks for logits.")
right.mistake("log_softmax_of_it", loses=(LOGITS, MODULE, GRADIENTS)).patch("""
- return norm(hidden) @ unembedding.T
+ return (norm(hidden) @ unembedding.T).log_softmax(-1)
""").feedback("You return log-probabilities. The exercise asks for logits.")
right.mistake("the_best_token", loses=(LOGITS, MODULE, GRADIENTS)).patch("""
- return norm(hidden) @ unembedding.T
+ return (norm(hidden) @ unembedding.T).argmax(-1)
""").feedback("You return the best token at each position. The exercise asks for all logits.")
right.mistake("only_the_last_layer", {"norm(hidden)": "norm(hidden[-1])"}, loses=(LOGITS, MODULE, GRADIENTS)).feedback(
    "You read only the last layer. The lens shows every layer."
)
right.mistake(
    "only_the_last_place", {"norm(hidden)": "norm(hidden[:, :, LAST])"}, loses=(LOGITS, MODULE, GRADIENTS)
).for_each(LAST=("-1", "-1:")).feedback("You read only the last position of each text. The lens shows every position.")
right.mistake(
    "adds_the_layers_up", {"norm(hidden)": "norm(hidden.cumsum(0))"}, loses=(LOGITS, MODULE, GRADIENTS)
).feedback("You add up the layers. The output of a layer already contains what the earlier layers have added.")
right.mistake("takes_differences", loses=(LOGITS, MODULE, GRADIENTS)).patch("""
- return norm(hidden) @ unembedding.T
+ return norm(torch.diff(hidden, dim=0, prepend=torch.zeros_like(hidden[:1]))) @ unembedding.T
""").feedback("You read what each layer adds. The lens reads the sum up to and including that layer.")
by_layer.mistake("spares_the_last_layer", loses=(LOGITS, MODULE, GRADIENTS)).patch("""
- for layer in hidden:
-     layers.append(torch.matmul(norm(layer), unembedding.transpose(0, 1)))
+ for i, layer in enumerate(hidden):
+     layer = norm(layer) if i < len(hidden) - 1 else layer
+     layers.append(torch.matmul(layer, unembedding.transpose(0, 1)))
""").feedback(
    "You do not normalise the last layer. Some libraries return it already normalised, but here it is as it comes "
    "out of the block."
)
right.mistake(
    "spares_the_first", {"norm(hidden)": "torch.cat([hidden[:1], norm(hidden[1:])])"}, loses=(LOGITS, MODULE, GRADIENTS)
).feedback("You do not normalise what goes into the first layer. Treat it like the others.")
right.mistake("normalises_the_last_layer_only", loses=(LOGITS, MODULE, GRADIENTS)).patch("""
- return norm(hidden) @ unembedding.T
+ return torch.cat([hidden[:-1], norm(hidden[-1:])]) @ unembedding.T
""").feedback("You normalise only the last layer. The lens treats every layer as if it were the last.")
right.mistake("leaves_out_the_first", {"norm(hidden)": "norm(hidden[1:])"}, loses=(LOGITS, MODULE, GRADIENTS)).feedback(
    "You leave out the first of the L hidden states. Read all of them."
)
right.mistake(
    "squeezes", {"norm(hidden) @ unembedding.T": "(norm(hidden) @ unembedding.T).SQUEEZE"}, loses="a single"
).for_each(SQUEEZE=("squeeze(1)", "squeeze()", "squeeze(0)")).feedback(
    "Your result has lost a dimension of size 1: `squeeze` removed it. The result has four dimensions, even for a "
    "single layer, text or position."
)
right.mistake("moves_the_layers", loses=(LOGITS, MODULE, GRADIENTS)).patch("""
- return norm(hidden) @ unembedding.T
+ return (norm(hidden) @ unembedding.T).permute(1, 2, 0, 3)
""").feedback("You put the layers third: (B, T, L, N). They come first.")
by_layer.mistake("stacks_the_layers_last", {"dim=0": "dim=-1"}, loses=(LOGITS, MODULE)).feedback(
    "You put the layers last: (B, T, N, L). They come first."
)
by_layer.mistake("stacks_the_layers_second", {"dim=0": "dim=1"}, loses=(LOGITS, MODULE)).feedback(
    "You put the layers second: (B, L, T, N). They come first."
)
by_layer.mistake("a_list_of_layers", {"torch.stack(layers, dim=0)": "layers"}, loses=(LOGITS, MODULE)).feedback(
    "You return a list. Stack the layers into one tensor."
)
right.mistake("normalises_twice", {"norm(hidden)": "norm(norm(hidden))"}, loses=(LOGITS, MODULE, GRADIENTS)).feedback(
    "You apply the norm twice."
)
right.mistake("leaves_out_the_last", {"norm(hidden)": "norm(hidden[:-1])"}, loses=(LOGITS, MODULE, GRADIENTS)).feedback(
    "You leave out the last of the L hidden states. Read all of them."
)
right.mistake("normalises_both", {"unembedding.T": "norm(unembedding).T"}, loses=(LOGITS, MODULE, GRADIENTS)).feedback(
    "You apply the norm to the unembedding as well. It belongs to the hidden states only."
)
right.mistake("puts_the_tokens_before_the_places", loses=(LOGITS, MODULE, GRADIENTS)).patch("""
- return norm(hidden) @ unembedding.T
+ return unembedding @ norm(hidden).mT
""").feedback("Your result is (L, B, N, T), with the logits of one position in a column. The logits come last.")
right.mistake("switches_the_norm", {"    return": "    norm.eval()\n    return"}, loses="float64").feedback(
    "You switch the norm to eval mode and leave it there. The caller goes on using the norm: leave its mode unchanged."
)
right.mistake("normalises_the_unembedding", loses=(LOGITS, MODULE, GRADIENTS)).patch("""
- return norm(hidden) @ unembedding.T
+ return hidden @ norm(unembedding).T
""").feedback("You apply the norm to the unembedding. It belongs to the hidden states.")
right.mistake("cosines", loses=(LOGITS, MODULE, GRADIENTS)).patch("""
- return norm(hidden) @ unembedding.T
+ return F.normalize(norm(hidden), dim=-1) @ F.normalize(unembedding, dim=-1).T
""").feedback(
    "You return cosines, which no longer depend on the lengths of the vectors. Logits are plain dot products."
)
right.mistake("scales_by_the_width", loses=(LOGITS, MODULE, GRADIENTS)).patch("""
- return norm(hidden) @ unembedding.T
+ return norm(hidden) @ unembedding.T / unembedding.shape[1] ** 0.5
""").feedback("You divide by the square root of D, as attention does with its scores. Logits are plain dot products.")
right.mistake("averages_the_texts", loses=(LOGITS, MODULE, GRADIENTS)).patch("""
- return norm(hidden) @ unembedding.T
+ return (norm(hidden) @ unembedding.T).mean(1)
""").feedback("You average over the texts of the batch. Each text has its own logits.")
right.mistake(gradients.cut("without_gradients"), loses=GRADIENTS).patch("""
- return norm(hidden) @ unembedding.T
+ return (norm(hidden) @ unembedding.T).detach()
""")
right.mistake(gradients.cut("detaches_what_is_normalised", what="the hidden states"), loses=GRADIENTS).patch("""
- return norm(hidden) @ unembedding.T
+ return norm(hidden).detach() @ unembedding.T
""")
right.mistake(gradients.cut("detaches_the_unembedding", what="the unembedding"), loses=GRADIENTS).patch("""
- return norm(hidden) @ unembedding.T
+ return norm(hidden) @ unembedding.detach().T
""")
right.mistake(gradients.cut("detaches_the_hidden_states", what="the hidden states"), loses=GRADIENTS).patch("""
- return norm(hidden) @ unembedding.T
+ return norm(hidden.detach()) @ unembedding.T
""")
right.mistake(numbers.result_float32, loses="float64")
right.mistake(
    arguments.argument_changed(what="`hidden`"),
    {"    return": "    hidden.data.copy_(norm(hidden.data))\n    return", "norm(hidden) @": "hidden @"},
    loses="float64",
)
