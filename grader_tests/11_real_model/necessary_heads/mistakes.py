"""Known mistakes in `necessary_heads`."""

from ...shared.families import arguments
from .contract import necessary_heads

ONE, SEVERAL, LOOKS, NONE = "one head", "heads that replace", "heads that only look", "an empty list"
ALL = (ONE, SEVERAL, LOOKS)

right = necessary_heads.reference_answer("""
def necessary_heads(loss_without, scores, chance):
    n_layers, n_heads = scores.shape
    named = [(layer, head) for layer in range(n_layers) for head in range(n_heads)]
    if loss_without(named) < chance:
        raise ValueError(f"chance is {chance}, but without any head the loss is {loss_without(named)}")
    for pair in list(named):
        fewer = [other for other in named if other != pair]
        if loss_without(fewer) >= chance:
            named = fewer
    return named
""")

growing = necessary_heads.reference_answer("""
def necessary_heads(loss_without, scores, chance):
    n_layers, n_heads = scores.shape
    heads = [(layer, head) for layer in range(n_layers) for head in range(n_heads)]
    if loss_without(heads) < chance:
        raise ValueError(f"chance is {chance}, but without any head the loss is {loss_without(heads)}")
    named = []
    while loss_without(named) < chance:
        left = [pair for pair in heads if pair not in named]
        named.append(max(left, key=lambda pair: loss_without([*named, pair])))
    for pair in list(named):
        fewer = [other for other in named if other != pair]
        if loss_without(fewer) >= chance:
            named = fewer
    return named
""")

# Heads named without being removed
right.mistake("names_all_heads", {"named = fewer": "pass"}, loses=(*ALL, NONE)).feedback(
    "You name all heads. Many add nothing to the removal of the others: put each back, and see whether the behaviour "
    "comes back. (If you ask whether the loss *is* `chance`, it never is: it may be higher than that of guessing.)"
)
right.mistake("names_the_highest_score", loses=(SEVERAL, LOOKS)).patch("""
- for pair in list(named):
-     fewer = [other for other in named if other != pair]
-     if loss_without(fewer) >= chance:
-         named = fewer
- return named
+ return [divmod(int(scores.argmax()), n_heads)]
""").feedback(
    "You name the head with the highest induction score. A score says where a head looks, not whether the model needs "
    "it: remove the head and measure the loss."
)
right.mistake("names_every_high_score", loses=(SEVERAL, LOOKS)).patch("""
- for pair in list(named):
-     fewer = [other for other in named if other != pair]
-     if loss_without(fewer) >= chance:
-         named = fewer
- return named
+ return [(layer, head) for layer, head in named if scores[layer, head] > LEAST]
""").for_each(LEAST=(0.2, 0.3, 0.4, 0.5, "scores.mean()")).feedback(
    "You name all heads with a high induction score. A score says where a head looks, not whether the model needs it: "
    "remove heads and measure the loss."
)
right.mistake("removes_by_score_until_it_is_gone", loses=(SEVERAL, LOOKS)).patch("""
- for pair in list(named):
-     fewer = [other for other in named if other != pair]
-     if loss_without(fewer) >= chance:
-         named = fewer
- return named
+ order = sorted(named, key=lambda pair: scores[pair].item(), reverse=True)
+ named = []
+ while loss_without(named) < chance:
+     named.append(order[len(named)])
+ return named
""").feedback(
    "You remove heads by falling score until the behaviour is gone. Among them are heads whose removal adds nothing: "
    "put each one back and measure again."
)
right.mistake("asks_only_heads_with_a_high_score", loses=SEVERAL).patch("""
- for pair in list(named):
+ named = [pair for pair in named if scores[pair] > LEAST]
+ for pair in list(named):
""").for_each(LEAST=(0.2, 0.3, 0.4, 0.5)).feedback(
    "You look for the heads only among those with a high score. A backup has a low score as long as the others work, "
    "and so has a previous-token head."
)

