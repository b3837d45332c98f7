"""Known mistakes in `embed`."""

from ...shared.families import arguments, calls, gradients, numbers, shapes
from ...shared.repeating import keeps_its_last_result
from .contract import embed

right = embed.alternative("indexed")

right.mistake("takes_columns", {"[token_ids]": "[:, token_ids]"}, loses="the rows").feedback(
    "You take *columns* of the table. A token's vector is a row: the ids count along the first dimension."
)
right.mistake("counts_from_one", {"[token_ids]": "[token_ids - 1]"}, loses="the rows").feedback(
    "You count the ids from 1, so every token gets its neighbour's vector. Token 0 has row 0."
)
right.mistake(gradients.cut(what="the table"), loses="gradients", clause="gradients").patch("""
- return table[token_ids]
+ return nn.Embedding.from_pretrained(table)(token_ids)
""")
right.mistake("averages_the_gradients", loses="gradients", clause="repeats").patch("""
- return table[token_ids]
+ return F.embedding(token_ids, table, scale_grad_by_freq=True)
""").feedback("You *average* the gradients of a token that occurs several times. They must add up.")
right.mistake(
    "takes_token_0_for_padding", {"table[token_ids]": "F.embedding(token_ids, table, padding_idx=0)"}, loses="gradients"
).feedback("You treat token 0 as padding, so row 0 gets no gradient. Here it is a token like any other.")
right.mistake("shortens_long_rows", loses=("the rows", "arguments")).patch("""
- return table[token_ids]
+ return F.embedding(token_ids, table.detach(), max_norm=1.0) + 0 * table[token_ids]
""").feedback("You shorten long rows and change the table itself. That is what `max_norm` does.")
right.mistake(
    "forgets_the_shape_of_the_ids", {"[token_ids]": "[token_ids.flatten()]"}, loses="ids of any shape"
).feedback(
    "You lose the shape of the ids: ids of shape `(2, 5)` give ten rows in one list. Restore the shape of the ids."
)
right.mistake("takes_one_list_only", loses="ids of any shape").patch("""
- return table[token_ids]
+ return torch.stack([table[int(i)] for i in token_ids])
""").feedback(
    "Your function works for one list of ids only. Ids may have any shape: two sentences are ids of shape `(2, T)`."
)
right.mistake("goes_through_a_single_id", loses="ids of any shape", clause="shape").patch("""
- return table[token_ids]
+ return torch.stack([table[i] for i in token_ids])
""").feedback(
    "You loop over the ids, which fails for a single id of shape `()`. Ids may have any shape, including this one."
)
right.mistake(
    "averages_the_sentence", {"table[token_ids]": "table[token_ids].mean(dim=-2)"}, loses="the rows"
).feedback("You average the vectors of a sentence into one. Each id keeps its own vector.")
right.mistake(
    "stretches_by_the_root_of_the_width", {"[token_ids]": "[token_ids] * table.shape[1] ** 0.5"}, loses="the rows"
).feedback(
    "You scale every vector by √D, as the original transformer does *after* the lookup. Return the rows of the "
    "table unchanged."
)
right.mistake(
    "normalises_the_vectors", {"table[token_ids]": "F.normalize(table[token_ids], dim=-1)"}, loses="the rows"
).feedback("You normalise every vector to length 1. Return the rows of the table unchanged.")
right.mistake(numbers.result_float32(of="the table"), loses="float64")
embed.mistake(arguments.argument_changed(what="the ids"), loses="arguments").full_code("""
def embed(token_ids, table):
    found = table[token_ids]
    token_ids += 1
    return found
""")
right.mistake(
    "makes_a_new_table", {"table[token_ids]": "nn.Embedding(*table.shape)(token_ids)"}, loses="the rows"
).feedback(
    "You make a new `nn.Embedding`, which starts with random numbers. Use the rows of the table that you receive."
)
right.mistake(numbers.result_float64(of="the table"), loses="float64", clause="dtype")
right.mistake(numbers.computed_in_float32, loses="float64")
right.mistake(shapes.view_of_strided, loses="arguments").patch("""
- return table[token_ids]
+ return table[token_ids.view(-1)].view(*token_ids.shape, -1)
""")
right.mistake("selects_by_one_list_only", loses="ids of any shape").patch("""
- return table[token_ids]
+ return torch.index_select(table, 0, token_ids)
""").feedback(
    "`index_select` takes one list of ids only. Indexing the table, `F.embedding`, or a `reshape` before and after "
    "takes ids of any shape."
)
right.mistake("puts_vectors_into_columns", loses="the rows").patch("""
- return table[token_ids]
+ return table[token_ids].mT if token_ids.ndim else table[token_ids]
""").feedback("You return the vectors as columns: the last two dimensions are swapped. D comes last.")
right.mistake("looks_places_up", loses="the rows").patch("""
- return table[token_ids]
+ return table[torch.arange(token_ids.shape[-1]).expand(token_ids.shape)] if token_ids.ndim else table[token_ids]
""").feedback("You look up the vectors of the *positions* 0, 1, 2, … Look up the ids themselves.")
right.mistake("multiplies_integers_by_the_table", loses="the rows").patch("""
- return table[token_ids]
+ return F.one_hot(token_ids, len(table)) @ table
""").feedback(
    "You multiply the integers from `one_hot` by a table of floating-point numbers, which PyTorch refuses. Convert "
    "them to the dtype of the table first, or index the table."
)
right.mistake("adds_up_the_sentence", {"table[token_ids]": "table[token_ids].sum(dim=-2)"}, loses="the rows").feedback(
    "You add up the vectors of a sentence, as `embedding_bag` does. Each id keeps its own vector."
)
right.mistake("counts_the_classes_in_the_ids", loses="ids of any shape").patch("""
- return table[token_ids]
+ return F.one_hot(token_ids).to(table.dtype) @ table
""").feedback(
    "You let `one_hot` count the classes from the ids, but the largest id need not occur. There are as many "
    "classes as the table has rows."
)
right.mistake(
    "multiplies_by_float32", {"table[token_ids]": "F.one_hot(token_ids, len(table)).float() @ table"}, loses="float64"
).feedback(
    "Your function fails for a float64 table, because you multiply it by a float32 tensor. Convert that tensor to "
    "the dtype of the table."
)
right.mistake("counts_in_sixteen_bits", {"[token_ids]": "[token_ids.short().long()]"}, loses="the rows").feedback(
    "You keep ids in 16 bits, which count only up to 32,767. A later row is not found, or another row is used "
    "instead. Ids are int64, and a table may have as many rows as a vocabulary has words."
)
keeps_its_last_result(right, loses="the rows")
embed.mistake(calls.result_remembered("keeps_what_a_table_held"), loses="the rows").full_code("""
found = {}

def embed(token_ids, table):
    asked = str(token_ids.tolist())
    if asked not in found or found[asked][0] is not table:
        found[asked] = table, table[token_ids]
    return found[asked][1]
""").feedback(
    "You keep earlier results and return them again for the same ids and the same table. A table that learns is "
    "still the same tensor, but its numbers change. Look them up in every call."
)
right.mistake(shapes.squeezed, {"[token_ids]": "[token_ids].squeeze()"}, loses=("the rows", "ids of any"))
embed.mistake(
    numbers.default_device(where="`table`", what="the range of ids", how="`device=table.device`"),
    loses="float64",
    clause="device",
).full_code("""
def embed(token_ids, table):
    return (token_ids[..., None] == torch.arange(len(table))).to(table.dtype) @ table
""")
embed.mistake(arguments.argument_changed("unsqueezes_the_ids"), loses="arguments", clause="purity").full_code("""
def embed(token_ids, table):
    token_ids.unsqueeze_(-1)
    matches = token_ids == torch.arange(len(table), device=table.device)
    return matches.to(table.dtype) @ table
""").feedback(
    "You add a dimension to the ids in place, so the caller's ids have another shape afterwards. Methods that end in "
    "`_` change their tensor: `unsqueeze` returns a new one."
)
