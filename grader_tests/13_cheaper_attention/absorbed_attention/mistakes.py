"""Known mistakes in `absorbed_attention`."""

from ...shared.families import arguments, gradients, masks, numbers, results, scores
from ...shared.repeating import keeps_its_last_result
from .contract import absorbed_attention

VALUES, MASKS, SIZES, COST, BATCH, FORM = "the same as", "masks", "scores of any", "no keys", "in a batch", "gradients"

right = absorbed_attention.reference_answer("""
def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    S, C = latent.shape[1:]
    K_of = W_k.reshape(H, K, C)
    V_of = W_v.reshape(H, K, C)
    blocked = torch.zeros((), dtype=torch.bool, device=query.device) if mask is None else mask
    into = torch.einsum("bhtk,hkc->bhtc", query, K_of)
    scores = torch.einsum("bhtc,bsc->bhts", into, latent) / K**0.5
    weights = scores.masked_fill(blocked, -torch.inf).softmax(-1)
    weights = weights.masked_fill(blocked, 0.0)
    mixed = torch.einsum("bhts,bsc->bhtc", weights, latent)
    return torch.einsum("bhtc,hkc->bhtk", mixed, V_of), weights
""")
plain = """
def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    key = (latent @ W_k.T).unflatten(-1, (H, K)).transpose(1, 2)
    value = (latent @ W_v.T).unflatten(-1, (H, K)).transpose(1, 2)
    scores = query @ key.mT / K**0.5
    blocked = torch.zeros((), dtype=torch.bool, device=query.device) if mask is None else mask
    weights = scores.masked_fill(blocked, -torch.inf).softmax(-1).masked_fill(blocked, 0.0)
    return weights @ value, weights
"""

