"""Known mistakes in `embed`."""

from ...shared.families import arguments, calls, gradients, numbers, shapes
from ...shared.repeating import keeps_its_last_result
from .contract import embed

right = embed.alternative("indexed")

right.mistake("takes_columns", {"[token_ids]": "[:, token_ids]"}, loses="the rows").feedback(
    "These are *columns* of the table. A token's vector is a row: the ids count along the first dimension."
)
right.mistake("counts_from_one", {"[token_ids]": "[token_ids - 1]"}, loses="the rows").feedback(
    "Every vector is its neighbour's: the ids are counted from 1. Token 0 has row 0."
)
right.mistake(gradients.cut(what="the table"), loses="gradients").patch("""
- return table[token_ids]
+ return nn.Embedding.from_pretrained(table)(token_ids)
""")
right.mistake("averages_the_gradients", loses="gradients").patch("""
- return table[token_ids]
+ return F.embedding(token_ids, table, scale_grad_by_freq=True)
""").feedback("Where a token occurs several times the gradients are *averaged*. They must add up.")
right.mistake(
    "takes_token_0_for_padding", {"table[token_ids]": "F.embedding(token_ids, table, padding_idx=0)"}, loses="gradients"
).feedback("Row 0 gets no gradient, as if token 0 were padding. Here it is a token like any other.")
right.mistake("shortens_long_rows", loses=("the rows", "arguments")).patch("""
- return table[token_ids]
+ return F.embedding(token_ids, table.detach(), max_norm=1.0) + 0 * table[token_ids]
""").feedback("Long rows came out shortened, and the table itself was changed: that is what `max_norm` does.")
right.mistake(
    "forgets_the_shape_of_the_ids", {"[token_ids]": "[token_ids.flatten()]"}, loses="ids of any shape"
).feedback("Ids of shape (2, 5) came back as ten rows in one list: put the shape of the ids back.")
right.mistake("takes_one_list_only", loses="ids of any shape").patch("""
- return table[token_ids]
+ return torch.stack([table[int(i)] for i in token_ids])
""").feedback("This works for one list of ids only. Ids may have any shape: two sentences are ids of shape (2, T).")
right.mistake("goes_through_a_single_id", loses="ids of any shape").patch("""
- return table[token_ids]
+ return torch.stack([table[i] for i in token_ids])
""").feedback(
    "A single id, of shape (), is no list, and a loop over it stops with an error. Ids may have any shape, this one "
    "included."
)
right.mistake(
    "averages_the_sentence", {"table[token_ids]": "table[token_ids].mean(dim=-2)"}, loses="the rows"
).feedback("The vectors of a sentence were averaged into one. Each id keeps a vector of its own.")
right.mistake(
    "stretches_by_the_root_of_the_width", {"[token_ids]": "[token_ids] * table.shape[1] ** 0.5"}, loses="the rows"
).feedback(
    "Every vector has been stretched by √D, as the original transformer does *after* the look-up. Here a look-up is a "
    "look-up."
)
right.mistake(
    "normalises_the_vectors", {"table[token_ids]": "F.normalize(table[token_ids], dim=-1)"}, loses="the rows"
).feedback("Every vector came out with length 1: rows of the table are handed over as they are.")
right.mistake(numbers.result_float32(of="the table"), loses="float64")
embed.mistake(arguments.argument_changed(what="the ids"), loses="arguments").full_code("""
def embed(token_ids, table):
    found = table[token_ids]
    token_ids += 1
    return found
""")
right.mistake(
    "makes_a_new_table", {"table[token_ids]": "nn.Embedding(*table.shape)(token_ids)"}, loses="the rows"
).feedback("These are not rows of the table that you were given: a new `nn.Embedding` begins with random numbers.")
right.mistake(numbers.result_float64(of="the table"), loses="float64")
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
""").feedback("The vectors stand in columns: the last two dimensions are swapped. D comes last.")
right.mistake("looks_places_up", loses="the rows").patch("""
- return table[token_ids]
+ return table[torch.arange(token_ids.shape[-1]).expand(token_ids.shape)] if token_ids.ndim else table[token_ids]
""").feedback("These are the vectors of the *places* 0, 1, 2, … Look up the ids themselves.")
right.mistake("multiplies_integers_by_the_table", loses="the rows").patch("""
- return table[token_ids]
+ return F.one_hot(token_ids, len(table)) @ table
""").feedback(
    "`one_hot` gives integers, and PyTorch multiplies no matrix of integers by one of floating-point numbers: bring "
    "it to the dtype of the table first. Or index the table."
)
right.mistake("adds_up_the_sentence", {"table[token_ids]": "table[token_ids].sum(dim=-2)"}, loses="the rows").feedback(
    "The vectors of a sentence were added up into one, as `embedding_bag` does. Each id keeps a vector of its own."
)
right.mistake("counts_the_classes_in_the_ids", loses="ids of any shape").patch("""
- return table[token_ids]
+ return F.one_hot(token_ids).to(table.dtype) @ table
""").feedback(
    "`one_hot` counts the classes in the ids themselves unless it is told how many there are, and the largest id "
    "need not occur. There are as many as the table has rows."
)
right.mistake(
    "multiplies_by_float32", {"table[token_ids]": "F.one_hot(token_ids, len(table)).float() @ table"}, loses="float64"
).feedback(
    "A float64 table fails, because it is multiplied by a float32 tensor: bring that one to the dtype of the table."
)
right.mistake("counts_in_sixteen_bits", {"[token_ids]": "[token_ids.short().long()]"}, loses="the rows").feedback(
    "You keep ids in 16 bits, which count to 32,767: a row further down is not found, or another is taken for it. Ids "
    "are int64, and a table may have as many rows as a vocabulary has words."
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
    "Earlier results are kept and handed out again for the same ids and the same table. A table that learns stays the "
    "same tensor, and its numbers change: look them up in every call."
)
right.mistake(shapes.squeezed, {"[token_ids]": "[token_ids].squeeze()"}, loses=("the rows", "ids of any"))
