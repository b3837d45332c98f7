"""Known mistakes in `MultiHeadLatentAttention`."""

from ...shared.families import arguments, calls, gradients, masks, modules, numbers, results, scores, shapes
from .contract import mla

PARTS, LATENT, TURNED, MASKS, GRADIENTS, FORM, ERRORS = (
    "its parameters",
    "without a rotated",
    "with a rotated",
    "masks",
    "gradients",
    "float64",
    "ValueError",
)
ALL = (LATENT, TURNED)

right = mla.reference_answer("""
class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if n_heads < 1:
            raise ValueError(f"n_heads is {n_heads}, and must be at least 1")
        if d_model % n_heads:
            raise ValueError(f"n_heads is {n_heads}, which does not divide d_model, {d_model}")
        if d_rope < 0 or d_rope % 2:
            raise ValueError(f"d_rope is {d_rope}, and must be even and at least 0")
        self.n_heads, self.d_rope = n_heads, d_rope
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_qr = nn.Linear(d_model, n_heads * d_rope, bias=False)
        self.W_c = nn.Linear(d_model, d_latent, bias=False)
        self.W_k = nn.Linear(d_latent, d_model, bias=False)
        self.W_v = nn.Linear(d_latent, d_model, bias=False)
        self.W_kr = nn.Linear(d_model, d_rope, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def rotate(self, x):
        T, R = x.shape[-2:]
        turns = 10000.0 ** (-torch.arange(0, R, 2, dtype=x.dtype, device=x.device) / max(R, 1))
        angles = torch.arange(T, dtype=x.dtype, device=x.device)[:, None] * turns
        cos, sin, x0, x1 = angles.cos(), angles.sin(), x[..., 0::2], x[..., 1::2]
        return torch.stack([x0 * cos - x1 * sin, x0 * sin + x1 * cos], dim=-1).flatten(-2)

    def split(self, x, width):
        return x.unflatten(-1, (self.n_heads, width)).transpose(1, 2)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        H, K, R = self.n_heads, D // self.n_heads, self.d_rope
        latent = self.W_c(x)
        q = self.split(self.W_q(x), K)
        qr = self.rotate(self.split(self.W_qr(x), R))
        k = self.split(self.W_k(latent), K)
        v = self.split(self.W_v(latent), K)
        kr = self.rotate(self.W_kr(x)).unsqueeze(1).expand(B, H, T, R)
        query, key = torch.cat([q, qr], -1), torch.cat([k, kr], -1)
        blocked = torch.zeros((), dtype=torch.bool, device=x.device) if mask is None else mask
        scores = (query @ key.mT / (K + R) ** 0.5).masked_fill(blocked, float("-inf"))
        weights = scores.softmax(-1).masked_fill(blocked, 0.0)
        return self.W_o((weights @ v).transpose(1, 2).flatten(2)), weights
""")

# The scale
right.mistake("scaled_by_the_first_part", {"(K + R) ** 0.5": "K**0.5"}, loses=TURNED).feedback(
    "You divide by the root of K alone. A head's queries and keys have K + R entries, the rotated part included."
)
right.mistake("scaled_by_the_rotated_part", {"(K + R) ** 0.5": "max(R, 1) ** 0.5"}, loses=ALL).feedback(
    "You divide by the root of R alone. A head's queries and keys have K + R entries."
)
right.mistake(scores.unscaled(see=mla.see), {" / (K + R) ** 0.5": ""}, loses=ALL)
right.mistake(scores.scaled_by_width, {"(K + R) ** 0.5": "(K + R)"}, loses=ALL)
right.mistake(scores.scaled_by_model_width, {"(K + R) ** 0.5": "D**0.5"}, loses=ALL)
right.mistake("scaled_by_the_latent_width", {"(K + R) ** 0.5": "latent.shape[-1] ** 0.5"}, loses=ALL).feedback(
    "You divide by the root of the latents' width. A head's queries and keys have K + R entries."
)
right.mistake("scaled_by_all_heads", {"(K + R) ** 0.5": "(D + H * R) ** 0.5"}, loses=ALL).feedback(
    "You divide by the root of D + H · R, the width of all heads together. One head has K + R entries."
)
right.mistake("each_part_scaled_by_itself", loses=TURNED).patch("""
- query, key = torch.cat([q, qr], -1), torch.cat([k, kr], -1)
+ query, key = torch.cat([q / K**0.5, qr / max(R, 1) ** 0.5], -1), torch.cat([k, kr], -1)
@@
- scores = (query @ key.mT / (K + R) ** 0.5).masked_fill(blocked, float("-inf"))
+ scores = (query @ key.mT).masked_fill(blocked, float("-inf"))
""").feedback(
    "You scale each part by its own width. The two parts are one vector of K + R entries: divide the whole score by "
    "√(K + R)."
)

