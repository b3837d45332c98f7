"""Known mistakes in `beam_search`."""

from ...shared.families import arguments, numbers
from .contract import beam_search

GREEDY, BEST, MEAN, FORM = "a width of 1", "the width best", "the best mean", "a list"
EVERYWHERE = (GREEDY, BEST, MEAN)  # what an answer loses whose every result is wrong
WIDE = (BEST, MEAN)
ERRORS = FORM  # one criterion

right = beam_search.reference_answer("""
def beam_search(step, begin, end, width, max_length):
    for name, number in (("width", width), ("max_length", max_length)):
        if number < 1:
            raise ValueError(f"{name} is {number}, and must be at least 1")
    running, done = [(0.0, [begin])], []
    for _ in range(max_length):
        longer = []
        for total, ids in running:
            for token, p in enumerate(step(ids).tolist()):
                longer.append((total + p, [*ids, token]))
        longer.sort(reverse=True)
        best = longer[:width]
        done += [one for one in best if one[1][-1] == end]
        running = [one for one in best if one[1][-1] != end]
    candidates = done + running
    winner = max(candidates, key=lambda one: one[0] / (len(one[1]) - 1))
    return winner[1]
""")

right.mistake("always_greedy", {"longer[:width]": "longer[:1]"}, loses=BEST).feedback(
    "You continue only one sequence, whatever the width is. Keep the `width` best of all continuations."
)
right.mistake("keeps_one_too_many", {"longer[:width]": "longer[: width + 1]"}, loses=GREEDY).feedback(
    "You keep one sequence more than `width`. With a width of 1 the search must be greedy."
)
right.mistake("keeps_the_worst", {"longer.sort(reverse=True)": "longer.sort()"}, loses=EVERYWHERE).feedback(
    "You sort the least probable continuations to the front. Log-probabilities are negative; the largest are those "
    "nearest to 0."
)
right.mistake("keeps_the_best_of_each", loses=BEST).patch("""
- longer = []
- for total, ids in running:
-     for token, p in enumerate(step(ids).tolist()):
-         longer.append((total + p, [*ids, token]))
- longer.sort(reverse=True)
- best = longer[:width]
+ best = []
+ for total, ids in running:
+     own = [(total + p, [*ids, token]) for token, p in enumerate(step(ids).tolist())]
+     best += sorted(own, reverse=True)[:width]
""").feedback(
    "You keep the best continuations of each sequence, so the sequences multiply. `width` is the number that you "
    "keep of all continuations together."
)
right.mistake("takes_one_of_each", loses=BEST).patch("""
+ if LATER:
+     best = [max(one for one in longer if one[1][:-1] == ids) for _, ids in running]
  done += [one for one in best if one[1][-1] == end]
""").for_each(LATER=("len(running) > 1", "len(longer[0][1]) > 2")).feedback(
    "You continue every sequence by its own best token after the first step, so they no longer compete. Keep the "
    "`width` best of all continuations, even if two come from one sequence and none from another."
)
right.mistake("lets_the_ended_take_no_place", loses=BEST).patch("""
- best = longer[:width]
+ ended = [one for one in longer if one[1][-1] == end]
+ best = ended + [one for one in longer if one[1][-1] != end][:width]
""").feedback(
    "You keep every sequence that could end, however improbable. Only a sequence among the `width` best of its "
    "length is a candidate, and it takes up one of these `width` places."
)
right.mistake("fills_up_the_places_of_the_ended", loses=BEST).patch("""
- running = [one for one in best if one[1][-1] != end]
+ running = [one for one in longer if one[1][-1] != end][:width]
""").feedback(
    "You let the next best continuation replace a sequence that ends. The ended ones are among the `width` best of "
    "their length: fewer sequences go on."
)
right.mistake("narrows_for_good", {"longer[:width]": "longer[: max(1, width - len(done))]"}, loses=MEAN).feedback(
    "You narrow the beam for all later lengths whenever a sequence ends. An ended sequence takes up a place at its "
    "own length only: at the next one, keep `width` continuations again."
)
right.mistake(
    "lets_the_ended_compete_on",
    {"longer = []": "longer, done = done, []", "reverse": "key=lambda one: MEASURE, reverse"},
    loses=MEAN,
).for_each(MEASURE=("one[0]", "one[0] / (len(one[1]) - 1)")).feedback(
    "You let ended sequences compete with later continuations, where they take up a place or are dropped. An ended "
    "sequence takes up a place at its own length only; then keep it in a separate list until the end."
)
right.mistake("adds_up_without_the_mean", {"one[0] / (len(one[1]) - 1)": "one[0]"}, loses=MEAN).feedback(
    "You compare sums of log-probabilities. Every token makes a sum smaller, so the shortest sequence wins; compare "
    "the mean per token."
)
right.mistake("counts_begin_in_the_mean", {"(len(one[1]) - 1)": "len(one[1])"}, loses=MEAN).feedback(
    "You count `begin` in the length that you divide by. `begin` has no log-probability: divide by the number of "
    "tokens after it."
)
right.mistake(
    "leaves_end_out_of_the_mean", {"(len(one[1]) - 1)": "max(1, len(one[1]) - 1 - (one[1][-1] == end))"}, loses=MEAN
).feedback("You leave `end` out of the mean, though its log-probability is in the sum. It is a token like any other.")
right.mistake("divides_by_one_less", {"(len(one[1]) - 1)": "max(1, len(one[1]) - 2)"}, loses=MEAN).feedback(
    "You divide by one less than the number of log-probabilities. Each token after `begin` counts, including the "
    "first and the last."
)
right.mistake("divides_by_the_root", {"(len(one[1]) - 1)": "(len(one[1]) - 1) ** POWER"}, loses=MEAN).for_each(
    POWER=(0.5, 0.6, 0.7)
).feedback(
    "You divide by the length to a power below 1, as some libraries do. The exercise asks for the mean: the sum "
    "divided by the number of tokens after `begin`."
)
right.mistake("averages_probabilities", {"total + p,": "total + __import__('math').exp(p),"}, loses=BEST).feedback(
    "You add probabilities. The probability of a sequence is their product: add the log-probabilities."
)
right.mistake(
    numbers.underflows,
    {
        "[(0.0, [begin])]": "[(torch.tensor(1.0), [begin])]",
        "step(ids).tolist())": "step(ids).exp())",
        "total + p,": "total * p,",
        "one[0] / (len(one[1]) - 1)": "one[0] ** (1 / (len(one[1]) - 1))",
        "reverse=True": "ORDER",
    },
    loses=BEST,
).for_each(ORDER=("reverse=True", "reverse=True, key=lambda one: one[0]"))
right.mistake(numbers.float16_sums, {"[(0.0, [begin])]": "[(torch.tensor(0.0).half(), [begin])]"}, loses=BEST)
right.mistake("adds_to_what_step_returns", loses=FORM).patch("""
- for token, p in enumerate(step(ids).tolist()):
-     longer.append((total + p, [*ids, token]))
+ for token, p in enumerate(step(ids).add_(total).tolist()):
+     longer.append((p, [*ids, token]))
""").feedback(
    "You change in place what `step` returned. It may be a row of a table that `step` keeps, and then every later "
    "answer is wrong: make a new tensor, `step(ids) + total`."
)
right.mistake("multiplies_the_logarithms", {"total + p,": "(total or 1.0) * p,"}, loses=EVERYWHERE).feedback(
    "You multiply log-probabilities. Probabilities are multiplied; their logarithms are added."
)
right.mistake("takes_the_last_token_alone", {"total + p": "p", "reverse=True": "ORDER"}, loses=WIDE).for_each(
    ORDER=("reverse=True", "key=lambda one: one[0], reverse=True", "key=lambda one: -one[0]")
).feedback("You rank a sequence by its last token alone and lose the sum so far. Add to the sum.")
right.mistake("stops_at_the_first_end", loses=MEAN).patch("""
  running = [one for one in best if one[1][-1] != end]
+ if done:
+     break
""").feedback("You stop as soon as one sequence has ended. Another one that is still running may reach a better mean.")
# To take the first of all that were found is the same: at its length it has the best sum, and so the best mean.
right.mistake("takes_what_ends_first", {"done + running": "done or running"}, loses=MEAN).patch("""
  running = [one for one in best if one[1][-1] != end]
+ if done:
+     break
""").feedback(
    "You return the sequence that ends first. One that ends later, or that reaches `max_length` without `end`, may "
    "have a better mean."
)
right.mistake("keeps_the_likeliest_of_the_ended", {"= done": "= sorted(done, reverse=True)[:1]"}, loses=MEAN).feedback(
    "You keep only the ended sequence with the largest sum. Another one may have the best mean: all of them compete."
)
right.mistake("stops_when_so_many_have_ended", loses=MEAN).patch("""
  running = [one for one in best if one[1][-1] != end]
+ if len(done) >= width:
+     break
""").feedback(
    "You stop when `width` sequences have ended. Those still running may reach a better mean: go on while any are "
    "running."
)
right.mistake("stops_when_the_rest_is_behind", loses=MEAN).patch("""
  running = [one for one in best if one[1][-1] != end]
+ ended, going = ([total / (len(ids) - 1) for total, ids in some] for some in (done, running))
+ if ended and going and max(ended) >= max(going):
+     break
""").feedback(
    "You stop as soon as no running sequence has a better mean than the best ended one. A mean can grow, since "
    "likely tokens may follow."
)
right.mistake("forgets_the_unended", {"done + running": "done or running"}, loses=MEAN).feedback(
    "You ignore sequences that reach `max_length` without `end` if another one has ended. They compete, too."
)
right.mistake("forgets_the_ended", {"done + running": "running or done"}, loses=MEAN).feedback(
    "You ignore ended sequences if others are still running at `max_length`. The best mean of all wins."
)
right.mistake(
    "goes_on_behind_end", {"running = [one for one in best if one[1][-1] != end]": "running = best"}, loses=(MEAN,)
).feedback("You continue a sequence that has ended. Nothing follows `end`.")
right.mistake("never_ends", loses=EVERYWHERE).patch("""
- done += [one for one in best if one[1][-1] == end]
- running = [one for one in best if one[1][-1] != end]
+ running = best
""").feedback("You treat `end` like any other token, so nothing ends before `max_length`.")
right.mistake("one_token_too_few", {"range(max_length)": "range(max(1, max_length - 1))"}, loses=GREEDY).feedback(
    "Your sequences have one token too few. `max_length` counts the tokens after `begin`."
)
right.mistake("one_token_too_many", {"range(max_length)": "range(max_length + 1)"}, loses=GREEDY).feedback(
    "Your sequences can have one token too many. `max_length` counts the tokens after `begin`."
)
right.mistake("takes_the_worst_at_last", {"winner = max(": "winner = min("}, loses=MEAN).feedback(
    "You return the sequence with the smallest mean. The largest mean is the one nearest to 0."
)
right.mistake(
    "puts_end_behind_all", {"winner[1]": "winner[1] if winner[1][-1] == end else [*winner[1], end]"}, loses=GREEDY
).feedback("You append `end` to a sequence that reached `max_length` without it. Return the sequence as it was found.")
right.mistake(
    "takes_more_than_there_are",
    {"enumerate(step(ids).tolist())": "zip(*(x.tolist() for x in step(ids).topk(width)[::-1]), strict=True)"},
    loses=MEAN,
).feedback("`topk(width)` fails if there are fewer tokens than `width`. Take as many as there are: `min(width, …)`.")
right.mistake("leaves_begin_out", {"winner[1]": "winner[1][1:]"}, loses=EVERYWHERE).feedback(
    "Your ids lack `begin`. It is the first id of the sequence."
)
right.mistake("leaves_end_out", {"winner[1]": "[i for i in winner[1] if i != end]"}, loses=(GREEDY, MEAN)).feedback(
    "Your ids lack `end`. A sequence that has ended includes it."
)
right.mistake("asks_without_begin", {"step(ids)": "step(ids[1:] or ids)"}, loses=(GREEDY, BEST)).feedback(
    "You call `step` with a list that lacks `begin`. It needs all ids so far, starting with `begin`."
)
right.mistake("asks_with_the_last_id", {"step(ids)": "step(ids[-1:])"}, loses=(GREEDY, BEST)).feedback(
    "You call `step` with the last id only. The next token can depend on all ids: pass the whole list."
)
right.mistake("returns_the_mean_too", {"winner[1]": "winner[1], winner[0]"}, loses=EVERYWHERE).feedback(
    "You return more than the ids. The result is only the list."
)
right.mistake("returns_all_candidates", {"winner[1]": "[one[1] for one in candidates]"}, loses=EVERYWHERE).feedback(
    "You return a list of sequences. The exercise asks for the best one only."
)
right.mistake("returns_a_tensor", {"winner[1]": "torch.tensor(winner[1])"}, loses=EVERYWHERE).feedback(
    "You return the ids as a tensor. The result is a list of plain ints."
)
right.mistake("returns_a_tuple", {"winner[1]": "tuple(winner[1])"}, loses=FORM).feedback(
    "You return the ids as a tuple. The result is a list of plain ints."
)
right.mistake(
    "returns_numbers_that_are_tensors", {"winner[1]": "[torch.tensor(i) for i in winner[1]]"}, loses=FORM
).feedback("The ids in your list are tensors. Convert them to plain ints, with `.item()` or `.tolist()`.")
right.mistake(
    arguments.not_refused(
        "You accept a width or length of 0, or fail on it with another error. Check both before you begin."
    ),
    loses=ERRORS,
)
right.mistake(
    "checks_max_length_alone", {'("width", width), ("max': '("max', "_length))": "_length),)"}, loses=ERRORS
).feedback("You check `max_length`, but not `width`.")
right.mistake("checks_the_width_alone", {', ("max_length", max_length)': ","}, loses=ERRORS).feedback(
    "You check `width`, but not `max_length`."
)
right.mistake(arguments.unchecked("allows_zero"), {"number < 1": "number < 0"}, loses=ERRORS).feedback(
    "You accept 0. Both numbers must be at least 1."
)
right.mistake(arguments.asserts(), loses=ERRORS)
right.mistake(arguments.error_without_name(), loses=ERRORS)
