"""Lesson 08: batches, the loss, a block, the learning rate, a training step, evaluation, sampling, and the whole loop.

Random results are judged by how often each thing happens. Where a right answer draws n times independently and a thing
happens with probability p, `within_chance` is the judge: its bound holds for every n and p, not only for many.

Mutants of the solutions that survive `grading check` are equivalent, or as right as the original: an ignored target is
replaced by any token; `need_weights` changes no output; annotations are not looked at; `min` takes its arguments in
any order; in (B, N) the last dimension is 1; AdamW's own `lr` is overwritten before the first step; and a warm-up over
an eleventh of 100 steps is one step shorter, which `like_the_schedule` lets pass, as other readings of "a tenth"."""

EXERCISES = (
    "get_batch",
    "language_model_loss",
    "TransformerBlock",
    "learning_rate",
    "train_step",
    "evaluate",
    "generate",
    "train",
)