absorbed_attention.mistake("makes_keys_and_values", loses=(COST, BATCH), when="plain").full_code(plain).feedback(
    "You make the keys and values of all latents, which the absorbed form does without. Multiply the queries by "
    "`W_k` first, and mix the latents before you multiply by `W_v`."
)
right.mistake("makes_the_keys_or_the_values", loses=(COST, BATCH), when="half plain").patch("""
- mixed = torch.einsum("bhts,bsc->bhtc", weights, latent)
- return torch.einsum("bhtc,hkc->bhtk", mixed, V_of), weights
+ value = torch.einsum("bsc,hkc->bhsk", latent, V_of)
+ return torch.einsum("bhts,bhsk->bhtk", weights, value), weights
""").feedback(
    "You make the keys or the values of all latents, and do without the other. Multiply the queries by `W_k`, and the "
    "mixtures of latents by `W_v`."
)
absorbed_attention.mistake("makes_keys_head_by_head", loses=COST).full_code("""
def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    blocked = torch.zeros(1, dtype=torch.bool, device=query.device) if mask is None else mask
    blocked = blocked.expand(B, H, T, latent.shape[1])
    outputs, maps = [], []
    for h in range(H):
        key, value = latent @ W_k[h * K : (h + 1) * K].T, latent @ W_v[h * K : (h + 1) * K].T
        scores = query[:, h] @ key.mT / K**0.5
        weights = scores.masked_fill(blocked[:, h], -torch.inf).softmax(-1).masked_fill(blocked[:, h], 0.0)
        outputs.append(weights @ value)
        maps.append(weights)
    return torch.stack(outputs, 1), torch.stack(maps, 1)
""").feedback(
    "You make keys and values one head after another, which takes little memory, but as many multiplications as all at "
    "once. Multiply the queries by `W_k`, not the latents."
)
right.mistake("multiplies_more_than_needed", loses=COST, when="too many").patch("""
- weights = scores.masked_fill(blocked, -torch.inf).softmax(-1)
- weights = weights.masked_fill(blocked, 0.0)
+ again = torch.einsum("bhtc,bsc->bhts", into, latent) / K**0.5
+ total = again.masked_fill(blocked, -torch.inf).logsumexp(-1, keepdim=True)
+ weights = (scores - total.masked_fill(total.isneginf(), 0.0)).masked_fill(blocked, -torch.inf).exp()
""").feedback(
    "Your matrix products take more multiplications than the absorbed form needs. Look for a product that you compute "
    "twice, such as the scores, or for keys and values that you make in parts."
)
right.mistake(
    "copies_the_latents_for_each_head",
    {
        'torch.einsum("bhtc,bsc->bhts", into, latent)': "(into @ latent[:, None].mT)",
        'torch.einsum("bhts,bsc->bhtc", weights, latent)': "weights @ latent[:, None]",
    },
    loses=BATCH,
    when="copied",
).feedback(
    "You let the latents broadcast over the heads, and `@` copies what it broadcasts: once for each head. Make the "
    "heads rows of one product, (B, H * T, C) times (B, C, S), or use an `einsum` that does not copy."
)
right.mistake("multiplies_entry_by_entry", loses=(COST, BATCH)).patch("""
- scores = torch.einsum("bhtc,bsc->bhts", into, latent) / K**0.5
+ scores = (into[:, :, :, None] * latent[:, None, None]).sum(-1) / K**0.5
@@
- mixed = torch.einsum("bhts,bsc->bhtc", weights, latent)
+ mixed = MIXED
""").for_each(
    MIXED=(
        'torch.einsum("bhts,bsc->bhtc", weights, latent)',
        "(weights[..., None] * latent[:, None, None]).sum(-2)",
    )
).feedback("You multiply entry by entry before you sum, which makes a tensor with all products. Use a matrix product.")
right.mistake("scaled_by_the_latent_width", {"/ K**0.5": "/ C**0.5"}, loses=VALUES).feedback(
    "You scale by the width of the latents, because the queries now have it. The scores are those of keys of width K: "
    "divide by √K."
)
right.mistake(scores.unscaled, {" / K**0.5": ""}, loses=VALUES)
right.mistake(scores.scaled_by_width, {"K**0.5": "K"}, loses=VALUES)
right.mistake(scores.scaled_by_model_width, {"K**0.5": "(H * K) ** 0.5"}, loses=VALUES)
right.mistake("scaled_by_both_widths", {"K**0.5": "(K + C) ** 0.5"}, loses=VALUES).feedback(
    "You scale by the widths of keys and latents together. The scores are those of keys of width K: divide by √K."
)
right.mistake(
    "cuts_the_weights_into_columns",
    {
        "W_k.reshape(H, K, C)": "W_k.T.reshape(C, H, K).permute(1, 2, 0).reshape(K, H, C).transpose(0, 1)",
        "W_v.reshape(H, K, C)": "W_v.reshape(K, H, C).transpose(0, 1)",
    },
    loses=VALUES,
).feedback(
    "You assign the rows of the weights to the heads alternately. The first K rows belong to head 0, the next K to "
    "head 1."
)
right.mistake(
    "cuts_the_weights_wrongly",
    {"W_k.reshape(H, K, C)": "W_k.reshape(H, C, K).mT", "W_v.reshape(H, K, C)": "W_v.reshape(H, C, K).mT"},
    loses=VALUES,
).feedback("You reshape the weights to (H, C, K), which mixes their rows. `nn.Linear` keeps (H * K, C): cut the rows.")
right.mistake(
    "transposes_by_reshape",
    {"W_v.reshape(H, K, C)": "W_v.T.reshape(H, K, C)", "W_k.reshape(H, K, C)": "W_k.T.reshape(H, K, C)"},
    loses=VALUES,
).feedback(
    "You transpose the weights before you cut them into heads, so that a head gets pieces of all. `nn.Linear` keeps "
    "(H * K, C), and a head's rows follow each other."
)
right.mistake(
    "first_heads_matrix_for_all",
    {"W_k.reshape(H, K, C)": "W_k[:K].expand(H, K, C)", "W_v.reshape(H, K, C)": "W_v[:K].expand(H, K, C)"},
    loses=VALUES,
).feedback("You use the first K rows of the weights for every head. Each head has its own rows.")
right.mistake("values_by_W_k", {"mixed, V_of": "mixed, K_of"}, loses=VALUES).feedback(
    "You make the output with `W_k`. Keys and values have their own matrices: use `W_v` after the mixture."
)
right.mistake("keys_by_W_v", {"query, K_of": "query, V_of"}, loses=VALUES).feedback(
    "You multiply the queries by `W_v`. The scores need the keys' matrix, `W_k`."
)
right.mistake("exchanges_the_weights", {"latent, W_k, W_v": "latent, W_v, W_k"}, loses=VALUES).feedback(
    "You have `W_k` and `W_v` in the wrong order. In the signature `W_k` comes first."
)
right.mistake("returns_the_mixture", {'torch.einsum("bhtc,hkc->bhtk", mixed, V_of)': "mixed"}, loses=VALUES).feedback(
    "You return the mixtures of latents, of width C. Multiply them by each head's rows of `W_v`."
)
right.mistake("mixes_all_heads", {'"bhtc,hkc->bhtk"': '"bgtc,hkc->bhtk"'}, loses=VALUES).feedback(
    "You sum over the heads in the last product. Each head's mixture belongs to its own rows of `W_v`."
)
right.mistake(
    "merges_the_heads",
    {'torch.einsum("bhtc,hkc->bhtk", mixed, V_of)': 'torch.einsum("bhtc,hkc->bthk", mixed, V_of).flatten(2)'},
    loses=VALUES,
).feedback("You merge the heads. The output is (B, H, T, K); merging them, and `W_o`, are the caller's.")
right.mistake("weights_of_all_heads_averaged", {"V_of), weights": "V_of), weights.mean(1)"}, loses=VALUES).feedback(
    "You average the weights over the heads. Return one map for each head, (B, H, T, S)."
)
right.mistake(results.output_alone, {"V_of), weights": "V_of)"}, loses=VALUES)
right.mistake(
    results.weights_first,
    {
        'return torch.einsum("bhtc,hkc'
        '->bhtk", mixed, V_of), weights': 'return weights, torch.einsum("bhtc,hkc->bhtk", mixed, V_of)'
    },
    loses=VALUES,
)
right.mistake(results.scores_for_weights, {"V_of), weights": "V_of), scores"}, loses=VALUES)
right.mistake(scores.softmax_over_queries, {"softmax(-1)": "softmax(-2).nan_to_num(0.0)"}, loses=VALUES)
right.mistake(scores.softmax_over_heads, {"softmax(-1)": "softmax(1).nan_to_num(0.0)"}, loses=VALUES)
right.mistake(scores.softmax_missing, {".softmax(-1)": ""}, loses=VALUES)
right.mistake(masks.ignored, {"device=query.device) if mask is None else mask": "device=query.device)"}, loses=MASKS)
right.mistake(masks.inverted, {"if mask is None else mask": "if mask is None else ~mask"}, loses=MASKS)
right.mistake(masks.after_softmax, {".masked_fill(blocked, -torch.inf)": ""}, loses=MASKS)
right.mistake(
    masks.causal_by_default,
    {
        "torch.zeros((), dtype=torch.bool, device=query.device)": "torch.ones(T, S, dtype=torch.bool, "
        "device=query.device).triu(S - T + 1)"
    },
    loses=VALUES,
)
right.mistake(
    masks.needed,
    {"torch.zeros((), dtype=torch.bool, device=query.device) if mask is None else mask": "mask"},
    loses=VALUES,
)
right.mistake("adds_a_dimension_to_the_mask", {"else mask": "else MASK"}, loses=MASKS).for_each(
    MASK=(
        "mask.unsqueeze(1)",
        "mask[:, None] if mask.dim() == 3 else mask",
        "mask[None, None]",
        "mask.unsqueeze(1).expand(B, H, T, S)",
        "mask.unsqueeze(1).expand(-1, H, -1, -1)",
    )
).feedback(
    "You add a dimension to the mask, but it broadcasts to the scores as it is. It may have fewer than four dimensions."
)
right.mistake(masks.blocked_rows_nan, {"    weights = weights.masked_fill(blocked, 0.0)\n": ""}, loses=(MASKS, FORM))
right.mistake(
    masks.blocked_rows_equal,
    {"-torch.inf": "torch.finfo(query.dtype).min", "    weights = weights.masked_fill(blocked, 0.0)\n": ""},
    loses=MASKS,
)
right.mistake(masks.blocked_by_number, {"-torch.inf": "FILL"}, loses=SIZES).for_each(
    FILL=(-1e9, -1e4, -1e12, -1e10, -1e6)
)
right.mistake(
    masks.blocked_by_small_number,
    {"-torch.inf": "0.0", "    weights = weights.masked_fill(blocked, 0.0)\n": ""},
    loses=MASKS,
)
right.mistake(
    masks.to_add("adds_the_mask"),
    {
        "scores.masked_fill(blocked, -torch.inf)": "(scores + blocked)",
        "    weights = weights.masked_fill(blocked, 0.0)\n": "",
    },
    loses=MASKS,
).feedback("You add the mask to the scores, so a blocked score becomes greater by 1. Its weight must be 0.")
right.mistake(
    gradients.nan_wiped_off,
    {
        "scores.masked_fill(blocked, -torch.inf)": "(scores + torch.zeros_like(scores).masked_fill(blocked, "
        "-torch.inf))",
        "weights.masked_fill(blocked, 0.0)": "weights.nan_to_num(0.0)",
    },
    loses=FORM,
)
right.mistake(
    numbers.exponentials_overflow,
    {
        ".softmax(-1)": ".exp()",
        "    weights = weights.masked_fill(blocked, 0.0)\n": "    weights = weights / weights.sum(-1, "
        "keepdim=True).clamp_min(1e-30)\n",
    },
    loses=SIZES,
)
right.mistake(
    gradients.cut(what="the latents"),
    {"weights, latent)\n": "weights, latent.detach())\n", "into, latent)": "into, latent.detach())"},
    loses=FORM,
)
right.mistake(gradients.weights_detached, {"V_of), weights": "V_of), weights.detach()"}, loses=FORM)
right.mistake(gradients.treated_as_constant(what="`W_k`", of="it"), {"query, K_of": "query, K_of.detach()"}, loses=FORM)
right.mistake(
    numbers.float32_on_the_way,
    {
        "into, latent) /": "into.float(), latent.float()) /",
        "    weights = weights.masked_fill(blocked, 0.0)": "    weights = weights.masked_fill(blocked, "
        "0.0).to(query.dtype)",
    },
    loses=FORM,
)
right.mistake(numbers.result_float32(of="the arguments"), loses=FORM)
right.mistake(
    numbers.default_device(where="the query", what="a mask"),
    {"torch.zeros((), dtype=torch.bool, device=query.device)": "torch.zeros(T, S, dtype=torch.bool)"},
    loses=FORM,
)
right.mistake(arguments.mask_inverted_in_place, {"else mask\n": "else ~mask.logical_not_()\n"}, loses=FORM)
right.mistake(arguments.argument_changed(what="the query"), loses=FORM).patch("""
+ with torch.no_grad():
+     query /= K**0.5
  into = torch.einsum("bhtk,hkc->bhtc", query, K_of)
- scores = torch.einsum("bhtc,bsc->bhts", into, latent) / K**0.5
+ scores = torch.einsum("bhtc,bsc->bhts", into, latent)
""")
keeps_its_last_result(right, loses=VALUES)
right.mistake(
    gradients.cut("detaches_W_k_and_W_v", what="`W_k` and `W_v`"),
    {"W_k.reshape": "W_k.detach().reshape", "W_v.reshape": "W_v.detach().reshape"},
    loses=FORM,
)
right.mistake(gradients.cut("detaches_W_v", what="`W_v`"), {"W_v.reshape": "W_v.detach().reshape"}, loses=FORM)
right.mistake(
    gradients.cut("detaches_the_query", what="the query"), {"query, K_of": "query.detach(), K_of"}, loses=FORM
)
right.mistake(arguments.argument_changed("scales_the_query_in_place", what="the query"), loses=FORM).patch("""
+ EDIT
  into = torch.einsum("bhtk,hkc->bhtc", query, K_of)
- scores = torch.einsum("bhtc,bsc->bhts", into, latent) / K**0.5
+ scores = torch.einsum("bhtc,bsc->bhts", into, latent)
""").for_each(EDIT=("query *= K**-0.5", "query.mul_(K**-0.5)"))
right.mistake(arguments.argument_changed("scales_W_k_in_place", what="`W_k`"), loses=FORM).patch("""
+ W_k *= K**-0.5
  K_of = W_k.reshape(H, K, C)
@@
- scores = torch.einsum("bhtc,bsc->bhts", into, latent) / K**0.5
+ scores = torch.einsum("bhtc,bsc->bhts", into, latent)
""")
right.mistake(
    "multiplies_by_the_weights_entry_by_entry",
    {
        'torch.einsum("bhtk,hkc->bhtc", query, K_of)': '(query[..., None] * K_of[:, None]).sum(-2) if "k" in PARTS '
        'else torch.einsum("bhtk,hkc->bhtc", query, K_of)',
        'torch.einsum("bhtc,hkc->bhtk", mixed, V_of), weights': "((mixed[..., None, :] * V_of[:, None]).sum(-1) "
        'if "v" in PARTS else torch.einsum("bhtc,hkc->bhtk", mixed, V_of)), weights',
    },
    loses=BATCH,
).for_each(PARTS=('"k"', '"v"', '"kv"')).feedback(
    "You multiply by a head's matrix entry by entry, which makes a tensor with all products, (B, H, T, K, C). Use a "
    "matrix product, which sums at once."
)
