"""Modules: what they add, average or drop."""

from grading.exercises.exercise import Family

weights_averaged = Family(
    "weights-averaged",
    "averages_the_weights",
    "You average the weights over the heads, as PyTorch's layer does. Return one map per head.",
)
input_added = Family(
    "input-added",
    "adds_the_input",
    "You add `x` itself to the output. The code that uses the module adds it; return the output alone.",
)
super_init_forgotten = Family(
    "super-init-forgotten",
    "forgets_super_init",
    "Your module cannot be made, because an `nn.Module` must be initialised before it can hold anything. Look at "
    "the first line of every other module's `__init__`.",
)
dropped_always = Family(
    "dropout-ignored",
    "drops_the_same_share_always",
    "You ignore `dropout`, so your module always drops the same share. Pass the argument on.",
)
dropped_by_default = Family(
    "dropout-default",
    "drops_a_tenth_by_default",
    "Your module drops some of the weights by default. The default of `dropout` is 0.0.",
)