# The rotated part
right.mistake(
    "without_the_rotated_part", {"torch.cat([q, qr], -1), torch.cat([k, kr], -1)": "q, k"}, loses=TURNED
).feedback(
    "Your scores leave out the rotated part. A head's query is q and the rotated qr put together, its key k and kr."
)
right.mistake(
    "only_the_rotated_part", {"torch.cat([q, qr], -1), torch.cat([k, kr], -1)": "qr, kr"}, loses=TURNED
).feedback("Your scores come from the rotated part alone. A head's query is q and qr put together, its key k and kr.")
right.mistake(
    "rotates_nothing",
    {
        "self.rotate(self.split(self.W_qr(x), R))": "self.split(self.W_qr(x), R)",
        "self.rotate(self.W_kr(x))": "self.W_kr(x)",
    },
    loses=TURNED,
).feedback("You do not rotate qr and kr, so your module does not see the order of the tokens.")
right.mistake("rotates_the_queries_only", {"self.rotate(self.W_kr(x))": "self.W_kr(x)"}, loses=TURNED).feedback(
    "You rotate the queries but not the key. Only the difference of two rotations depends on the distance."
)
right.mistake(
    "rotates_the_keys_only", {"self.rotate(self.split(self.W_qr(x), R))": "self.split(self.W_qr(x), R)"}, loses=TURNED
).feedback("You rotate the key but not the queries. Only the difference of two rotations depends on the distance.")
right.mistake("rotates_the_whole_vectors", loses=TURNED).patch("""
- qr = self.rotate(self.split(self.W_qr(x), R))
+ qr = self.split(self.W_qr(x), R)
@@
- kr = self.rotate(self.W_kr(x)).unsqueeze(1).expand(B, H, T, R)
- query, key = torch.cat([q, qr], -1), torch.cat([k, kr], -1)
+ kr = self.W_kr(x).unsqueeze(1).expand(B, H, T, R)
+ odd = q[..., : (K + R) % 2]
+ query = self.rotate(torch.cat([q, qr, odd], -1))
+ key = self.rotate(torch.cat([k, kr, 0 * odd], -1))
""").feedback(
    "You rotate the whole vectors, including the part from the latents. Only qr and kr are rotated: the rest must not "
    "depend on the position, so that `W_k` can be absorbed."
)
right.mistake("rotates_the_content", loses=ALL).patch("""
- q = self.split(self.W_q(x), K)
- qr = self.rotate(self.split(self.W_qr(x), R))
- k = self.split(self.W_k(latent), K)
+ pad = torch.nn.functional.pad
+ q = self.rotate(pad(self.split(self.W_q(x), K), (0, K % 2)))
+ qr = self.split(self.W_qr(x), R)
+ k = self.rotate(pad(self.split(self.W_k(latent), K), (0, K % 2)))
@@
- kr = self.rotate(self.W_kr(x)).unsqueeze(1).expand(B, H, T, R)
+ kr = self.W_kr(x).unsqueeze(1).expand(B, H, T, R)
""").feedback("You rotate the part that comes from the latents, and leave the other. It is qr and kr that are rotated.")
right.mistake("rotates_both_parts", loses=ALL).patch("""
- q = self.split(self.W_q(x), K)
+ pad = torch.nn.functional.pad
+ q = self.rotate(pad(self.split(self.W_q(x), K), (0, K % 2)))
@@
- k = self.split(self.W_k(latent), K)
+ k = self.rotate(pad(self.split(self.W_k(latent), K), (0, K % 2)))
""").feedback(
    "You rotate both parts, including the part from the latents. Only qr and kr are rotated: otherwise `W_k` could not "
    "be absorbed."
)
right.mistake(
    "rotates_before_the_split",
    {"self.rotate(self.split(self.W_qr(x), R))": "self.split(self.rotate(self.W_qr(x)), R)"},
    loses=TURNED,
).feedback(
    "You rotate all heads as one wide vector, so that each head has other angles than the key. Split into heads first."
)
right.mistake(
    "rotates_along_the_heads",
    {
        "self.rotate(self.split(self.W_qr(x), R))": "self.rotate(self.split(self.W_qr(x), R).transpose(1, "
        "2)).transpose(1, 2)"
    },
    loses=TURNED,
).feedback(
    "You rotate by the number of the head instead of the position: positions must be the last dimension but one."
)
right.mistake(
    "rotates_the_key_after_adding_heads",
    {
        "self.rotate(self.W_kr(x)).unsqueeze(1).expand(B, H, T, R)": "self.rotate(self.W_kr(x).unsqueeze(2).expand(B,"
        " T, H, R)).transpose(1, 2)"
    },
    loses=TURNED,
).feedback(
    "You rotate the key by the number of the head instead of the position: give it the dimension of the heads after "
    "the rotation."
)
right.mistake(
    "rotates_the_values_too",
    {
        "self.split(self.W_v(latent), K)": "self.rotate(torch.nn.functional.pad(self.split(self.W_v(latent), K), (0, "
        "K % 2)))[..., :K]"
    },
    loses=ALL,
).feedback("You rotate the values. Only queries and keys have a rotated part.")
right.mistake(
    "turns_clockwise",
    {"x0 * cos - x1 * sin, x0 * sin + x1 * cos": "x0 * cos + x1 * sin, x1 * cos - x0 * sin"},
    loses=TURNED,
).feedback("You rotate clockwise, so that every distance has the wrong sign. See lesson 07 for the signs.")
right.mistake(
    "halves_for_neighbours", {"x[..., 0::2], x[..., 1::2]": "x[..., : R // 2], x[..., R // 2 :]"}, loses=TURNED
).feedback("You pair the entries of the two halves of a vector. Pairs are neighbours here: (0, 1), (2, 3), …")
right.mistake("queries_and_key_from_different_positions", loses=TURNED).patch("""
- def rotate(self, x):
+ def rotate(self, x, first=0):
@@
- angles = torch.arange(T, dtype=x.dtype, device=x.device)[:, None] * turns
+ angles = torch.arange(first, T + first, dtype=x.dtype, device=x.device)[:, None] * turns
@@
- qr = self.rotate(self.split(self.W_qr(x), R))
+ qr = self.rotate(self.split(self.W_qr(x), R), FIRST[0])
@@
- kr = self.rotate(self.W_kr(x)).unsqueeze(1).expand(B, H, T, R)
+ kr = self.rotate(self.W_kr(x), FIRST[1]).unsqueeze(1).expand(B, H, T, R)
""").for_each(FIRST=("(1, 0)", "(0, 1)", "(T, 0)", "(0, T)")).feedback(
    "You count the positions of queries and key from different numbers, so all distances are wrong. Use 0 … T − 1 for "
    "both."
)
right.mistake(
    "another_distance_between_positions",
    {
        "torch.arange(T, dtype=x.dtype, device=x.device)[:, None]": "(torch.arange(T, dtype=x.dtype, device=x.device)"
        "[:, None] * FACTOR)"
    },
    loses=TURNED,
).for_each(FACTOR=("0.5", "2", "1 / T", "1 / max(T - 1, 1)", "torch.pi / 180")).feedback(
    "You multiply the positions by a factor before you rotate. The angle of a pair is the position times its "
    "frequency; positions are 0 … T − 1."
)
right.mistake("angles_by_another_width", {"/ max(R, 1))": "/ WIDTH)"}, loses=TURNED).for_each(
    WIDTH=(
        "self.W_q.out_features",
        "(self.W_q.out_features // self.n_heads)",
        "(self.W_q.out_features // self.n_heads + R)",
        "max(self.W_qr.out_features, 1)",
        "max(R // 2, 1)",
        "max(2 * R, 1)",
    )
).feedback("You divide the exponents of the angles by another width than R. The rotated part has R entries.")
right.mistake(
    "positions_within_the_batch",
    {"self.rotate(self.W_kr(x))": "self.rotate(self.W_kr(x).transpose(0, 1)).transpose(0, 1)"},
    loses=TURNED,
).feedback("You rotate by the number of the text in the batch instead of the position.")
right.mistake("keeps_the_first_angles", loses=TURNED).patch("""
- angles = torch.arange(T, dtype=x.dtype, device=x.device)[:, None] * turns
+ self.kept = angles = getattr(self, "kept", torch.arange(T, dtype=x.dtype, device=x.device)[:, None] * turns)
+ angles = angles[:T]
""").feedback(
    "You keep the angles of the first call, which are too few for a longer text. Make them for the length of each call."
)
right.mistake("a_rotated_key_for_each_head", loses=PARTS).patch("""
- self.W_kr = nn.Linear(d_model, d_rope, bias=False)
+ self.W_kr = nn.Linear(d_model, n_heads * d_rope, bias=False)
@@
- kr = self.rotate(self.W_kr(x)).unsqueeze(1).expand(B, H, T, R)
+ kr = self.rotate(self.split(self.W_kr(x), R))
""").feedback(
    "You make a rotated key for each head. There is one for all of them, so that the cache stays small: W_kr is (R, D)."
)
right.mistake("one_rotated_query_for_all", loses=PARTS).patch("""
- self.W_qr = nn.Linear(d_model, n_heads * d_rope, bias=False)
+ self.W_qr = nn.Linear(d_model, d_rope, bias=False)
@@
- qr = self.rotate(self.split(self.W_qr(x), R))
+ qr = self.rotate(self.W_qr(x)).unsqueeze(1).expand(B, H, T, R)
""").feedback(
    "You make one rotated query for all heads. Each head has its own: W_qr is (H · R, D). Only the key is shared."
)
right.mistake(
    "rotated_key_for_the_first_head",
    {
        "kr = self.rotate(self.W_kr(x)).unsqueeze(1).expand(B, H, T, R)": "kr = torch.nn.functional.pad(self.rotate(s"
        "elf.W_kr(x)).unsqueeze(1), (0, 0, 0, 0, 0, H - 1))"
    },
    loses=TURNED,
).feedback("You give the rotated key to one head only. All heads share it.")
right.mistake("rotated_key_cut_among_heads", {"expand(B, H, T, R)": "expand(B, H, T, R) / H"}, loses=TURNED).feedback(
    "You divide the rotated key by the number of heads. Each head gets the whole key."
)
right.mistake(
    "rotated_query_repeated_wrongly",
    {"self.split(self.W_qr(x), R)": "self.W_qr(x).unflatten(-1, (R, self.n_heads)).permute(0, 3, 1, 2)"},
    loses=TURNED,
).feedback(
    "You assign the entries of the rotated queries to the heads alternately. The first R entries belong to head 0, the "
    "next R to head 1."
)
right.mistake("parts_in_different_orders", {"torch.cat([k, kr], -1)": "torch.cat([kr, k], -1)"}, loses=TURNED).feedback(
    "You put the parts of queries and keys together in different orders, so q is multiplied by kr. Use one order for "
    "both."
)
right.mistake("adds_the_parts", loses=TURNED).patch("""
- query, key = torch.cat([q, qr], -1), torch.cat([k, kr], -1)
+ pad, wide = torch.nn.functional.pad, max(K, R)
+ q, qr, k, kr = (pad(part, (0, wide - part.shape[-1])) for part in (q, qr, k, kr))
+ query, key = q + qr, k + kr
""").feedback(
    "You add the rotated part to the other. They are put one after the other (`cat`), so q is never multiplied by kr."
)
right.mistake("two_softmaxes", loses=TURNED).patch("""
- scores = (query @ key.mT / (K + R) ** 0.5).masked_fill(blocked, float("-inf"))
- weights = scores.softmax(-1).masked_fill(blocked, 0.0)
+ parts = [(q, k), (qr, kr)] if R else [(q, k)]
+ scores = [(a @ b.mT / (K + R) ** 0.5).masked_fill(blocked, float("-inf")) for a, b in parts]
+ weights = sum(part.softmax(-1) for part in scores).div(len(parts)).masked_fill(blocked, 0.0)
""").feedback("You take the softmax of each part by itself. Add the scores of both parts first.")

