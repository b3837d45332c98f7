"""Lesson 12: cross-attention, encoder and decoder, alignment, a search, images."""

EXERCISES = (
    "CrossAttention",
    "teacher_inputs",
    "EncoderDecoder",
    "alignment_error",
    "beam_search",
    "patches",
)
STEPS = ("one_vector", "greedy", "mean_log_probability", "clipped_precision")