# Heads removed one at a time
right.mistake("removes_each_head_alone", loses=SEVERAL).patch("""
- for pair in list(named):
-     fewer = [other for other in named if other != pair]
-     if loss_without(fewer) >= chance:
-         named = fewer
- return named
+ return [pair for pair in named if loss_without([pair]) >= chance]
""").feedback(
    "You remove each head alone. Heads that replace each other all look idle then, and of heads that work in a "
    "row one is enough: remove several together."
)
right.mistake("names_every_head_that_raises_the_loss_alone", loses=SEVERAL).patch("""
- for pair in list(named):
-     fewer = [other for other in named if other != pair]
-     if loss_without(fewer) >= chance:
-         named = fewer
- return named
+ return [pair for pair in named if loss_without([pair]) > loss_without([]) + RISE]
""").for_each(RISE=(0.0, 0.01, 0.1, 0.5)).feedback(
    "You name each head that raises the loss when it is removed alone. Heads that replace each other look idle "
    "then, and of heads that work in a row one is enough."
)
right.mistake("prunes_only_what_matters_alone", loses=SEVERAL).patch("""
- for pair in list(named):
+ named = [pair for pair in named if loss_without([pair]) > loss_without([]) + RISE]
+ for pair in list(named):
""").for_each(RISE=(0.0, 0.01, 0.1, 0.5)).feedback(
    "You look for the heads only among those that matter alone. A head with a backup changes nothing when it is "
    "removed alone, and still the behaviour needs the two."
)
right.mistake("adds_up_single_effects", loses=SEVERAL).patch("""
- for pair in list(named):
-     fewer = [other for other in named if other != pair]
-     if loss_without(fewer) >= chance:
-         named = fewer
- return named
+ whole = loss_without([])
+ rise = {pair: loss_without([pair]) - whole for pair in named}
+ total, order, named = whole, sorted(rise, key=rise.get, reverse=True), []
+ while total < chance and order and rise[order[0]] > 0:
+     total += rise[order[0]]
+     named.append(order.pop(0))
+ return named
""").feedback(
    "You add up what each head's removal costs alone. Removals do not add up: measure the loss without all of the "
    "named heads together."
)
right.mistake("puts_each_back_alone", {"named = fewer": "idle.append(pair)"}, loses=(SEVERAL,)).patch("""
- for pair in list(named):
+ idle = []
+ for pair in list(named):
@@
- return named
+ return [pair for pair in named if pair not in idle]
""").feedback(
    "You put each head back into a model without all the others. Once a head is back for good, leave it in while you "
    "test the next ones."
)
right.mistake("tries_pairs_at_most", loses=SEVERAL).patch("""
- for pair in list(named):
-     fewer = [other for other in named if other != pair]
-     if loss_without(fewer) >= chance:
-         named = fewer
- return named
+ if loss_without([]) >= chance:
+     return []
+ for pair in named:
+     if loss_without([pair]) >= chance:
+         return [pair]
+ for pair in named:
+     for other in named:
+         if pair != other and loss_without([pair, other]) >= chance:
+             return [pair, other]
+ return []
""").feedback(
    "You remove two heads at most. A behaviour may need three or more to be gone: begin with all heads, and put them "
    "back one by one."
)

# Heads added one after another
growing.mistake("does_not_prune", loses=SEVERAL).patch("""
- for pair in list(named):
-     fewer = [other for other in named if other != pair]
-     if loss_without(fewer) >= chance:
-         named = fewer
""").feedback(
    "You add heads until the behaviour is gone, but do not check them afterwards. A head that you added early may "
    "add nothing to the removal of the later ones: put each back and measure."
)
growing.mistake("stops_where_nothing_changes", loses=SEVERAL).patch("""
- named.append(max(left, key=lambda pair: loss_without([*named, pair])))
+ worst = max(left, key=lambda pair: loss_without([*named, pair]))
+ if loss_without([*named, worst]) <= loss_without(named) + RISE:
+     break
+ named.append(worst)
""").for_each(RISE=(0.0, 0.01)).feedback(
    "You stop as soon as no further head raises the loss. While a backup is in place, removing one head changes "
    "nothing: only the second one does."
)
growing.mistake("adds_in_order", loses=(ONE, SEVERAL, LOOKS)).patch("""
  while loss_without(named) < chance:
-     left = [pair for pair in heads if pair not in named]
-     named.append(max(left, key=lambda pair: loss_without([*named, pair])))
- for pair in list(named):
-     fewer = [other for other in named if other != pair]
-     if loss_without(fewer) >= chance:
-         named = fewer
+     named.append(heads[len(named)])
""").feedback(
    "You name heads from the first one on until the behaviour is gone. Most of them add nothing to the removal of the "
    "others: put each back and measure."
)

