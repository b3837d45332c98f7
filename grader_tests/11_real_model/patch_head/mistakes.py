"""Known mistakes in `patch_head`."""

from .contract import patch_head

right = patch_head.alternative("by_clone")

right.mistake(
    "all_positions", {"[:, head, position] = clean[:, head, position]": "[:, head] = clean[:, head]"}
).feedback("You patch the head at all positions. Replace its vectors at this one position alone.")
right.mistake(
    "all_heads", {"[:, head, position] = clean[:, head, position]": "[:, :, position] = clean[:, :, position]"}
).feedback("You patch all heads at this position. Replace the vectors of this one head alone.")
right.mistake("in_place", {"outputs.clone()": "outputs"}).feedback(
    "You change `outputs` itself, and the run that it belongs to. Work on a copy: `outputs.clone()`."
)
right.mistake(
    "exchanges_head_and_position",
    {
        "[:, head, position] = clean[:, head, position]": "[:, position % out.shape[1], head % out.shape[2]] = "
        "clean[:, position % out.shape[1], head % out.shape[2]]"
    },
).feedback("You exchange head and position. In (B, H, T, K) the heads come first: `[:, head, position]`.")
right.mistake("patches_the_clean_run").patch("""
- out = outputs.clone()
- out[:, head, position] = clean[:, head, position]
+ out = clean.clone()
+ out[:, head, position] = outputs[:, head, position]
""").feedback("You put the corrupted vectors into the clean run. Copy `outputs`, and take one head from `clean`.")
right.mistake(
    "first_text_only",
    {"[:, head, position] = clean[:, head, position]": "[0, head, position] = clean[0, head, position]"},
).feedback("You patch the first text alone. Replace the vectors of all texts in the batch.")
right.mistake("sets_to_zero", {"= clean[:, head, position]": "= 0.0"}).feedback(
    "You set the head to zero, which is ablation. Patching takes its vectors from `clean`."
)
right.mistake("adds_the_clean", {"position] = clean": "position] += clean"}).feedback(
    "You add the clean vectors to the corrupted ones. They replace them."
)
right.mistake("same_vector_for_all_texts", {"= clean[:, head, position]": "= clean[0, head, position]"}).feedback(
    "All texts get the vector of the first one. Each text gets its own: `clean[:, head, position]`."
)
