"""Lesson 13: latent keys and values, sinks, pages, int8, and scores kept in bounds."""

EXERCISES = (
    "qk_norm_scores",
    "soft_cap",
    "MultiHeadLatentAttention",
    "absorbed_attention",
    "sink_window_mask",
    "PagedCache",
    "quantize",
)
STEPS = ("latent_cache_bytes", "keep_sinks", "page_and_row", "dequantize", "delta_rule")