# The test for a head
right.mistake(
    "turns_the_test_over", {"loss_without(fewer) >= chance": "loss_without(fewer) < chance"}, loses=ALL
).feedback(
    "Your test is the wrong way round: you put a head back where that brings the behaviour back. Put it back where the "
    "behaviour stays gone, with a loss of at least `chance`."
)
right.mistake("calls_any_rise_gone", loses=SEVERAL).patch("""
- if loss_without(fewer) >= chance:
+ if loss_without(fewer) > loss_without([]) + RISE:
""").for_each(RISE=(0.0, 0.01, 0.1)).feedback(
    "You take the behaviour for gone as soon as the loss rises. It is gone where the loss is at least `chance`."
)
right.mistake(
    "takes_half_way_for_gone", {"loss_without(fewer) >= chance": "loss_without(fewer) >= chance / 2"}, loses=SEVERAL
).feedback(
    "You take half of `chance` for enough. A model at that loss still does better than guessing: the loss has to be at "
    "least `chance`."
)
right.mistake("measures_one_head_alone", {"loss_without(fewer)": "loss_without([pair])"}, loses=ALL).feedback(
    "You measure without the one head, where you should measure without all that are still named but this one."
)

# The list
right.mistake(
    "names_what_is_put_back",
    {"return named": "return [pair for pair in every if pair not in named]"},
    loses=(*ALL, NONE),
).patch("""
- for pair in list(named):
+ every = named
+ for pair in list(named):
""").feedback("You return the heads that you put back. Return those that have to stay removed.")
right.mistake("changes_the_list_that_it_walks", loses=ALL).patch("""
- for pair in list(named):
+ for pair in named:
      fewer = [other for other in named if other != pair]
      if loss_without(fewer) >= chance:
-         named = fewer
+         named.remove(pair)
""").feedback(
    "You remove pairs from the list that your loop walks along, so the loop skips the next pair each time. Loop over a "
    "copy: `list(named)`."
)
right.mistake("stops_at_the_first_needed_head", loses=ALL).patch("""
  if loss_without(fewer) >= chance:
      named = fewer
+ else:
+     break
""").feedback("You stop at the first head that has to stay removed. Those after it may still be superfluous: go on.")
right.mistake("puts_back_one_head_only", loses=ALL).patch("""
  if loss_without(fewer) >= chance:
      named = fewer
+     break
""").feedback("You stop after the first head that you put back. Go on: test all heads.")
right.mistake("looks_at_one_layer", loses=(SEVERAL,)).patch("""
- for pair in list(named):
+ layer = LAYER
+ named = [pair for pair in named if pair[0] == layer]
+ for pair in list(named):
""").for_each(LAYER=("n_layers - 1", "0", "int(scores.amax(1).argmax())")).feedback(
    "You look at the heads of one layer only. The heads that a behaviour needs may be in several layers."
)
right.mistake("exchanges_layers_and_heads", loses=(*ALL, NONE)).patch("""
- named = [(layer, head) for layer in range(n_layers) for head in range(n_heads)]
+ named = EVERY
""").for_each(
    EVERY=(
        "[(head, layer) for layer in range(n_layers) for head in range(n_heads)]",
        "[(layer, head) for layer in range(n_heads) for head in range(n_layers)]",
    )
).feedback("You exchange layers and heads. `scores` is (L, H), one row per layer, and a pair is (layer, head).")
right.mistake(
    "counts_from_one",
    {"range(n_layers)": "range(1, n_layers + 1)", "range(n_heads)": "range(1, n_heads + 1)"},
    loses=(*ALL, NONE),
).feedback("You count layers and heads from 1. The first ones have the number 0.")
right.mistake("leaves_out_the_last_layer", {"range(n_layers)": "range(n_layers - 1)"}, loses=(ONE, SEVERAL)).feedback(
    "You leave out the last layer. Its heads can be needed, too."
)
right.mistake("leaves_out_the_first_layer", {"range(n_layers)": "range(1, n_layers)"}, loses=(ONE, SEVERAL)).feedback(
    "You leave out layer 0. Its heads can be needed, too."
)
right.mistake(
    "numbers_the_heads_throughout",
    {"return named": "return [layer * n_heads + head for layer, head in named]"},
    loses=ALL,
).feedback("You return one number per head. Return pairs (layer, head).")
right.mistake(
    "asks_with_numbers",
    {"loss_without(fewer)": "loss_without([layer * n_heads + head for layer, head in fewer])"},
    loses=(*ALL, NONE),
).feedback("You call `loss_without` with one number per head. It takes a list of pairs (layer, head).")
right.mistake("asks_with_a_pair", {"loss_without(fewer)": "loss_without(pair)"}, loses=(*ALL, NONE)).feedback(
    "You call `loss_without` with a single pair. It takes a list of pairs: for one head, `[(layer, head)]`."
)
right.mistake("asks_with_two_numbers", {"loss_without(fewer)": "loss_without(*pair)"}, loses=(*ALL, NONE)).feedback(
    "You call `loss_without` with a layer and a head as two arguments. It takes a list of pairs."
)
right.mistake(
    "returns_the_scores", {"return named": "return [scores[pair].item() for pair in named]"}, loses=ALL
).feedback("You return the scores of the heads. Return the pairs (layer, head).")
right.mistake("returns_a_tensor", {"return named": "return torch.tensor(named)"}, loses=ALL).feedback(
    "You return a tensor. The result is a list of pairs of ints; `.tolist()` makes a list."
)
right.mistake("returns_a_set", {"return named": "return set(named)"}, loses=ALL).feedback(
    "You return a set. The result is a list of pairs."
)
right.mistake("returns_a_mask", loses=ALL).patch("""
- return named
+ return [[(layer, head) in named for head in range(n_heads)] for layer in range(n_layers)]
""").feedback("You return True or False for every head. Return the pairs (layer, head) of those that are needed.")
right.mistake("returns_the_loss_too", {"return named": "return named, loss_without(named)"}, loses=ALL).feedback(
    "You return the loss as well. Return the list of pairs only."
)