# The latents
right.mistake("values_by_the_keys_matrix", {"self.W_v(latent)": "self.W_k(latent)"}, loses=ALL).feedback(
    "You make the values with `W_k`. They have their own matrix, `W_v`."
)
right.mistake("keys_by_the_values_matrix", {"self.W_k(latent)": "self.W_v(latent)"}, loses=ALL).feedback(
    "You make the keys with `W_v`. They have their own matrix, `W_k`."
)
right.mistake("keys_from_x", loses=PARTS).patch("""
- self.W_k = nn.Linear(d_latent, d_model, bias=False)
- self.W_v = nn.Linear(d_latent, d_model, bias=False)
+ self.W_k = nn.Linear(d_model, d_model, bias=False)
+ self.W_v = nn.Linear(d_model, d_model, bias=False)
@@
- k = self.split(self.W_k(latent), K)
- v = self.split(self.W_v(latent), K)
+ k = self.split(self.W_k(x), K)
+ v = self.split(self.W_v(x), K)
""").feedback("You make keys and values from `x`. They come from the latent vectors: W_k and W_v are (D, C).")
right.mistake("rotated_key_from_the_latent", loses=PARTS).patch("""
- self.W_kr = nn.Linear(d_model, d_rope, bias=False)
+ self.W_kr = nn.Linear(d_latent, d_rope, bias=False)
@@
- kr = self.rotate(self.W_kr(x)).unsqueeze(1).expand(B, H, T, R)
+ kr = self.rotate(self.W_kr(latent)).unsqueeze(1).expand(B, H, T, R)
""").feedback("You make the rotated key from the latents. It comes from `x` itself: W_kr is (R, D).")
right.mistake("queries_from_latents", loses=PARTS).patch("""
- self.W_q = nn.Linear(d_model, d_model, bias=False)
+ self.W_q = nn.Linear(d_latent, d_model, bias=False)
@@
- q = self.split(self.W_q(x), K)
+ q = self.split(self.W_q(latent), K)
""").feedback(
    "You make the queries from the latents. They come from `x`: W_q is (D, D). Only keys and values come from them."
)
right.mistake(
    "normalises_the_latents",
    {
        "latent = self.W_c(x)": "latent = torch.nn.functional.normalize(self.W_c(x), dim=-1) * "
        "self.W_c.out_features**0.5"
    },
    loses=ALL,
).feedback("You normalise the latents, as some models do. Here they are used as `W_c` gives them.")
right.mistake("bends_the_latents", {"latent = self.W_c(x)": "latent = torch.BENT(self.W_c(x))"}, loses=ALL).for_each(
    BENT=("tanh", "relu", "nn.functional.gelu", "nn.functional.silu")
).feedback("You apply a nonlinearity to the latents. They are used as `W_c` gives them.")
right.mistake(
    "a_latent_for_each_head",
    {"k = self.split(self.W_k(latent), K)": "k = self.split(self.W_k(latent), K).flip(1)"},
    loses=ALL,
).feedback("You combine the keys of one head with the queries of another.")
right.mistake(
    "layers_the_wrong_way",
    {"self.W_c = nn.Linear(d_model, d_latent, bias=False)": "self.W_c = nn.Linear(d_latent, d_model, bias=False)"},
    loses=PARTS,
).feedback(
    "You have exchanged the two widths of `W_c`. `nn.Linear(in, out)` keeps a matrix (out, in): W_c goes from D to C."
)
right.mistake(
    "names_the_layers_otherwise", {"self.W_c = nn": "self.W_dkv = nn", "self.W_c(x)": "self.W_dkv(x)"}, loses=PARTS
).feedback("You use another name for a layer. They are W_q, W_qr, W_c, W_k, W_v, W_kr and W_o.")
right.mistake(
    "with_biases",
    {
        "self.W_c = nn.Linear(d_model, d_latent, bias=False)": 'self.W_c = nn.Linear(d_model, d_latent, bias="c" in '
        "BIASED)",
        "self.W_o = nn.Linear(d_model, d_model, bias=False)": 'self.W_o = nn.Linear(d_model, d_model, bias="o" in '
        "BIASED)",
    },
    loses=PARTS,
).for_each(BIASED=('"c"', '"o"', '"co"')).feedback(
    "You use layers with biases. All seven must be without: `bias=False`."
)

