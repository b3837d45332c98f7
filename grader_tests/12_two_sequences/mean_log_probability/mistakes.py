"""Known mistakes in `mean_log_probability`."""

from .contract import mean_log_probability

right = mean_log_probability.alternative("one_by_one")

right.mistake("counts_begin", {"(len(ids) - 1)": "len(ids)"}).feedback(
    "You divide by the number of all ids. `begin` has no log-probability: divide by the number of ids after it."
)
right.mistake("returns_the_sum", {"total / (len(ids) - 1)": "total"}).feedback(
    "You return the sum. Divide it by the number of ids after `begin`."
)
right.mistake("leaves_the_last_out", {"range(1, len(ids))": "range(1, len(ids) - 1)"}).feedback(
    "You leave out the last id, which is often `end`. Every id after `begin` counts."
)
right.mistake("shows_the_answer", {"step(ids[:t])": "step(ids[: t + 1])"}).feedback(
    "You call `step` with the id that it should predict. When it predicts `ids[t]`, it gets the ids before it."
)
right.mistake("asks_with_the_last_id", {"step(ids[:t])": "step(ids[t - 1 : t])"}).feedback(
    "You call `step` with one id only. The next id can depend on all ids so far: pass `ids[:t]`."
)
right.mistake("takes_the_most_probable", {"step(ids[:t])[ids[t]]": "step(ids[:t]).max()"}).feedback(
    "You take the most probable id at each position. Take the log-probability of the id that is in `ids`."
)
right.mistake("averages_probabilities", {"step(ids[:t])[ids[t]]": "step(ids[:t])[ids[t]].exp()"}).feedback(
    "You average probabilities. The formula averages their logarithms, which `step` returns already."
)
right.mistake("takes_the_logarithm_again", {"step(ids[:t])[ids[t]]": "step(ids[:t]).log()[ids[t]]"}).feedback(
    "You take a logarithm twice. `step` returns log-probabilities already."
)
