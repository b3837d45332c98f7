"""Known mistakes in `gap_score`."""

from .contract import gap_score

right = gap_score.alternative("with_turned_pairs")

right.mistake("turns_the_query_only", {"placed(k, n)": "k[0::2].new_tensor([*k[0::2], *k[1::2]])"}).feedback(
    "You turn the query only. The key is turned too, by its own position."
)
right.mistake("turns_the_key_only", {"placed(q, m)": "torch.cat([q[0::2], q[1::2]])"}).feedback(
    "You turn the key only. The query is turned too, by its own position."
)
right.mistake("turns_nothing", {"placed(q, m) @ placed(k, n)": "q @ k"}).feedback(
    "Your score does not depend on the positions. Turn the query by m and the key by n. Turned by the same "
    "position, they have their old score."
)
right.mistake("exchanges_the_positions", {"placed(q, m) @ placed(k, n)": "placed(q, n) @ placed(k, m)"}).feedback(
    "The query is at m and the key at n; you have them the other way round."
)
right.mistake("multiplies_without_the_sum", {"placed(q, m) @ placed(k, n)": "placed(q, m) * placed(k, n)"}).feedback(
    "You return the products. A score is their sum: a dot product, `@`."
)
right.mistake("turns_the_key_backwards", {"placed(k, n)": "placed(k, -n)"}).feedback(
    "You turn the key the other way. Both turn the same way, so the score depends on the difference of the positions."
)