right.mistake(
    "cuts_the_heads_in_turn",
    {"x.unflatten(-1, (self.n_heads, width)).transpose(1, 2)": "x.unflatten(-1, (width, self.n_heads)).WAY"},
    loses=ALL,
).for_each(WAY=("permute(0, 3, 1, 2)",)).feedback(
    "You assign the entries to the heads alternately. The first K entries belong to head 0, the next K to head 1."
)
right.mistake("cuts_and_joins_the_heads_in_turn", loses=ALL).patch("""
- return x.unflatten(-1, (self.n_heads, width)).transpose(1, 2)
+ return x.unflatten(-1, (width, self.n_heads)).permute(0, 3, 1, 2)
@@
- return self.W_o((weights @ v).transpose(1, 2).flatten(2)), weights
+ return self.W_o((weights @ v).permute(0, 2, 3, 1).flatten(2)), weights
""").feedback(
    "You assign the entries to the heads alternately. The first K entries belong to head 0, the next K to head 1."
)
for one, what in (("v", "values"), ("k", "keys")):
    right.mistake(f"only_the_{what}_from_x", loses=PARTS).patch(f"""
- self.W_{one} = nn.Linear(d_latent, d_model, bias=False)
+ self.W_{one} = nn.Linear(d_model, d_model, bias=False)
@@
- {one} = self.split(self.W_{one}(latent), K)
+ {one} = self.split(self.W_{one}(x), K)
""").feedback(f"You make the {what} from `x`. They come from the latent vectors: the weight of `W_{one}` is (D, C).")
# The heads
right.mistake(
    "cut_by_a_view",
    {"x.unflatten(-1, (self.n_heads, width)).transpose(1, 2)": "x.reshape(len(x), self.n_heads, x.shape[1], width)"},
    loses=ALL,
).feedback("You split into heads by a reshape alone, which mixes words and heads. Split the width, then transpose.")
right.mistake(
    "merged_without_transposing", {"transpose(1, 2).flatten(2)), weights": "reshape(x.shape)), weights"}, loses=ALL
).feedback("You merge the heads without transposing them back, so one row holds pieces of several words.")
right.mistake("tokens_and_heads_not_swapped", loses=ALL).patch("""
- return x.unflatten(-1, (self.n_heads, width)).transpose(1, 2)
+ return x.unflatten(-1, (self.n_heads, width))
@@
- kr = self.rotate(self.W_kr(x)).unsqueeze(1).expand(B, H, T, R)
+ kr = self.rotate(self.W_kr(x)).unsqueeze(2).expand(B, T, H, R)
@@
- return self.W_o((weights @ v).transpose(1, 2).flatten(2)), weights
+ return self.W_o((weights @ v).flatten(2)), weights
""").feedback(
    "You do not swap tokens and heads, so the heads of one token attend to each other. Split the width, then "
    "transpose: (B, T, H, K) becomes (B, H, T, K)."
)
right.mistake(
    "no_output_matrix",
    {"self.W_o((weights @ v).transpose(1, 2).flatten(2))": "(weights @ v).transpose(1, 2).flatten(2)"},
    loses=ALL,
).feedback("You leave out W_o, so the results of the heads are only put side by side and not mixed.")
right.mistake(scores.softmax_over_queries, {"scores.softmax(-1)": "scores.softmax(-2).nan_to_num(0.0)"}, loses=ALL)
right.mistake(scores.softmax_over_heads, {"scores.softmax(-1)": "scores.softmax(1).nan_to_num(0.0)"}, loses=ALL)
right.mistake(modules.weights_averaged, {".flatten(2)), weights": ".flatten(2)), weights.mean(1)"}, loses=ALL)
right.mistake(results.output_alone, {".flatten(2)), weights": ".flatten(2))"}, loses=ALL)
right.mistake(
    results.weights_first,
    {
        "return self.W_o((weights @ "
        "v).transpose(1, 2).flatten(2)), weights": "return weights, self.W_o((weights @ v).transpose(1, 2).flatten(2))"
    },
    loses=ALL,
)
right.mistake(results.scores_for_weights, {".flatten(2)), weights": ".flatten(2)), scores"}, loses=ALL)
right.mistake("returns_the_cache_too", {".flatten(2)), weights": ".flatten(2)), weights, latent"}, loses=ALL).feedback(
    "You return the latents as well. Return two things: (output, weights)."
)
right.mistake(modules.input_added, {"return self.W_o(": "return x + self.W_o("}, loses=ALL)
right.mistake(modules.super_init_forgotten, {"        super().__init__()\n": ""}, loses=(PARTS, *ALL))

