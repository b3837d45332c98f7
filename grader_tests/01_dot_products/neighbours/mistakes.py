"""Known mistakes in `neighbours`."""

from .contract import neighbours

right = neighbours.reference_answer("""
def neighbours(i, table, count):
    cosines = F.cosine_similarity(table[i], table, dim=-1)
    order = cosines.argsort(descending=True)
    return order[order != i][:count]
""")

right.mistake("finds_the_word_itself", {"order[order != i]": "order"}).feedback(
    "You find the word itself first: its cosine with itself is 1. Leave it out."
)
right.mistake("finds_the_least_similar", {"descending=True": ""}).feedback(
    "You sort in ascending order, so you find the *least* similar words. Pass `descending=True`."
)
right.mistake("sorts_dot_products", {"F.cosine_similarity(table[i], table, dim=-1)": "table @ table[i]"}).feedback(
    "You sort by dot products, where long vectors come first. Compare directions: use your `cosine_similarity`."
)
right.mistake("returns_the_cosines", {"order[order != i][:count]": "cosines[order[order != i][:count]]"}).feedback(
    "You return the cosines. Return the indices of the words."
)
right.mistake("returns_the_vectors", {"order[order != i][:count]": "table[order[order != i][:count]]"}).feedback(
    "You return the vectors of the words. Return their indices."
)
right.mistake("returns_all", {"[:count]": ""}).feedback("You return every other word. Return the first `count`.")
right.mistake("one_too_few", {"[order != i][:count]": "[1:count]"}).feedback(
    "You return one neighbour too few: `[1:count]` has `count - 1` entries."
)
right.mistake("returns_a_list", {"[:count]": "[:count].tolist()"}).feedback(
    "You return a list of plain numbers. Return the tensor of indices."
)
right.mistake("loses_the_sign", {"cosines.argsort": "cosines.abs().argsort"}).feedback(
    "You ignore the sign, so a word that points the opposite way counts as a neighbour."
)
