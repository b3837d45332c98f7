"""Known mistakes in `greedy`."""

from .contract import greedy

right = greedy.alternative("with_a_break")

right.mistake("does_not_stop_at_end", {"    if ids[-1] == end:\n            break\n": "    pass\n"}).feedback(
    "You go on after `end`. Nothing follows `end`: leave the loop."
)
right.mistake("stops_before_end").patch("""
- ids.append(int(step(ids).argmax()))
- if ids[-1] == end:
-     break
+ following = int(step(ids).argmax())
+ if following == end:
+     break
+ ids.append(following)
""").feedback("Your list lacks `end`. Append it, and then stop.")
right.mistake("leaves_begin_out", {"return ids": "return ids[1:]"}).feedback(
    "Your list lacks `begin`. It is the first id of the result."
)
right.mistake("one_id_too_many", {"range(max_length)": "range(max_length + 1)"}).feedback(
    "Your list can have one id too many. `max_length` counts the ids after `begin`."
)
right.mistake("one_id_too_few", {"range(max_length)": "range(max_length - 1)"}).feedback(
    "Your list has one id too few. `max_length` counts the ids after `begin`, without `begin`."
)
right.mistake("asks_with_the_last_id", {"step(ids)": "step(ids[-1:])"}).feedback(
    "You call `step` with the last id only. The next id can depend on all ids so far: pass the whole list."
)
right.mistake("takes_the_least_probable", {"argmax": "argmin"}).feedback(
    "You take the least probable id. Log-probabilities are negative, and the largest is nearest to 0."
)
right.mistake("returns_tensors", {"int(step(ids).argmax())": "step(ids).argmax()"}).feedback(
    "The ids in your list are tensors. Convert each to a plain int, with `int(…)` or `.item()`."
)
right.mistake("draws_at_random", {"step(ids).argmax()": "step(ids).exp().multinomial(1)"}).feedback(
    "You draw the next id at random. Greedy search takes the most probable one."
)