# The mask
right.mistake(masks.ignored, {"device=x.device) if mask is None else mask": "device=x.device)"}, loses=MASKS)
right.mistake(masks.inverted, {"if mask is None else mask": "if mask is None else ~mask"}, loses=MASKS)
right.mistake(masks.after_softmax, {'.masked_fill(blocked, float("-inf"))': ""}, loses=MASKS)
right.mistake(calls.first_mask_kept("remembers_the_mask"), loses=MASKS).patch("""
+ self.kept = mask = getattr(self, "kept", None) if mask is None else mask
  blocked = torch.zeros((), dtype=torch.bool, device=x.device) if mask is None else mask
""").feedback(
    "You use the mask of an earlier call when no mask is given. Keep nothing between calls: `mask=None` blocks nothing."
)
right.mistake(
    "causal_without_a_mask",
    {
        "torch.zeros((), dtype=torch.bool, device=x.device)": "torch.ones(T, T, dtype=torch.bool, "
        "device=x.device).triu(1)"
    },
    loses=ALL,
).feedback(
    "You block the future when no mask is given. Without a mask nothing is blocked: a caller who wants the module "
    "causal passes a causal mask."
)
right.mistake("adds_a_dimension_to_the_mask", {"else mask": "else MASK"}, loses=MASKS).for_each(
    MASK=(
        "mask.unsqueeze(1)",
        "mask[:, None] if mask.dim() == 3 else mask",
        "mask.unsqueeze(1).expand(B, H, T, T)",
    )
).feedback(
    "You add a dimension to the mask, but it broadcasts to the scores as it is. It may have fewer than four dimensions."
)
right.mistake(masks.blocked_rows_nan, {".masked_fill(blocked, 0.0)": ""}, loses=MASKS)
right.mistake(
    masks.blocked_rows_equal,
    {".masked_fill(blocked, 0.0)": "", 'float("-inf")': "torch.finfo(x.dtype).min"},
    loses=MASKS,
)
right.mistake(masks.blocked_by_small_number, {'float("-inf")': "0.0", ".masked_fill(blocked, 0.0)": ""}, loses=MASKS)
right.mistake(
    gradients.nan_wiped_off,
    {
        '(query @ key.mT / (K + R) ** 0.5).masked_fill(blocked, float("-inf"))': "query @ key.mT / (K + R) ** 0.5 + "
        "torch.zeros_like(blocked, dtype=x.dtype).masked_fill(blocked, -torch.inf)",
        ".masked_fill(blocked, 0.0)": ".nan_to_num(0.0)",
    },
    loses=MASKS,
)
right.mistake(masks.lost, {"if mask is None else mask": "if mask is None or self.training else mask"}, loses=MASKS)
right.mistake(
    arguments.mask_inverted_in_place,
    {"if mask is None else mask": "if mask is None else ~mask.logical_not_()"},
    loses=FORM,
)

