"""Lesson 12: attention to another sequence, an encoder with a decoder, what they look at, a search, and pictures."""

EXERCISES = (
    "CrossAttention",
    "teacher_inputs",
    "EncoderDecoder",
    "alignment_error",
    "beam_search",
    "patches",
)
CHALLENGES = ("clipped_precision",)
