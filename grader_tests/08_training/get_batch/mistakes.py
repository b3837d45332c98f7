"""Known mistakes in `get_batch`."""

from ...shared.families import arguments, calls, numbers
from .contract import get_batch

right = get_batch.reference_answer("""
def get_batch(data, block_size, batch_size, generator):
    n = len(data) - block_size
    if n < 1:
        raise ValueError(f"data of shape {tuple(data.shape)} is too short for block_size {block_size}")
    starts = torch.randint(n, (batch_size,), generator=generator)
    place = starts[:, None] + torch.arange(block_size)
    return data[place], data[place + 1]
""")

right.mistake("forgets_to_shift", loses="windows", when="not shifted").patch("""
- place = starts[:, None] + torch.arange(block_size)
- return data[place], data[place + 1]
+ inputs = torch.stack([data[s : s + block_size] for s in starts])
+ return inputs, inputs.clone()
""").feedback(
    "You return the inputs themselves as targets, but the targets begin one token later. A model trained on them "
    "learns to repeat what it sees, with a loss of 0."
)
right.mistake(
    "shifts_twice", {"place + 1": "(place + 2).clamp(max=len(data) - 1)"}, loses="windows", when="two ahead"
).feedback("You shift the targets by two steps: each is the token after the one that should be predicted.")
right.mistake(
    "looks_back", {"[place], data[place + 1]": "[place + 1], data[place]"}, loses="windows", when="what comes before"
).feedback("You have swapped inputs and targets: your targets are one step *behind* the inputs.")
right.mistake("one_target_for_a_window", loses="windows", when="one target for a window").patch("""
- place = starts[:, None] + torch.arange(block_size)
- return data[place], data[place + 1]
+ return torch.stack([data[s : s + block_size] for s in starts]), data[starts + block_size]
""").feedback(
    "You return only one target for each window, the token after it. Every position of the window has its own target."
)
right.mistake("puts_time_first", loses="windows", when="time comes first").patch("""
- place = starts[:, None] + torch.arange(block_size)
+ place = torch.arange(block_size)[:, None] + starts
""").feedback("You return tensors of shape (T, B) instead of (B, T): each column is a window, not each row.")
right.mistake("makes_floats", loses="windows", when="floats").patch("""
- place = starts[:, None] + torch.arange(block_size)
- return data[place], data[place + 1]
+ inputs, targets = torch.zeros(2, batch_size, block_size)
+ for row, s in enumerate(starts):
+     inputs[row], targets[row] = data[s : s + block_size], data[s + 1 : s + 1 + block_size]
+ return inputs, targets
""").feedback(
    "You return ids that are no longer int64. An embedding needs whole numbers, and the loss needs int64 targets."
)
right.mistake(
    "never_draws_the_last_window", {"randint(n": "randint(n - 1"}, loses=("every", "windows"), when="never the last"
).feedback(
    "You never draw the last window: the upper bound of torch.randint is already exclusive. In a text of L tokens, L "
    "- block_size starts fit."
)
right.mistake("runs_past_the_end", loses="every").patch("""
- starts = torch.randint(n, (batch_size,), generator=generator)
- place = starts[:, None] + torch.arange(block_size)
- return data[place], data[place + 1]
+ starts = torch.randint(n + 1, (batch_size,), generator=generator)
+ inputs = torch.stack([data[s : s + block_size] for s in starts])
+ return inputs, torch.stack([data[s + 1 : s + 1 + block_size] for s in starts])
""").feedback(
    "You allow one start too many: the window there has no token left for its last target. The window *and one more "
    "token* must fit."
)
right.mistake("rounds_to_the_nearest", loses="every", when="the ends half as often").patch("""
- starts = torch.randint(n, (batch_size,), generator=generator)
+ starts = (torch.rand(batch_size, generator=generator) * (n - 1)).round().long()
""").feedback(
    "You round random numbers, so the first and the last start come half as often as the others. Round down, or draw "
    "integers."
)
right.mistake(
    "never_draws_the_first_window", {"randint(n": "randint(min(1, n - 1), n"}, loses="every", when="never the first"
).feedback("You never draw the first window: starts begin at 0.")
right.mistake("moves_starts_into_range", loses="every", when="the last too often").patch("""
- starts = torch.randint(n, (batch_size,), generator=generator)
+ starts = torch.randint(len(data), (batch_size,), generator=generator).clamp(max=n - 1)
""").feedback(
    "You move starts that do not fit to the last one that does, which is then drawn far too often. Draw only among "
    "those that fit."
)
right.mistake("cuts_the_text_into_pieces", loses="every").patch("""
- n = len(data) - block_size
+ n = (len(data) - 1) // block_size
@@
- starts = torch.randint(n, (batch_size,), generator=generator)
+ starts = torch.randint(n, (batch_size,), generator=generator) * block_size
""").feedback("You start windows only at multiples of block_size. Windows may overlap: every position is a start.")
get_batch.mistake("goes_round", loses="every", when="goes round").full_code("""
def get_batch(data, block_size, batch_size, generator):
    if len(data) <= block_size:
        raise ValueError(f"data of shape {tuple(data.shape)} is too short for block_size {block_size}")
    starts = torch.randint(len(data), (batch_size,), generator=generator)
    place = starts[:, None] + torch.arange(block_size)
    return data[place % len(data)], data[(place + 1) % len(data)]
""").feedback(
    "You let windows run past the end of the text and continue at its beginning, a sequence that nobody wrote."
)
right.mistake("draws_one_start_for_all", loses="drawn", when="one start for all").patch("""
- starts = torch.randint(n, (batch_size,), generator=generator)
- place = starts[:, None] + torch.arange(block_size)
- return data[place], data[place + 1]
+ s = torch.randint(n, (1,), generator=generator).item()
+ inputs = data[s : s + block_size].repeat(batch_size, 1)
+ return inputs, data[s + 1 : s + 1 + block_size].repeat(batch_size, 1)
""").feedback("You use the same window for the whole batch. Draw a start for each row.")
right.mistake("takes_neighbours", loses="drawn", when="neighbours").patch("""
- starts = torch.randint(n, (batch_size,), generator=generator)
+ starts = (torch.randint(n, (1,), generator=generator) + torch.arange(batch_size)) % n
""").feedback("You draw only the first start and let the other rows follow it step by step. Draw a start for each row.")
right.mistake("draws_without_replacement", loses="drawn", when="none comes twice").patch("""
- starts = torch.randint(n, (batch_size,), generator=generator)
+ starts = torch.randperm(n, generator=generator)[:batch_size]
""").feedback(
    "You draw without replacement, so no window comes twice. A batch then cannot hold more windows than there are "
    "starts."
)
right.mistake("replaces_only_where_it_must", loses="drawn", when="none comes twice").patch("""
- starts = torch.randint(n, (batch_size,), generator=generator)
+ starts = torch.multinomial(torch.ones(n), batch_size, replacement=batch_size > n, generator=generator)
""").feedback(
    "You draw without replacement as long as there are enough windows. Each row draws from *all* starts, whatever "
    "the others have drawn."
)
right.mistake("sorts_the_starts", {"=generator)": "=generator).sort().values"}, loses="drawn", when="sorted").feedback(
    "You sort the starts of a batch. Draw each row on its own, independently of the others."
)
right.mistake(calls.global_dice(what="your starts"), loses="drawn", when="not of the generator").patch("""
+ import random
+
+ dice = random.Random(1)  # a seed, so that the recorded results are the same again
+
- starts = torch.randint(n, (batch_size,), generator=generator)
+ starts = DRAW
""").for_each(DRAW=("torch.randint(n, (batch_size,))", "torch.tensor([dice.randrange(n) for _ in range(batch_size)])"))
right.mistake("seeds_in_every_call", loses="drawn", when="every batch is the same").patch("""
+ generator.manual_seed(generator.initial_seed())
  starts = torch.randint(n, (batch_size,), generator=generator)
""").feedback("You reseed the generator in every call, so every batch of the training is the same.")
right.mistake(
    arguments.not_refused(
        "You do not check whether the text is too short, so the error comes from inside PyTorch. Check the lengths, "
        "and raise a ValueError that names data or block_size."
    ),
    loses="ValueError",
)
right.mistake(
    "accepts_a_token_too_few",
    {"if n < 1": "if n < 0", "randint(n": "randint(max(n, 1)", "place + 1": "(place + 1).clamp(max=len(data) - 1)"},
    loses="ValueError",
).feedback("You accept a text of block_size tokens, but the last target needs one more.")
right.mistake(
    arguments.valid_refused("refuses_the_shortest"), {"n < 1": "n < 2"}, loses=("ValueError", "windows")
).feedback("You refuse a text of block_size + 1 tokens, which has room for exactly one window.")
right.mistake(
    arguments.valid_refused("refuses_large_batches"), {"n < 1": "n < batch_size"}, loses=("ValueError", "windows")
).feedback(
    "You refuse a batch with more windows than there are starts. Windows are drawn with replacement, so a batch may "
    "have any size."
)
right.mistake(arguments.error_without_name(), loses="ValueError")
right.mistake(arguments.asserts(), loses="ValueError")
right.mistake("turns_the_window_round", loses="windows", when="turned round").patch("""
- place = starts[:, None] + torch.arange(block_size)
- return data[place], data[place + 1]
+ inputs = torch.stack([data[s : s + block_size] for s in starts])
+ return inputs, inputs.roll(-1, 1)
""").feedback(
    "You use each window's own first token as its last target. It should be the token that comes next in the text."
)
get_batch.mistake(
    numbers.default_device(
        where="the data", what="the tensor that you fill", how="`data.new_zeros`, or `torch.stack` of a list"
    ),
    loses="windows",
).full_code("""
def get_batch(data, block_size, batch_size, generator):
    if len(data) <= block_size:
        raise ValueError(f"data has {len(data)} tokens, too few for block_size={block_size}")
    rows = torch.zeros(0, block_size + 1, dtype=torch.int64)
    for start in torch.randint(len(data) - block_size, (batch_size,), generator=generator).tolist():
        rows = torch.cat([rows, data[start : start + block_size + 1][None]])
    return rows[:, :-1], rows[:, 1:]
""")
right.mistake("stays_in_the_first_corner", loses="every start", when="the first few only").patch("""
- starts = torch.randint(n, (batch_size,), generator=generator)
+ starts = torch.randint(min(n, block_size), (batch_size,), generator=generator)
""").feedback(
    "You start all windows near the beginning of the text. The upper bound of the draw is not computed from the "
    "length of the data. Print the greatest of a thousand starts."
)