# Gradients, dtype and device
right.mistake(gradients.weights_detached, {".flatten(2)), weights": ".flatten(2)), weights.detach()"}, loses=GRADIENTS)
right.mistake(gradients.cut(what="the latents"), {"self.W_c(x)\n": "self.W_c(x).detach()\n"}, loses=GRADIENTS)
right.mistake(
    "detaches_the_rotated_key", {"self.rotate(self.W_kr(x))": "self.rotate(self.W_kr(x).detach())"}, loses=GRADIENTS
).feedback(
    "No gradient reaches `W_kr`, although your result is right. Look for `detach` or `no_grad` around the rotation."
)
right.mistake(
    numbers.float32_on_the_way,
    {"(query @ key.mT": "(query.float() @ key.float().mT", "weights @ v": "weights.to(x.dtype) @ v"},
    loses=FORM,
)
right.mistake(
    numbers.default_device(where="`x`", what="a mask"),
    {"torch.zeros((), dtype=torch.bool, device=x.device)": "torch.zeros(T, T, dtype=torch.bool)"},
    loses=FORM,
)
right.mistake(
    numbers.default_device("angles_on_the_default_device", where="`x`", what="the angles"),
    {
        "torch.arange(0, R, 2, dtype=x.dtype, device=x.device)": "torch.arange(0, R, 2, dtype=x.dtype)",
        "torch.arange(T, dtype=x.dtype, device=x.device)": "torch.arange(T, dtype=x.dtype)",
    },
    loses=FORM,
)
right.mistake(
    shapes.view_of_strided,
    {
        "x.unflatten(-1, (self.n_heads, width)).transpose(1, 2)": "x.view(*x.shape[:2], self.n_heads, "
        "width).transpose(1, 2)",
        ".transpose(1, 2).flatten(2)), weights": ".transpose(1, 2).view(x.shape)), weights",
    },
    loses=ALL,
)

