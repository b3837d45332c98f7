"""Results kept from one call to the next, and random numbers."""

from grading.exercises.exercise import Family

result_remembered = Family(
    "earlier-result",
    "keeps_its_last_result",
    "Your function returns an earlier result again when the shapes are the same. Equal shapes can hold other "
    "numbers: compute each call from its own arguments.",
)
tensors_remembered = Family(
    "earlier-result",
    "remembers_tensors",
    "Your function returns an earlier result when it gets the same tensors again (`functools.cache`). Their "
    "numbers may have changed by then, as weights do in training.",
)
first_mask_kept = Family(
    "earlier-mask",
    "keeps_the_first_mask",
    "You keep the mask of the first call and use it again in later calls. Each call has its own mask.",
)
global_dice = Family(
    "generator-ignored",
    "draws_from_the_global_state",
    "You do not use the generator: {what} depend on PyTorch's global state, so nobody can repeat the run by its seed.",
    words={"what": "your random numbers"},
)
