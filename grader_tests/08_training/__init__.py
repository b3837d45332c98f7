"""Lesson 08: batches, loss, two blocks, learning rate, step, evaluation, sampling, training.

Random results are judged by how often each thing happens. Where a right answer draws n times independently and a thing
happens with probability p, `within_chance` is the judge: its bound holds for every n and p, not only for many."""

EXERCISES = (
    "get_batch",
    "language_model_loss",
    "TransformerBlock",
    "ModernBlock",
    "learning_rate",
    "train_step",
    "evaluate",
    "generate",
    "train",
)
STEPS = ("rms_norm", "swiglu", "rotate", "adamw_step", "top_k")
