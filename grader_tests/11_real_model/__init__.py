"""Lesson 11: a checkpoint of GPT-2's form is taken apart, loaded, read layer by layer, and its heads examined."""

EXERCISES = ("split_qkv", "load_gpt2", "logit_lens", "induction_score", "ablate", "qk_circuit")
CHALLENGES = ("head_contributions",)
