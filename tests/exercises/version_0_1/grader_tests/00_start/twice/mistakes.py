"""Known mistakes in `twice`."""

from ...shared.repeating import keeps_its_last_result
from .contract import twice

right = twice.base("""
def twice(x):
    return 2 * x
""")

right.mistake("squares", {"2 * x": "x * x"}, shows="every number").says(
    "You square: 2 becomes 4, but 3 becomes 9. Twice a number is the number times 2, or the number plus itself."
)
right.mistake("adds_two", {"2 * x": "x + 2"}, shows="every number").says(
    "You add 2 to every number. Twice a number is the number times 2."
)
right.mistake("halves", {"2 * x": "x / 2"}, shows="every number").says("You halve every number instead of doubling it.")
right.mistake("leaves_it", {"2 * x": "1 * x"}, shows="every number").says("Every number is handed back as it came.")
right.mistake("prints", {"return 2 * x": "print(2 * x)"}, shows="every number").says(
    "Your function shows its result and hands out nothing: `print` is for people, `return` for whoever called. "
    "A function without `return` gives `None`."
)
twice.mistake("says_it_twice", shows="every number").whole("""
def twice(x):
    return torch.cat([x.reshape(-1), x.reshape(-1)])
""").says("The tensor stands there twice, one after the other. Asked for is each of its numbers, doubled.")
twice.mistake("doubles_the_sum", shows="every number").whole("""
def twice(x):
    return 2 * x.sum()
""").says("The numbers were added up first. A sum is one number; the result has the shape of `x`.")
twice.mistake("the_first_only", shows="every number").whole("""
def twice(x):
    return torch.cat([2 * x.flatten()[:1], x.flatten()[1:]]).reshape(x.shape)
""").says("Only the first number is doubled. An operation on the whole tensor needs no index.")
right.mistake("changes_x", {"2 * x": "x.detach().mul_(2)"}, shows=("x itself", "gradients")).says(
    "Your function doubles the caller's own tensor: names that end in `_` change it in place, as `*=` does. "
    "`2 * x` makes a new one."
)
right.mistake("detaches", {"2 * x": "2 * x.detach()"}, shows="gradients").says(
    "The numbers are right, and no gradient comes back: `detach`, `.data`, NumPy and `torch.tensor(…)` "
    "all cut the trail."
)
right.mistake("always_float32", {"2 * x": "(2 * x).float()"}, shows="float64").says(
    "The result is always float32. Let it have the dtype of `x`; `2 * x` does by itself."
)
keeps_its_last_result(right, shows="every number")
right.mistake("rounds_to_float32", {"2 * x": "(2 * x).float().to(x.dtype)"}, shows="float64").says(
    "On their way the numbers become float32: those of float64 lose half of their digits, and the dtype that you "
    "return does not bring them back."
)