# Errors
right.mistake(arguments.error_without_name(), loses=ERRORS)
right.mistake(
    arguments.not_refused("You raise no error where `n_heads` does not divide `d_model`.", "d_model")("any_heads"),
    loses=ERRORS,
)
right.mistake(
    arguments.not_refused("You raise no error for an odd or negative `d_rope`.", "d_rope")("any_rotated_part"),
    loses=ERRORS,
)
right.mistake(
    arguments.zero_divides,
    {'        if n_heads < 1:\n            raise ValueError(f"n_heads is {n_heads}, and must be at least 1")\n': ""},
    loses=ERRORS,
)
right.mistake(
    arguments.unchecked("takes_negative_widths"), {"d_rope < 0 or d_rope % 2": "d_rope % 2"}, loses=ERRORS
).feedback("You refuse an odd `d_rope` but not a negative one. It must be at least 0.")
right.mistake(
    arguments.unchecked("takes_odd_widths"), {"d_rope < 0 or d_rope % 2": "d_rope < 0"}, loses=ERRORS
).feedback("You refuse a negative `d_rope` but not an odd one, which cannot be cut into pairs.")
right.mistake(
    arguments.valid_refused("refuses_no_rotated_part"), {"d_rope < 0 or": "d_rope <= 0 or"}, loses=LATENT
).feedback("You refuse `d_rope = 0`, which is allowed: the rotated part is then empty.")
right.mistake(
    "fails_without_a_rotated_part", {"/ max(R, 1))": "/ (2 * (R // 2) if R else [][0]))"}, loses=LATENT
).feedback("Your module fails with `d_rope = 0`. The rotated part is then empty, and only the latents count.")
right.mistake(arguments.valid_refused("refuses_wide_latents"), loses=(PARTS, LATENT)).patch("""
- if d_rope < 0 or d_rope % 2:
+ if d_latent >= d_model:
+     raise ValueError(f"d_latent is {d_latent}")
+ if d_rope < 0 or d_rope % 2:
""").feedback("You refuse latents that are as wide as `x`, or wider. That saves nothing, but is allowed.")
right.mistake(arguments.asserts(), loses=ERRORS)
right.mistake(arguments.wrong_error("TypeError"), loses=ERRORS)
