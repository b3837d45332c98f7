"""Lesson 14: byte-pair encoding, which tokens may be drawn, log-probabilities, grammars, speculative decoding."""

EXERCISES = (
    "train_bpe",
    "encode",
    "decode",
    "top_p",
    "min_p",
    "penalize_repeats",
    "continuation_log_probability",
    "allowed_tokens",
    "verify_draft",
    "emitted_distribution",
)
STEPS = ("count_pairs", "join_pair", "bits_per_byte", "top_k_probabilities", "train_bpe_counted")
