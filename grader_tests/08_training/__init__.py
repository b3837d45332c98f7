"""Lesson 08: the loss, a block, one step of training, sampling.

Random results are judged by how often each thing happens. Where a right answer draws n times independently and a thing
happens with probability p, `within_chance` is the judge: its bound holds for every n and p, not only for many."""

EXERCISES = ("language_model_loss", "TransformerBlock", "train_step", "generate")
STEPS = ("rms_norm", "learning_rate")
