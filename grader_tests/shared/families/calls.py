"""Results kept from one call to the next, and random numbers."""

from grading.exercises.exercise import Family

result_remembered = Family(
    "earlier-result",
    "keeps_its_last_result",
    "You return an earlier result when the shapes are the same. Equal shapes can hold different numbers, so "
    "compute each call from its own arguments.",
)
tensors_remembered = Family(
    "earlier-result",
    "remembers_tensors",
    "You return an earlier result for the same tensors, as `functools.cache` does. Their numbers may have changed "
    "by then, as weights do in training.",
)
first_mask_kept = Family(
    "earlier-mask",
    "keeps_the_first_mask",
    "You keep the mask of the first call and use it again in later calls. Each call has its own mask.",
)
global_dice = Family(
    "generator-ignored",
    "draws_from_the_global_state",
    "You do not draw from the generator, so its seed does not determine {what}. PyTorch's global state, NumPy and "
    "Python's `random` do not know the generator.",
    words={"what": "your random numbers"},
)
