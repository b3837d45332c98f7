"""Known mistakes in `repeatable`."""

from .contract import repeatable

right = repeatable.alternative("seeding_before_each_call")

repeatable.mistake("seeds_once").full_code("""
def repeatable(layer, seed):
    torch.manual_seed(seed)
    return lambda x: layer(x)
""").feedback(
    "You seed once, when the function is made. The second call then draws different numbers: seed in every call."
)
repeatable.mistake("seeds_after_the_call").full_code("""
def repeatable(layer, seed):
    def same(x):
        output = layer(x)
        torch.manual_seed(seed)
        return output

    return same
""").feedback("You seed after the layer has drawn its numbers. Seed first.")
right.mistake("ignores_the_seed", {"manual_seed(seed)": "manual_seed(0)"}).feedback(
    "The seed makes no difference. Pass `seed` to `torch.manual_seed`."
)
right.mistake("switches_dropout_off", {"torch.manual_seed(seed)": "layer.eval()"}).feedback(
    "You put the layer into eval mode, so nothing is dropped. It should stay in its mode, and draw the same numbers."
)
repeatable.mistake("does_not_seed").full_code("""
def repeatable(layer, seed):
    return layer
""").feedback("You return the layer itself, which draws different numbers in each call.")
right.mistake("remembers_the_output").patch("""
+ kept = []
+
  def same(x):
-     torch.manual_seed(seed)
-     return layer(x)
+     if not kept:
+         kept.append(layer(x))
+     return kept[0]
""").feedback("You keep the first output and return it again. Call the layer each time, with the same random numbers.")
right.mistake("forgets_to_return", {"return layer(x)": "layer(x)"}).feedback(
    "Your inner function returns nothing. Return the layer's output."
)