# Nothing to remove, or nobody to blame
right.mistake("names_a_head_in_any_case", loses=NONE).patch("""
- return named
+ return named or [divmod(int(scores.argmax()), n_heads)]
""").feedback("You name a head although the behaviour is gone with all heads in place. The list is empty there.")
right.mistake("refuses_what_is_gone_already", loses=NONE).patch("""
- if loss_without(named) < chance:
+ if loss_without([]) >= chance or loss_without(named) < chance:
""").feedback(
    "You raise an error where the behaviour is gone with all heads in place. Nothing has to be removed there: return "
    "an empty list."
)
right.mistake("compares_with_the_whole_model", loses=(*ALL, NONE)).patch("""
- if loss_without(named) < chance:
+ if loss_without([]) < chance:
""").feedback(
    "You raise an error where the model does better than guessing with all heads in place. Measure without all heads: "
    "only if the loss is below `chance` there does no head explain the behaviour."
)
right.mistake(
    arguments.not_refused(
        "You do not refuse a behaviour that stays without all heads. Raise a ValueError that names `chance`."
    ),
    loses=NONE,
)
right.mistake(arguments.asserts(), loses=NONE)
right.mistake(arguments.error_without_name(), loses=NONE)
right.mistake("returns_none_for_an_error", loses=NONE).patch("""
  if loss_without(named) < chance:
-     raise ValueError(f"chance is {chance}, but without any head the loss is {loss_without(named)}")
+     return EMPTY
""").for_each(EMPTY=("None", "[]")).feedback(
    "You return something where no heads explain the behaviour. Raise a ValueError that names `chance`."
)
right.mistake(arguments.argument_changed("writes_into_the_scores"), loses=NONE).patch("""
- for pair in list(named):
+ while not scores.isinf().all():
+     pair = divmod(int(scores.argmax()), n_heads)
+     scores[pair] = -math.inf
""").feedback("You write into `scores` to mark the heads that you have seen. Work on a copy: `scores.clone()`.")
