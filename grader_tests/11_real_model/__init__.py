"""Lesson 11: load a GPT-2 checkpoint, read it layer by layer, examine its heads."""

EXERCISES = ("split_qkv", "load_gpt2", "logit_lens", "induction_score", "ablate", "necessary_heads", "qk_circuit")
STEPS = ("previous_token_score", "patch_head", "head_contributions")
